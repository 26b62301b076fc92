import Foundation
import Inference
import ModelRuntimes
import Testing

@Suite("ONNX Runtime", .enabled(if: Installed.hasRuntime, Comment(rawValue: Installed.absent)))
struct ONNXRuntimeTests {
    @Test(
        "every fixture computes what the official runtime computed",
        arguments: [
            "mlp_dynamic_batch", "two_inputs", "external_data", "zipmap_classifier",
            "unknown_rank_and_scalar", "initializer_as_input_ir4",
        ]
    )
    func vectors(name: String) async throws {
        let path = Installed.fixture("onnx/\(name).onnx")
        let model = try await Installed.runtime().load(entry: path, options: LoadOptions())
        let vectors = try Vector.all(of: path)
        #expect(!vectors.isEmpty)
        for vector in vectors {
            let outputs = try await model.run(vector.inputs)
            #expect(Set(outputs.keys) == Set(vector.outputs.keys))
            for (port, expected) in vector.outputs {
                try Vector.expect(outputs[port], matches: expected, at: "\(name).\(port)")
            }
        }
    }

    @Test("the runtime's view names inputs and outputs with types, symbols and fixed lengths")
    func view() async throws {
        let model = try await Installed.runtime()
            .load(entry: Installed.fixture("onnx/two_inputs.onnx"), options: LoadOptions())
        #expect(
            model.ports.inputs == [
                Port(name: "image", kind: .tensor(.uint8, [.symbol("N"), .fixed(3), .any, .any])),
                Port(name: "scale", kind: .tensor(.float32, [.fixed(1)])),
            ]
        )
        #expect(
            model.ports.outputs == [
                Port(name: "embedding", kind: .tensor(.float32, [.symbol("N"), .fixed(3)]))
            ]
        )
    }

    @Test("an initializer that may be overridden is an optional input")
    func optionalInput() async throws {
        let model = try await Installed.runtime()
            .load(entry: Installed.fixture("onnx/initializer_as_input_ir4.onnx"), options: LoadOptions())
        #expect(model.ports.inputs.contains { $0.isOptional })
        #expect(model.ports.inputs.contains { !$0.isOptional })
    }

    @Test("weights that stay in the file give the same answer")
    func memoryPriority() async throws {
        let path = Installed.fixture("onnx/external_data.onnx")
        let runtime = try await Installed.runtime()
        let fast = try await runtime.load(entry: path, options: LoadOptions())
        let small = try await runtime.load(entry: path, options: LoadOptions(threads: 1, priority: .memory))
        let vector = try #require(try Vector.all(of: path).first)
        let (one, other) = (try await fast.run(vector.inputs), try await small.run(vector.inputs))
        let (ones, others) = (one["y"]?.tensor?.widened ?? [], other["y"]?.tensor?.widened ?? [])
        #expect(!ones.isEmpty && ones.count == others.count)
        #expect(zip(ones, others).allSatisfy { abs($0 - $1) <= 1e-5 })
    }

    @Test(
        "a hostile file is an error with a code, not a crash",
        arguments: [
            "onnx_deep_types", "onnx_ext_negative", "onnx_ext_traversal", "onnx_group", "onnx_len_overflow",
            "onnx_truncated",
        ]
    )
    func hostile(name: String) async throws {
        let path = Installed.fixture("hostile/\(name).onnx")
        let runtime = try await Installed.runtime()
        let error = await #expect(throws: ONNXRuntimeError.self) {
            try await runtime.load(entry: path, options: LoadOptions())
        }
        guard case .failed(let operation, let code, let message) = error else {
            Issue.record("another error: \(String(describing: error))")
            return
        }
        #expect(operation == "load \(path)")
        #expect(code > 0)
        #expect(!message.isEmpty)
    }

    @Test("an empty file, random bytes and a missing file are errors")
    func notModels() async throws {
        let scratch = FileManager.default.temporaryDirectory.appending(path: "sealift-ort-\(UUID())")
        try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: scratch) }
        let runtime = try await Installed.runtime()
        let noise = Data((0..<4_096).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 7) })
        for (name, content) in [("empty.onnx", Data()), ("noise.onnx", noise)] {
            let file = scratch.appending(path: name)
            try content.write(to: file)
            await #expect(throws: ONNXRuntimeError.self) {
                _ = try await runtime.load(entry: file.path, options: LoadOptions())
                    .run([:])
            }
        }
        await #expect(throws: ONNXRuntimeError.self) {
            try await runtime.load(entry: scratch.path + "/missing.onnx", options: LoadOptions())
        }
    }

    @Test(
        "outputs beyond the policy are an error before they are copied, and the model still works",
        arguments: ["mlp_dynamic_batch", "zipmap_classifier"]
    )
    func outputLimit(name: String) async throws {
        let path = Installed.fixture("onnx/\(name).onnx")
        let model = try await Installed.runtime().load(entry: path, options: LoadOptions())
        let vector = try #require(try Vector.all(of: path).first)
        let error = await #expect(throws: InferenceError.self) {
            try await model.run(vector.inputs, within: OutputPolicy(maximumBytes: 9))
        }
        guard case .outputsTooLarge(_, let bytes, 9) = error else {
            Issue.record("another error: \(String(describing: error))")
            return
        }
        #expect(bytes > 9)
        let outputs = try await model.run(vector.inputs, within: OutputPolicy(maximumBytes: 1 << 20))
        #expect(Set(outputs.keys) == Set(vector.outputs.keys))
    }

    @Test("text with a NUL is refused by the name of its input")
    func nul() async throws {
        let path = Installed.fixture("onnx/mlp_dynamic_batch.onnx")
        let model = try await Installed.runtime().load(entry: path, options: LoadOptions())
        let text = try Tensor(strings: ["fine", "a\0b"], shape: [2])
        let reason = "has a NUL, which ONNX Runtime would cut off"
        await #expect(throws: InferenceError.inputText("features", at: 1, reason: reason)) {
            try await model.run(["features": text])
        }
    }

    @Test("a call with an input of the wrong shape is an error, and the model still works")
    func wrongShape() async throws {
        let path = Installed.fixture("onnx/mlp_dynamic_batch.onnx")
        let model = try await Installed.runtime().load(entry: path, options: LoadOptions())
        let vector = try #require(try Vector.all(of: path).first)
        let name = try #require(vector.inputs.keys.first)
        await #expect(throws: ONNXRuntimeError.self) {
            try await model.run([name: try Tensor([Float](repeating: 0, count: 3), shape: [1, 3])])
        }
        await #expect(throws: ONNXRuntimeError.self) { try await model.run([:]) }
        var more = vector.inputs
        more["more"] = try Tensor([Float(0)], shape: [])
        let extra = more
        await #expect(throws: ONNXRuntimeError.self) { try await model.run(extra) }
        #expect(try await model.run(vector.inputs).count == vector.outputs.count)
    }

    @Test("many tasks run one model at the same time and all get the same answer")
    func concurrentRuns() async throws {
        let path = Installed.fixture("onnx/mlp_dynamic_batch.onnx")
        let model = try await Installed.runtime().load(entry: path, options: LoadOptions())
        let inputs = try #require(try Vector.all(of: path).first).inputs
        let expected = try await model.run(inputs)
        try await withThrowingTaskGroup(of: [String: ModelValue].self) { group in
            for _ in 0..<64 { group.addTask { try await model.run(inputs) } }
            for try await outputs in group { #expect(outputs == expected) }
        }
    }

    @Test("a call in a cancelled task ends with a cancellation")
    func cancelled() async throws {
        let path = Installed.fixture("onnx/mlp_dynamic_batch.onnx")
        let model = try await Installed.runtime().load(entry: path, options: LoadOptions())
        let inputs = try #require(try Vector.all(of: path).first).inputs
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await model.run(inputs)
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try await !model.run(inputs).isEmpty)
    }

    @Test("telemetry is off before the library is opened, and no telemetry file appears")
    func telemetry() async throws {
        let runtime = try await Installed.runtime()
        let path = Installed.fixture("onnx/mlp_dynamic_batch.onnx")
        _ = try await runtime.load(entry: path, options: LoadOptions())
        #expect(getenv("ORT_DISABLE_TELEMETRY").map { String(cString: $0) } == "1")
        let caches = [
            getenv("XDG_CACHE_HOME").map { String(cString: $0) }, NSHomeDirectory() + "/.cache",
        ]
        for cache in caches.compactMap({ $0 }) {
            let folder = "\(cache)/Microsoft/DeveloperTools/.onnxruntime"
            #expect(!FileManager.default.fileExists(atPath: folder))
        }
    }

    @Test("a process has one copy: the same again is the same, another is refused")
    func oneCopy() async throws {
        let first = try await Installed.runtime()
        #expect(try await Installed.runtime().libraryPath == first.libraryPath)
        #expect(first.version.split(separator: ".").count == 3)
        let copy = FileManager.default.temporaryDirectory.appending(path: "sealift-ort-\(UUID())")
        try FileManager.default.createDirectory(at: copy, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: copy) }
        let file = copy.appending(path: "libonnxruntime.so").path
        try FileManager.default.copyItem(atPath: first.libraryPath, toPath: file)
        await #expect(throws: ONNXRuntimeError.anotherIsOpen(open: first.libraryPath, asked: file)) {
            try await ONNXRuntime(ONNXRuntimeLocator(path: file))
        }
    }

    @Test(
        "magika's model computes",
        .enabled(if: Installed.magikaModel != nil, "the Python package magika is absent")
    )
    func magika() async throws {
        let path = try #require(Installed.magikaModel)
        let model = try await Installed.runtime().load(entry: path, options: LoadOptions())
        let port = try #require(model.ports.inputs.first)
        #expect(model.ports.inputs.count == 1 && port.name == "bytes")
        guard case .tensor(.int32, .dimensions(let dimensions)) = port.kind else {
            Issue.record("another kind: \(port.kind)")
            return
        }
        #expect(dimensions.last == .fixed(2_048) && dimensions.count == 2)
        let bytes = try Tensor((0..<2_048).map { Int32($0 % 257) }, shape: [1, 2_048])
        let output = try #require(try await model.run(["bytes": bytes])["target_label"]?.tensor)
        #expect(output.shape == [1, 214])
        // As the official runtime, 1.28.0, computes it.
        let scores = try output.values(as: Float.self)
        #expect(scores.firstIndex(of: scores.max() ?? 0) == 142)
        for (index, score) in [(0, 0.004_544_717), (100, 0.000_665_869), (142, 0.487_239_36)]
            as [(Int, Float)]
        {
            #expect(abs(scores[index] - score) < 1e-5)
        }
    }
}
