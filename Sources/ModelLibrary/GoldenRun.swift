import Blocking
import CanonicalJSON
import Durable
import Inference
import Names

/// Runs the golden vectors of a version on the model that was loaded from it.
struct GoldenRun: Sendable {
    private let opened: OpenedModel
    private let policy: OutputPolicy

    init(_ opened: OpenedModel, _ policy: OutputPolicy) {
        self.opened = opened
        self.policy = policy
    }

    /// Calls the model with every vector.
    ///
    /// - Throws: `ModelLibraryError.refused` with the first that differs, that
    ///   cannot be read, or on which the runtime fails; `.failed` where that
    ///   is not the model's fault.
    func check(_ model: any LoadedModel) async throws {
        let opened = opened
        // One after the other: a manifest may have many, and each may be files of the greatest length.
        for (index, check) in opened.checks.enumerated() {
            let vector: GoldenVector
            do {
                vector = try await LibraryThreads.files.run { () throws(InferenceError) in
                    try Self.vector(check, of: opened)
                }
            } catch {
                throw opened.version.refused("\(error)")
            }
            let differences: [String]
            do {
                try opened.ports.check(vector.inputs)
                differences = vector.disagreements(with: try await outputs(of: model, vector.inputs))
            } catch is CancellationError {
                // A load belongs to no caller.
                throw cannotRun(index, "the runtime ended the call as cancelled, and nobody cancelled it")
            } catch let error as any RuntimeFailure where !error.isModelAtFault {
                throw cannotRun(index, "\(error)")
            } catch {
                differences = ["the call fails: \(error)"]
            }
            guard differences.isEmpty else {
                let text = differences.joined(separator: "; ")
                throw opened.version.refused("golden vector \(index) is not reproduced: \(text)")
            }
        }
    }

    private func cannotRun(_ index: Int, _ reason: String) -> ModelLibraryError {
        .failed(
            model: opened.version.modelText,
            version: opened.version.versionText,
            reason: "golden vector \(index) cannot be run: \(reason)"
        )
    }

    /// What the model gives, by the rules of every prediction: what those would refuse must not pass here.
    ///
    /// A call that fails is made once more: only what a model does each time is its own fault.
    private func outputs(
        of model: any LoadedModel,
        _ inputs: [String: Tensor]
    ) async throws -> [String: ModelValue] {
        let outputs: [String: ModelValue]
        do { outputs = try await model.run(inputs, within: policy) } catch {
            if (error as? any RuntimeFailure)?.isModelAtFault == false { throw error }
            outputs = try await model.run(inputs, within: policy)
        }
        try opened.ports.check(outputs: outputs, policy: policy)
        return outputs
    }

    private static func vector(
        _ check: JSONValue,
        of opened: OpenedModel
    ) throws(InferenceError) -> GoldenVector {
        try GoldenVector(check, ports: opened.ports) { path in
            // Parsed, so that no name leads out of the version's own folder.
            guard let file = FilePath(path) else { return nil }
            return try? Durable.readFile("\(opened.directory)/\(file)", maximum: GoldenVector.longestFile)
        }
    }
}
