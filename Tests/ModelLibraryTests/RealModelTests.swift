import Blocking
import Durable
import Generations
import Glibc
import Inference
import Manifest
import ModelFormats
import ModelLibrary
import ModelRuntimes
import Names
import Support
import Testing

@Suite(
    "Model library on a real device directory and ONNX Runtime",
    .enabled(if: RealDevice.runtimePath != nil, Comment(rawValue: RealDevice.absent))
)
struct RealModelTests {
    private let real: RealDevice
    private let library: ModelLibrary
    private let request: ModelRequest

    init() async throws {
        real = try RealDevice()
        let runtime = try await ONNXRuntime(ONNXRuntimeLocator(path: RealDevice.runtimePath))
        var configuration = LibraryConfiguration()
        configuration.recheck = .zero
        library = ModelLibrary(
            directory: real.device.path,
            runtimes: [runtime],
            configuration: configuration
        )
        request = try ModelRequest("vision/detector")
    }

    private func answer() async throws -> (version: String, label: Int64) {
        try await library.withModel(request) { lease in
            let features = try Tensor([Float(5.1), 3.5, 1.4, 0.2], shape: [1, 4])
            let outputs = try await lease.run(["features": features])
            let label = try outputs["label"]?.tensor?.values(as: Int64.self).first ?? -1
            return (lease.version, label)
        }
    }

    private func refusal() async throws -> String? {
        do {
            _ = try await answer()
            return nil
        } catch ModelLibraryError.refused(_, _, let reason) {
            return reason
        }
    }

    @Test("the active model answers, and after a switch the new one does")
    func swap() async throws {
        try real.activate("1.0.0")
        #expect(try await answer() == ("1.0.0", 2))
        try await library.withModel(request) { old in
            try real.activate("1.1.0")
            #expect(try await answer() == ("1.1.0", 2))
            let residents = library.residents
            #expect(old.version == "1.0.0")
            #expect(residents.map(\.version) == ["1.0.0", "1.1.0"])
            #expect(residents.map(\.isLeaving) == [true, false])
        }
        #expect(library.residents.map(\.version) == ["1.1.0"])
    }

    @Test("a lease knows labels and ports from the signed manifest")
    func manifest() async throws {
        try real.activate("1.0.0")
        try await library.withModel(request) { lease in
            #expect(lease.ports.inputs.map(\.name) == ["features"])
            #expect(Set(lease.ports.outputs.map(\.name)) == ["label", "probabilities"])
            #expect(lease.directory.hasPrefix(real.device.path))
        }
    }

    @Test("a recalled version is refused, in memory or not")
    func recalled() async throws {
        let identity = try real.activate("1.0.0")
        _ = try await answer()
        try real.recall(identity)
        #expect(try await refusal()?.contains("recalled") == true)
        try real.activate("1.0.1")
        #expect(try await answer().version == "1.0.1")
    }

    @Test("a file that was changed on the disk is refused at load")
    func tampered() async throws {
        let identity = try real.activate("1.0.0")
        let file = "\(real.device.path)/\(identity.relativePath)/model.onnx"
        var bytes = try Durable.readFile(file, maximum: .mebibytes(1))
        bytes[bytes.count / 2] ^= 1
        #expect(chmod(file, 0o644) == 0)
        let descriptor = open(file, O_WRONLY)
        #expect(bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) } == bytes.count)
        close(descriptor)
        #expect(try await refusal()?.contains("damaged") == true)
        #expect(library.residents.isEmpty)
    }

    @Test("a manifest that lies about the model is refused at load, and the next version is not")
    func lies() async throws {
        let name = try #require(FeatureName("features"))
        try real.activate("1.0.0") { interface in
            let shape = Shape.dimensions([.fixed(1), .fixed(5)])
            interface.inputs = [
                Feature(name: name, type: .tensor(TensorType(element: .float32, shape: shape)))
            ]
        }
        #expect(try await refusal()?.contains("'features'") == true)
        try real.activate("1.0.1")
        #expect(try await answer().version == "1.0.1")
    }

