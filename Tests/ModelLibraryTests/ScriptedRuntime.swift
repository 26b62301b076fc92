import Inference
import ModelLibrary
import ModelLibraryTesting

/// A runtime whose models have the ports and give the answers that a test says.
final class ScriptedRuntime: ModelRuntime {
    let name = "scripted"
    let version = "1.0.0"

    private let ports: @Sendable (String) -> ModelPorts
    private let answer: @Sendable (String, [String: Tensor]) async throws -> [String: ModelValue]

    init(
        ports: @escaping @Sendable (String) -> ModelPorts = { _ in .fake },
        answer: @escaping @Sendable (String, [String: Tensor]) async throws -> [String: ModelValue]
    ) {
        self.ports = ports
        self.answer = answer
    }

    func runs(format: String) -> Bool { format == "fake" }

    func load(entry: String, options: LoadOptions) async throws -> any LoadedModel {
        ScriptedModel(ports: ports(entry), entry: entry, answer: answer)
    }
}

private final class ScriptedModel: LoadedModel {
    let ports: ModelPorts
    private let entry: String
    private let answer: @Sendable (String, [String: Tensor]) async throws -> [String: ModelValue]

    init(
        ports: ModelPorts,
        entry: String,
        answer: @escaping @Sendable (String, [String: Tensor]) async throws -> [String: ModelValue]
    ) {
        self.ports = ports
        self.entry = entry
        self.answer = answer
    }

    func run(_ inputs: [String: Tensor]) async throws -> [String: ModelValue] {
        try await answer(entry, inputs)
    }
}
