import Inference
import ModelLibrary
import ModelLibraryTesting
import Testing

@Suite("Model library: what runtimes give")
struct LyingRuntimeTests {
    private static let lies: [(said: String, outputs: [String: ModelValue])] = {
        guard let number = try? Tensor([Float(1)], shape: [1]),
            let texts = try? Tensor(strings: ["a", "b"], shape: [1, 2, 1])
        else { return [] }
        return [
            ("nothing", [:]), ("float32[1]", ["file": .tensor(number)]),
            ("string[1, 2, 1]", ["file": .tensor(texts)]),
        ]
    }()

    private func library(
        _ configuration: LibraryConfiguration = LibraryConfiguration(),
        _ answer: @escaping @Sendable () async throws -> [String: ModelValue]
    ) throws -> ModelLibrary {
        let device = FakeDevice()
        try device.activate("a/a", "1.0.0")
        let runtime = FakeRuntime { _, _ in try await answer() }
        return ModelLibrary(device: device, runtimes: [runtime], configuration: configuration)
    }

    private func run(_ library: ModelLibrary) async throws -> [String: ModelValue] {
        try await library.withModel(try ModelRequest("a/a")) { model in
            try await model.run(["x": try Tensor([Float(1)], shape: [1])])
        }
    }

    @Test("an output that is missing or is not what is declared is a typed error and a counted failure")
    func lies() async throws {
        #expect(Self.lies.count == 3)
        for lie in Self.lies {
            let library = try library { lie.outputs }
            let expected = InferenceError.output("file", expected: "string[1]", found: lie.said)
            await #expect(throws: expected) { try await run(library) }
            let metrics = try #require(await library.metrics().first)
            #expect((metrics.inferences, metrics.inferenceFailures) == (0, 1))
        }
        let named = try library {
            let text = ModelValue.tensor(try Tensor(strings: ["a"], shape: [1]))
            return ["file": text, "wrong": text]
        }
        await #expect(throws: InferenceError.unknownOutput("wrong", known: ["file"])) { try await run(named) }
    }

    @Test("an answer beyond the policy is refused, whatever runtime gives it")
    func tooLarge() async throws {
        var configuration = LibraryConfiguration()
        configuration.outputPolicy = OutputPolicy(maximumBytes: 100)
        let library = try library(configuration) {
            ["file": .tensor(try Tensor(strings: [String(repeating: "a", count: 85)], shape: [1]))]
        }
        await #expect(throws: InferenceError.outputsTooLarge("file", bytes: 101, limit: 100)) {
            try await run(library)
        }
    }

    @Test("a call that a runtime ends as cancelled, though nobody cancelled it, is a failure")
    func falseCancellation() async throws {
        let library = try library { throw CancellationError() }
        await #expect(throws: CancellationError.self) { try await run(library) }
        #expect(await library.metrics().first?.inferenceFailures == 1)
    }
}
