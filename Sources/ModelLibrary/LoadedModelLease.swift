public import Inference
import Names
import Synchronization

/// A model for the duration of one `withModel`; it is not freed before that ends.
///
/// Safe to use from many tasks at once, but only until the call returns.
public final class LoadedModelLease: Sendable {
    /// The name, `vision/detector`.
    public let model: String

    /// The version, `1.4.0`.
    public let version: String

    /// The variant, `default`.
    public let variant: String

    /// Inputs and outputs as the signed manifest declares them.
    public let ports: ModelPorts

    /// Class labels in the order of their indices; empty when the manifest has none.
    public let labels: [String]

    /// The folder of the model's files, such as its tokenizer; it stays for the duration of the lease.
    public let directory: String

    let resident: Resident

    private let policy: InputPolicy
    private let hasEnded = Mutex(false)

    init(_ resident: Resident, policy: InputPolicy) {
        self.resident = resident
        self.policy = policy
        let opened = resident.opened
        model = opened.version.model.description
        version = opened.version.version.description
        variant = opened.version.variant.description
        ports = opened.ports
        labels = opened.labels
        directory = opened.directory
    }

    /// Computes every output, after checking every input.
    ///
    /// - Parameter inputs: By the name of the port.
    /// - Returns: A value for every output, by name.
    /// - Throws: `InferenceError` when an input does not fit the declared ports,
    ///   before the model is called; `ModelLibraryError.leaseEnded`; the
    ///   runtime's own error when the call fails.
    public func run(_ inputs: [String: Tensor]) async throws -> [String: ModelValue] {
        guard !hasEnded.withLock({ $0 }) else { throw ModelLibraryError.leaseEnded(model: model) }
        try ports.check(inputs, policy: policy)
        return try await resident.model.run(inputs)
    }

    func end() { hasEnded.withLock { $0 = true } }
}

/// A model in memory and what it was loaded from.
struct Resident: Sendable {
    let opened: OpenedModel
    let model: any LoadedModel
}