    @Test("nothing active yet is not available, with what to do")
    func empty() async throws {
        let error = await #expect(throws: ModelLibraryError.self) { try await answer() }
        guard case .notAvailable(_, let reason) = error else {
            Issue.record("another error")
            return
        }
        #expect(reason.contains("sealift sync"))
    }

    @Test("golden vectors are run at load, and a version that does not reproduce one is refused")
    func golden() async throws {
        try real.activate("1.0.0", checks: [try RealDevice.check(label: 2)])
        #expect(try await answer() == ("1.0.0", 2))
        try real.activate("1.1.0", checks: [try RealDevice.check(label: 1)])
        let stream = await library.events()
        #expect(try await answer() == ("1.0.0", 2), "the version before answers")
        let events = await told(stream) { event in
            if case .fellBack = event { true } else { false }
        }
        guard case .fellBack(_, "1.1.0", "1.0.0", let reason) = events.last else {
            Issue.record("nothing was told")
            return
        }
        #expect(reason.contains("golden vector 0 is not reproduced: the output 'label'"))
    }

    @Test("after a restart the generation before answers for a version that is refused")
    func coldFallback() async throws {
        try real.activate("1.0.0")
        try real.activate("1.1.0", checks: [try RealDevice.check(label: 0)])
        #expect(try await answer() == ("1.0.0", 2))
    }

    @Test("calls from many tasks through fifty switches, one of them to a broken version, all get an answer")
    func underLoad() async throws {
        try real.activate("1.0.0")
        let library = library
        let request = request
        let features = try Tensor([Float(5.1), 3.5, 1.4, 0.2], shape: [1, 4])
        let isOver = Guarded(false)
        let answers = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    var answers = 0
                    while !isOver.withLock({ $0 }) {
                        _ = try await library.withModel(request) { try await $0.run(["features": features]) }
                        answers += 1
                    }
                    return answers
                }
            }
            for patch in 1...50 {
                try real.activate("1.0.\(patch)", checks: patch == 25 ? [RealDevice.check(label: 0)] : [])
                _ = try await library.withModel(request) { $0.version }
            }
            isOver.withLock { $0 = true }
            return try await group.reduce(0, +)
        }
        #expect(answers >= 50)
        #expect(try await answer().version == "1.0.50")
        #expect(library.residents.count == 1)
    }

    @Test("a model whose weights lie beside it answers, and its memory is given back when it goes")
    func large() async throws {
        let folder = Scratch()
        let file = try LargeModel.write(in: folder.path, rows: 1_024, columns: 8_192)
        let runtime = try await ONNXRuntime(ONNXRuntimeLocator(path: RealDevice.runtimePath))
        let model = try await runtime.load(entry: file, options: LoadOptions())
        let input = try Tensor([Float](repeating: 1, count: 1_024), shape: [1, 1_024])
        let output = try await model.run(["x": input])["y"]?.tensor
        #expect(output?.shape == [1, 8_192])
        #expect(try output?.values(as: Float.self).prefix(3) == [128, 256, 384])
        #expect(try Durable.readFile(file, maximum: .mebibytes(1)).count < 1_000)
    }

    @Test(
        "what is read out of a file and what the runtime sees agree",
        arguments: [
            "mlp_dynamic_batch", "two_inputs", "external_data", "zipmap_classifier",
            "unknown_rank_and_scalar", "initializer_as_input_ir4",
        ]
    )
    func agreement(fixture: String) async throws {
        let path = RealDevice.testsPath + "/Fixtures/models/onnx/\(fixture).onnx"
        let extracted = try ModelFile.inspect(source: FileSource(path), name: fixture + ".onnx").interface
        let runtime = try await ONNXRuntime(ONNXRuntimeLocator(path: RealDevice.runtimePath))
        let model = try await runtime.load(entry: path, options: LoadOptions())
        #expect(ModelPorts(extracted).disagreements(withRuntime: model.ports) == [])
        #expect(ModelPorts(extracted).inputs.count == model.ports.inputs.count)
    }
}
