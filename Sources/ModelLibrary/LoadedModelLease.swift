import Blocking
public import Inference
import Names

/// A model for the duration of one `withModel`; it is not freed before that ends.
///
/// Safe to use from many tasks at once, but only until the call returns.
public final class LoadedModelLease: Sendable {
    /// The model, until the lease ends: an engine may take its time to free it, which is not to happen here.
    private let held: Guarded<(any LoadedModel)?>
    private let opened: OpenedModel
    private let library: ModelLibrary
    private let end: LendingTable.End

    /// What its load took.
    public let load: LoadRecord

    init(_ lent: Lent, of library: ModelLibrary) {
        held = Guarded(lent.resident.model)
        opened = lent.resident.opened
        load = lent.resident.record
        end = LendingTable.End(number: lent.resident.number, lease: lent.lease)
        self.library = library
    }

    /// The name, `vision/detector`.
    public var model: String { opened.version.modelText }

    /// The version, `1.4.0`.
    public var version: String { opened.version.versionText }

    /// The variant, `default`.
    public var variant: String { opened.version.variant.description }

    /// Inputs and outputs as the signed manifest declares them.
    public var ports: ModelPorts { opened.ports }

    /// Class labels in the order of their indices; empty when the manifest has none.
    public var labels: [String] { opened.labels }

    /// The folder of the model's files, such as its tokenizer; it stays for the duration of the lease.
    public var directory: String { opened.directory }

    /// Computes every output, after checking every input.
    ///
    /// - Parameter inputs: By the name of the port.
    /// - Returns: A value for every output, by name.
    /// - Throws: `InferenceError` when an input does not fit the declared ports,
    ///   before the model is called, and when what the model gave does not, or
    ///   is more than the policy allows; `ModelLibraryError.leaseEnded`; the
    ///   runtime's own error when the call fails.
    public func run(_ inputs: [String: Tensor]) async throws -> [String: ModelValue] {
        guard let held = held.withLock({ $0 }) else { throw ModelLibraryError.leaseEnded(model: model) }
        try check(inputs)
        do {
            let policy = library.configuration.outputPolicy
            let outputs = try await held.run(inputs, within: policy)
            try ports.check(outputs: outputs, policy: policy)
            library.noteRun(of: opened.version.model)
            return outputs
        } catch {
            // A runtime may end a call as cancelled though nobody cancelled it, which is a failure.
            if !(error is CancellationError && Task.isCancelled) {
                await library.noteFailure(of: opened.version, error)
            }
            throw error
        }
    }

    /// Whether `run` would take these inputs.
    ///
    /// - Throws: `InferenceError` for the first that does not fit the declared ports.
    func check(_ inputs: [String: Tensor]) throws(InferenceError) {
        try ports.check(inputs, policy: library.configuration.inputPolicy)
    }

    /// Lets go of the model.
    ///
    /// - Returns: What is to be given back.
    func ended() -> LendingTable.End {
        held.withLock { $0 = nil }
        library.saveSoon()
        return end
    }
}
