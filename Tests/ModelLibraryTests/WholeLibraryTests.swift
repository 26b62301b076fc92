import DeviceSupport
import Durable
import Generations
import Inference
import ModelLibrary
import ModelRuntimes
import Names
import Support
import Testing

/// Models as people use them, from a device directory through ONNX Runtime and back out of memory.
@Suite("Model library: real models", .serialized, .withRuntime)
struct WholeLibraryTests {
    private let real: ModelDevice
    private let library: ModelLibrary

    init() async throws {
        real = try ModelDevice()
        var configuration = LibraryConfiguration()
        configuration.recheck = .zero
        configuration.residency = .mostRecent(2)
        library = ModelLibrary(
            directory: real.device.path,
            runtimes: [try await ONNXRuntime(ONNXRuntimeLocator(path: RealDevice.runtimePath))],
            configuration: configuration
        )
    }

    /// The file type model that the Python package `magika` brings, beside `onnxruntime`.
    private static let magikaPath: String? = RealDevice.runtimePath.flatMap { runtime in
        let packages = Durable.parent(of: Durable.parent(of: Durable.parent(of: runtime)))
        let path = "\(packages)/magika/models/standard_v3_3/model.onnx"
        return (try? Durable.readFile(path, maximum: .mebibytes(16))) != nil ? path : nil
    }

    @Test(
        "magika is found, loaded, asked and swapped for the same model with other bytes",
        .enabled(if: magikaPath != nil, "the Python package magika is absent")
    )
    func magika() async throws {
        let path = try #require(Self.magikaPath)
        let bytes = try Durable.readFile(path, maximum: .mebibytes(16))
        let request = try ModelRequest("files/magika")
        let input = ["bytes": try Tensor((0..<2_048).map { Int32($0 % 257) }, shape: [1, 2_048])]
        func best() async throws -> (String, Int?) {
            try await library.withModel(request) { model in
                let output = try await model.run(input)["target_label"]?.tensor
                #expect(output?.shape == [1, 214])
                let scores = try #require(try output?.values(as: Float.self))
                return (model.version, scores.firstIndex(of: scores.max() ?? 0))
            }
        }
        try real.activate("files/magika", "3.3.0", [("model.onnx", bytes)])
        #expect(try await best() == ("3.3.0", 142))
        try real.activate("files/magika", "3.3.1", [("model.onnx", ModelDevice.marked(bytes, "2"))])
        #expect(try await best() == ("3.3.1", 142))
        #expect(library.residents.map(\.version) == ["3.3.1"])
        let wrong = ["bytes": try Tensor([Int32](repeating: 0, count: 2_047), shape: [1, 2_047])]
        await #expect(throws: InferenceError.self) {
            try await library.withModel(request) { try await $0.run(wrong) }
        }
        #expect(try await best().1 == 142, "a refused input harms nobody")
    }

    @Test("192 MiB of weights beside a model are found, used, swapped, evicted and loaded again")
    func large() async throws {
        let request = try ModelRequest("bench/large")
        let input = ["x": try Tensor([Float](repeating: 1, count: 6_144), shape: [1, 6_144])]
        func answer() async throws -> (String, [Float]) {
            try await library.withModel(request) { model in
                let numbers = try #require(try await model.run(input)["y"]?.tensor?.values(as: Float.self))
                #expect(numbers.count == 8_192)
                return (model.version, Array(numbers.prefix(3)))
            }
        }
        func activate(_ version: String) throws {
            let files = try ModelDevice.files(rows: 6_144, columns: 8_192, marker: version, in: Scratch())
            try real.activate("bench/large", version, files)
        }
        try activate("1.0.0")
        #expect(try await answer() == ("1.0.0", [768, 1_536, 2_304]))
        try activate("1.1.0")
        #expect(try await answer() == ("1.1.0", [768, 1_536, 2_304]))
        #expect(library.residents.map(\.version) == ["1.1.0"])
        await library.clear()
        #expect(library.residents.isEmpty)
        #expect(try await answer().0 == "1.1.0")
        #expect(await library.metrics().first?.loads == 3)
    }
}

/// Files that are not what they must be, each in its own way; in every case the app goes on with what it had.
@Suite("Model library: bad files", .withRuntime)
struct BadFileTests {
    private let real: ModelDevice
    private let work = Scratch()
    private let library: ModelLibrary
    private let request: ModelRequest
    private let good: ModelDevice.Files

