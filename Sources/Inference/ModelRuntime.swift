/// An engine that loads model files and runs them, such as ONNX Runtime.
///
/// Safe to use from many tasks at once. Neither call may block a thread of
/// Swift's concurrency pool: an adapter sends blocking work to its own threads.
public protocol ModelRuntime: Sendable {
    /// The engine's name, `onnxruntime`.
    var name: String { get }

    /// The engine's own version.
    var version: String { get }

    /// Whether this engine runs files of `format`, as a manifest names it: `onnx`.
    func runs(format: String) -> Bool

    /// The kinds of processor that this engine can use here.
    var processors: Set<ComputeUnits> { get }

    /// Loads a model, which costs time and memory.
    ///
    /// - Parameters:
    ///   - entry: The absolute path of the main file. Other files that the model
    ///     names are found beside it. All of them are verified already.
    ///   - options: How to run it.
    /// - Returns: The model, ready to run.
    /// - Throws: The adapter's error when the engine refuses the file.
    func load(entry: String, options: LoadOptions) async throws -> any LoadedModel
}

/// What a runtime's error says of the model.
///
/// A version that cannot be loaded is not tried again on the device. An error
/// that does not say so blames the model; one that would not come again with
/// more memory or another runtime says that the model is not at fault.
public protocol RuntimeFailure: Error {
    /// Whether the same files would fail again.
    var isModelAtFault: Bool { get }

    /// Whether memory ran out: in a process that has what the model should need, that is the model's doing.
    var isForWantOfMemory: Bool { get }
}

extension RuntimeFailure {
    /// No, unless a runtime says so.
    public var isForWantOfMemory: Bool { false }
}

extension ModelRuntime {
    /// The main processor alone.
    public var processors: Set<ComputeUnits> { [.cpu] }
}

/// A model in memory, ready to run; it is freed when the last reference goes.
///
/// Safe to run from many tasks at once.
public protocol LoadedModel: AnyObject, Sendable {
    /// Inputs and outputs in the engine's own view, which may know less than the manifest.
    var ports: ModelPorts { get }

    /// Computes every output from `inputs`.
    ///
    /// - Parameter inputs: By the name of the port; checked against the declared
    ///   ports before, so that the engine gets nothing it does not expect.
    /// - Returns: A value for every output, by the name of the port.
    /// - Throws: The adapter's error when the engine fails.
    func run(_ inputs: [String: Tensor]) async throws -> [String: ModelValue]

    /// As `run(_:)`, but copies no more out of the engine than a policy allows.
    ///
    /// An adapter that copies outputs asks the policy before it takes memory for
    /// them; what the engine itself takes while it runs nobody can limit.
    ///
    /// - Parameters:
    ///   - inputs: As above.
    ///   - policy: How much the outputs may be together.
    /// - Returns: As above.
    /// - Throws: `InferenceError.outputsTooLarge`, and as above.
    func run(
        _ inputs: [String: Tensor],
        within policy: OutputPolicy
    ) async throws -> [String: ModelValue]
}

extension LoadedModel {
    /// For adapters that give what the engine gave without a copy: whoever calls checks it afterwards.
    public func run(
        _ inputs: [String: Tensor],
        within _: OutputPolicy
    ) async throws -> [String: ModelValue] {
        try await run(inputs)
    }
}

/// The kinds of processor that a model may run on.
public enum ComputeUnits: String, Hashable, Sendable, CaseIterable {
    /// Whatever the engine finds best.
    case any

    /// The main processor alone.
    case cpu

    /// A graphics processor, and the main one for the rest.
    case gpu

    /// A neural engine, and the main processor for the rest.
    case npu
}

/// How to load a model.
public struct LoadOptions: Hashable, Sendable {
    /// Threads that one call may use; `nil` leaves it to the adapter.
    public var threads: Int?

    /// What counts more.
    public enum Priority: String, Hashable, Sendable {
        /// Weights are rearranged for speed, at the price of memory.
        case speed

        /// Weights stay as they lie in the file, where the engine can map it.
        case memory
    }

    /// Whether speed or memory counts more.
    public var priority: Priority

    /// What the model must run on; an engine that has none of it here refuses.
    public var compute: ComputeUnits

    /// The usual choice: speed, as many threads as the adapter finds right, and any processor.
    public init(threads: Int? = nil, priority: Priority = .speed, compute: ComputeUnits = .any) {
        self.threads = threads
        self.priority = priority
        self.compute = compute
    }
}

extension LoadOptions: CustomStringConvertible {
    /// For records and people: `speed, any, 4 threads`.
    public var description: String {
        "\(priority.rawValue), \(compute.rawValue)" + (threads.map { ", \($0) threads" } ?? "")
    }
}
