import Blocking
import DeviceSupport
import Generations
import Inference
import ModelLibrary
import ModelRuntimes
import Names
import Support

/// A hundred requests a second, while a device directory is switched again and again, once to a broken version.
struct Swaps {
    let runtime: ONNXRuntime

    /// How often the device is switched, every fifth of a second.
    let switches: Int

    private static let model = "bench/small"
    private static let width = 64

    func run() async throws {
        let device = try ModelDevice()
        let work = Scratch()
        let good = try ModelDevice.files(rows: Self.width, columns: 16, marker: "0", in: work)
        let interface = try ModelDevice.interface(of: good[0], in: work)
        try device.activate(Self.model, "1.0.0", good)
        let library = ModelLibrary(directory: device.device.path, runtimes: [runtime])
        let request = try ModelRequest(Self.model)
        try await library.withModel(request) { _ in }
        let isOver = Guarded(false)
        let load = Task { try await Self.load(library, request, until: isOver) }
        for number in 1...switches {
            var files = try ModelDevice.files(
                rows: Self.width,
                columns: 16,
                marker: "\(number)",
                in: work
            )
            // What comes through every check but that of the runtime: the manifest's digests are those of this file.
            if number == switches / 2 { files[0].bytes.removeLast(files[0].bytes.count / 2) }
            try device.activate(Self.model, "1.0.\(number)", files, interface: interface)
            try await Blocking.sleep(seconds: 0.2)
        }
        try await Blocking.sleep(seconds: 0.5)
        isOver.withLock { $0 = true }
        let outcome = try await load.value
        let last = try await library.withModel(request) { $0.version }
        let quarantined = try device.device.note(Quarantine.self).entries.map { "\($0.version)" }
        LibraryTime.print([
            "name": "swaps", "switches": switches, "requests": outcome.waits.count, "failed": outcome.failed,
            "versions": outcome.versions.count, "per_second": Double(outcome.waits.count) / outcome.seconds,
            "median_ms": outcome.waits[outcome.waits.count / 2] * 1_000,
            "worst_ms": (outcome.waits.last ?? 0) * 1_000, "last": last,
            "quarantined": quarantined.joined(separator: " "), "residents": library.residents.count,
        ])
    }

    private struct Outcome: Sendable {
        var waits: [Double] = []
        var failed = 0
        var versions: Set<String> = []
        var seconds = 0.0
    }

    /// Asks every hundredth of a second, whether or not earlier requests are answered.
    private static func load(
        _ library: ModelLibrary,
        _ request: ModelRequest,
        until isOver: Guarded<Bool>
    ) async throws -> Outcome {
        let input = ["x": try Tensor([Float](repeating: 1, count: width), shape: [1, width])]
        let clock = ContinuousClock()
        let outcome = Guarded(Outcome())
        let began = clock.now
        try await withThrowingTaskGroup(of: Void.self) { group in
            var due = MonotonicTime.now
            while !isOver.withLock({ $0 }) {
                due = due.adding(seconds: 0.01)
                try await Blocking.sleep(until: due)
                group.addTask {
                    let asked = clock.now
                    let version: String?
                    do {
                        version = try await library.withModel(request) { model in
                            let answer = try await model.run(input)["y"]?.tensor?.values(as: Float.self)
                            // Each weight of the first column is an eighth.
                            guard answer?.first == Float(width) / 8 else {
                                throw Trouble(text: "another answer")
                            }
                            return model.version
                        }
                    } catch {
                        version = nil
                    }
                    let took = LibraryTime.seconds(clock.now - asked)
                    outcome.withLock { outcome in
                        outcome.waits.append(took)
                        if let version { outcome.versions.insert(version) } else { outcome.failed += 1 }
                    }
                }
            }
            try await group.waitForAll()
        }
        let seconds = LibraryTime.seconds(clock.now - began)
        return outcome.withLock { outcome in
            outcome.waits.sort()
            outcome.seconds = seconds
            return outcome
        }
    }
}
