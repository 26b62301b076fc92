import CanonicalJSON
import Glibc
import Inference
import ModelLibrary
import ModelRuntimes
import Names
import Support

/// Measures the library on a model of 192 MiB with external weights, in this process.
///
///     library-time RUNTIME FOLDER hit|load|callers|memory|swaps|limit [ROUNDS]
///     library-time RUNTIME DEVICE crash
///
/// Prints one JSON object a line; `library.py` reads them, and the tests of the
/// library run those that are not about time, with fewer rounds.
@main
enum LibraryTime {
    static func main() async throws {
        let words = CommandLine.arguments
        guard words.count == 4 || words.count == 5, let rounds = Int(words.count == 5 ? words[4] : "50"),
            rounds > 0
        else {
            throw Trouble(text: "library-time RUNTIME FOLDER hit|load|callers|memory|swaps|limit [ROUNDS]")
        }
        let runtime = try await ONNXRuntime(ONNXRuntimeLocator(path: words[1]))
        if words[3] == "crash" { return try await CrashingRuntime.use(runtime, device: words[2]) }
        let file = "\(words[2])/model.onnx"
        if access(file, R_OK) != 0 { _ = try LargeModel.write(in: words[2], rows: 6_144, columns: 8_192) }
        switch words[3] {
        case "hit": try await hit(runtime, file)
        case "load": try await load(runtime, file)
        case "callers": try await callers(runtime, file)
        case "memory": try await memory(runtime, file, rounds)
        case "swaps": try await Swaps(runtime: runtime, switches: rounds).run()
        case "limit": try await limit(runtime, file)
        default: throw Trouble(text: "unknown measurement \(words[3])")
        }
    }

    /// One use of a model in memory, lease and all, without the call itself.
    private static func hit(_ runtime: ONNXRuntime, _ file: String) async throws {
        let (library, request) = try FixedSource.library(runtime, file)
        try await library.withModel(request) { _ in }
        let clock = ContinuousClock()
        let rounds = try await Task.detached {
            var rounds: [Double] = []
            for _ in 0..<50 {
                let began = clock.now
                for _ in 0..<10_000 { try await library.withModel(request) { _ in } }
                rounds.append(seconds(clock.now - began) / 10_000)
            }
            return rounds.sorted()
        }.value
        print(["name": "hit", "median_ns": rounds[25] * 1e9, "worst_ns": rounds[49] * 1e9])
    }

    /// The library's load and the runtime's own, in turn, each from a warm page cache.
    private static func load(_ runtime: ONNXRuntime, _ file: String) async throws {
        let clock = ContinuousClock()
        let (library, request) = try FixedSource.library(runtime, file)
        var ours: [Double] = []
        var own: [Double] = []
        for _ in 0..<11 {
            var began = clock.now
            try await library.withModel(request) { _ in }
            ours.append(seconds(clock.now - began))
            await library.clear()
            began = clock.now
            let model = try await runtime.load(entry: file, options: LoadOptions())
            own.append(seconds(clock.now - began))
            withExtendedLifetime(model) {}
        }
        let (mine, peer) = (ours.sorted()[5], own.sorted()[5])
        print(["name": "load", "median_ms": mine * 1_000, "runtime_ms": peer * 1_000, "ratio": mine / peer])
    }

    /// A hundred callers of a model that is not in memory.
    private static func callers(_ runtime: ONNXRuntime, _ file: String) async throws {
        let counted = CountedRuntime(runtime)
        let (library, request) = try FixedSource.library(counted, file)
        let input = ["x": try Tensor([Float](repeating: 1, count: 6_144), shape: [1, 6_144])]
        let answers = try await withThrowingTaskGroup(of: Float?.self) { group in
            for _ in 0..<100 {
                group.addTask {
                    try await library.withModel(request) { model in
                        try await model.run(input)["y"]?.tensor?.values(as: Float.self).first
                    }
                }
            }
            return try await group.reduce(into: 0) { count, answer in count += answer == 768 ? 1 : 0 }
        }
        print(["name": "callers", "callers": 100, "answers": answers, "loads": counted.loads])
    }

    /// Two models in turn with room for one, fifty times, and what stays when both are gone.
    private static func memory(_ runtime: ONNXRuntime, _ file: String, _ rounds: Int) async throws {
        let probe = LinuxMemoryProbe()
        let (library, first) = try FixedSource.library(runtime, file, keeping: .onlyActive)
        let second = try ModelRequest("bench/second")
        let input = ["x": try Tensor([Float](repeating: 1, count: 6_144), shape: [1, 6_144])]
        func use(_ request: ModelRequest) async throws {
            _ = try await library.withModel(request) { try await $0.run(input) }
        }
        // The runtime's own threads and tables come with the first model and stay.
        try await use(first)
        await library.clear()
        let before = anonymous(probe)
        var afterFirst = 0.0
        for round in 0..<rounds {
            try await use(first)
            try await use(second)
            if round == 0 { afterFirst = anonymous(probe) }
        }
        let afterLast = anonymous(probe)
        await library.clear()
        let left = anonymous(probe) - before
        print([
            "name": "memory", "before_mb": before, "first_round_mb": afterFirst, "last_round_mb": afterLast,
            "drift": (afterLast - afterFirst) / afterFirst, "left_mb": left,
        ])
    }

    /// A model that is larger than this process may be: a typed error, and the process lives.
    private static func limit(_ runtime: ONNXRuntime, _ file: String) async throws {
        let (library, request) = try FixedSource.library(runtime, file)
        let state = LinuxMemoryProbe().state()
        do {
            try await library.withModel(request) { _ in }
            throw Trouble(text: "it was loaded, with \(state) beforehand")
        } catch let error as ModelLibraryError {
            Swift.print(JSONValue.members(["name": .text("limit"), "error": .text("\(error)")]).text)
        }
    }

    private static func anonymous(_ probe: LinuxMemoryProbe) -> Double {
        Double(probe.footprint()?.anonymous ?? 0) / 1e6
    }

    static func seconds(_ duration: Duration) -> Double {
        let (seconds, attoseconds) = duration.components
        return Double(seconds) + Double(attoseconds) / 1e18
    }

    static func print(_ row: KeyValuePairs<String, Any>) {
        let members = row.map { key, value in
            "\"\(key)\": " + (value is String ? "\"\(value)\"" : "\(value)")
        }
        Swift.print("{\(members.joined(separator: ", "))}")
    }
}

struct Trouble: Error { let text: String }

extension JSONValue {
    fileprivate var text: String { String(decoding: compactJSON, as: UTF8.self) }
}