    init() async throws {
        real = try ModelDevice()
        request = try ModelRequest("bench/small")
        var configuration = LibraryConfiguration()
        configuration.recheck = .zero
        library = ModelLibrary(
            directory: real.device.path,
            runtimes: [try await ONNXRuntime(ONNXRuntimeLocator(path: RealDevice.runtimePath))],
            configuration: configuration
        )
        good = try ModelDevice.files(rows: 64, columns: 16, marker: "a", in: work)
        try real.activate("bench/small", "1.0.0", good)
    }

    private func answer() async throws -> (version: String, first: Float?) {
        let input = ["x": try Tensor([Float](repeating: 1, count: 64), shape: [1, 64])]
        return try await library.withModel(request) { model in
            (model.version, try await model.run(input)["y"]?.tensor?.values(as: Float.self).first)
        }
    }

    /// Publishes 1.1.0 as its author made it, with signed digests, and expects that 1.0.0 answers on.
    private func expectRefused(_ files: ModelDevice.Files, _ reason: String) async throws {
        #expect(try await answer() == ("1.0.0", 8))
        let interface = try ModelDevice.interface(of: good[0], in: work)
        let identity = try real.activate("bench/small", "1.1.0", files, interface: interface)
        #expect(try await answer() == ("1.0.0", 8))
        let entry = try real.device.note(Quarantine.self)[identity.manifest]
        #expect(entry?.reason.contains(reason) == true, "\(entry?.reason ?? "not in the quarantine")")
        await library.clear()
        #expect(try await answer() == ("1.0.0", 8))
    }

    @Test("a truncated model")
    func truncated() async throws {
        let half = Array(good[0].bytes.prefix(good[0].bytes.count / 2))
        try await expectRefused([(good[0].name, half), good[1]], "cannot load it")
    }

    @Test("weights that are too short")
    func shortWeights() async throws {
        let half = Array(good[1].bytes.prefix(good[1].bytes.count / 2))
        try await expectRefused([good[0], (good[1].name, half)], "cannot load it")
    }

    @Test("weights that are not there")
    func missingWeights() async throws {
        try await expectRefused([good[0]], "cannot load it")
    }

    @Test("another format under the name of this one")
    func wrongFormat() async throws {
        let safetensors = [8, 0, 0, 0, 0, 0, 0, 0] + Array("{}      ".utf8)
        try await expectRefused([(good[0].name, safetensors), good[1]], "cannot load it")
    }

    @Test("another model in the place of this one: it lies about its interface")
    func swapped() async throws {
        let other = try ModelDevice.files(rows: 32, columns: 16, marker: "b", in: work)
        try await expectRefused(other, "'x'")
    }

    @Test("a file that is gone from the disk, or swapped for another on it, is damage and names the file")
    func onTheDisk() async throws {
        #expect(try await answer() == ("1.0.0", 8))
        for change in ["missing", "swapped"] {
            let files = try ModelDevice.files(rows: 64, columns: 16, marker: change, in: work)
            let identity = try real.activate("bench/small", "1.1.0-\(change)", files)
            let file = "\(real.device.path)/\(identity.relativePath)/model.onnx"
            try Durable.removeFile(file)
            if change == "swapped" { try Durable.writeAtomically(file, good[0].bytes) }
            let stream = await library.events()
            #expect(try await answer().first == 8)
            let events = await told(stream) { event in
                if case .refused = event { true } else { false }
            }
            guard case .refused(_, _, let reason) = events.last else {
                Issue.record("nothing was told")
                return
            }
            #expect(reason.contains("model.onnx is damaged"), "\(reason)")
            #expect(try real.device.note(Quarantine.self).entries.isEmpty)
        }
    }

    @Test(
        "numbers that are none go through the model and come out as such, and a tensor of any other size does not"
    )
    func numbers() async throws {
        let none = ["x": try Tensor([Float](repeating: .nan, count: 64), shape: [1, 64])]
        let first = try await library.withModel(request) { model in
            try await model.run(none)["y"]?.tensor?.values(as: Float.self).first
        }
        #expect(first?.isNaN == true)
        for (count, shape) in [(65, [1, 65]), (64, [64, 1]), (64, [64])] {
            let wrong = ["x": try Tensor([Float](repeating: 1, count: count), shape: shape)]
            await #expect(throws: InferenceError.self) {
                try await library.withModel(request) { try await $0.run(wrong) }
            }
        }
        #expect(try await answer() == ("1.0.0", 8))
    }
}
