import Blocking
public import Inference

/// What a fake runtime fails with.
public struct FakeFailure: RuntimeFailure, Equatable, Sendable {
    /// Why.
    public let text: String

    /// Whether the same files would fail again, so that a library takes the version into the quarantine.
    public let isModelAtFault: Bool

    /// A failure with a reason.
    ///
    /// - Parameters:
    ///   - text: Why.
    ///   - isModelAtFault: Whether the same files would fail again.
    public init(text: String, isModelAtFault: Bool = true) {
        self.text = text
        self.isModelAtFault = isModelAtFault
    }
}

/// A runtime for tests of an app's own lifecycle: it loads nothing, and counts.
///
/// Its models answer with the path that they were loaded from,
/// `/models/vision/detector/1.0.0`, unless the test says something else.
public final class FakeRuntime: ModelRuntime {
    /// What happened so far.
    public struct Counts: Equatable, Sendable {
        /// The path of every load, in order.
        public var loads: [String] = []

        /// The options of every load, in order.
        public var options: [LoadOptions] = []

        /// The most loads at one time.
        public var greatest = 0

        /// The paths of models that are not freed yet.
        public var alive: Set<String> = []

        var current = 0
    }

    private struct State {
        var counts = Counts()
        var nextFailures: [String] = []
        var broken: [String] = []
        var bytes: [String: UInt64] = [:]
        var ports: [String: ModelPorts] = [:]
    }

    /// `fake`.
    public let name = "fake"

    /// `1.0.0`.
    public let version = "1.0.0"

    /// The processors it claims to use.
    public let processors: Set<ComputeUnits>

    /// Every load passes it.
    public let gate: Gate

    private let guarded = Guarded(State())
    private let ports: ModelPorts
    private let format: String
    private let memory: FakeMemory?
    private let answer: @Sendable (String, [String: Tensor]) async throws -> [String: ModelValue]

    /// A runtime that loads nothing.
    ///
    /// - Parameters:
    ///   - gate: Every load passes it; open unless given.
    ///   - ports: What its models show; that of `FakeDevice` unless given.
    ///   - format: What it says that it runs.
    ///   - memory: What its models take memory from.
    ///   - processors: What it claims to use.
    ///   - answer: What a model gives for its path and its inputs.
    public init(
        gate: Gate = Gate(open: true),
        ports: ModelPorts = .fake,
        format: String = "fake",
        memory: FakeMemory? = nil,
        processors: Set<ComputeUnits> = [.cpu],
        answer: @escaping @Sendable (String, [String: Tensor]) async throws -> [String: ModelValue] = {
            path,
            _ in
            ["file": .tensor(try Tensor(strings: [path], shape: [1]))]
        }
    ) {
        self.gate = gate
        self.ports = ports
        self.format = format
        self.memory = memory
        self.processors = processors
        self.answer = answer
    }

    /// What happened so far.
    public var counts: Counts { guarded.withLock { $0.counts } }

    /// The next load fails, and not because of the model: it may be tried again.
    public func failNextLoad(_ text: String) { guarded.withLock { $0.nextFailures.append(text) } }

    /// Every load of a path with this end, `detector/1.1.0`, fails from now on, since the file is broken.
    public func failLoads(ofPathsEndingIn end: String) { guarded.withLock { $0.broken.append(end) } }

    /// How much memory models whose path has this end take.
    public func setBytes(_ bytes: UInt64, ofPathsEndingIn end: String) {
        guarded.withLock { $0.bytes[end] = bytes }
    }

    /// What models whose path has this end show, in place of what every model does.
    public func setPorts(_ ports: ModelPorts, ofPathsEndingIn end: String) {
        guarded.withLock { $0.ports[end] = ports }
    }

    /// Whether `format` is the one it was made for.
    public func runs(format: String) -> Bool { format == self.format }

    /// Counts, passes the gate, fails if told so, and takes memory.
    ///
    /// - Throws: `FakeFailure`.
    public func load(entry: String, options: LoadOptions) async throws -> any LoadedModel {
        guarded.withLock { state in
            state.counts.loads.append(entry)
            state.counts.options.append(options)
            state.counts.current += 1
            state.counts.greatest = max(state.counts.greatest, state.counts.current)
        }
        defer { guarded.withLock { $0.counts.current -= 1 } }
        await gate.pass()
        let (failure, bytes) = guarded.withLock { state -> (FakeFailure?, UInt64) in
            let bytes = state.bytes.first { entry.hasSuffix($0.key) }?.value ?? 0
            if !state.nextFailures.isEmpty {
                return (FakeFailure(text: state.nextFailures.removeFirst(), isModelAtFault: false), bytes)
            }
            let isBroken = state.broken.contains { entry.hasSuffix($0) }
            return (isBroken ? FakeFailure(text: "\(entry) is broken") : nil, bytes)
        }
        if let failure { throw failure }
        memory?.take(bytes)
        let ports = guarded.withLock { state in state.ports.first { entry.hasSuffix($0.key) }?.value }
        guarded.withLock { _ = $0.counts.alive.insert(entry) }
        return FakeModel(entry: entry, ports: ports ?? self.ports, answer: answer) { [guarded, memory] in
            memory?.free(bytes)
            guarded.withLock { _ = $0.counts.alive.remove(entry) }
        }
    }
}

private final class FakeModel: LoadedModel {
    let ports: ModelPorts
    private let entry: String
    private let answer: @Sendable (String, [String: Tensor]) async throws -> [String: ModelValue]
    private let freed: @Sendable () -> Void

    init(
        entry: String,
        ports: ModelPorts,
        answer: @escaping @Sendable (String, [String: Tensor]) async throws -> [String: ModelValue],
        freed: @escaping @Sendable () -> Void
    ) {
        self.entry = entry
        self.ports = ports
        self.answer = answer
        self.freed = freed
    }

    deinit { freed() }

    func run(_ inputs: [String: Tensor]) async throws -> [String: ModelValue] {
        try await answer(entry, inputs)
    }
}

extension ModelPorts {
    /// What models of a `FakeDevice` declare: `x` of any length in, the path of the file out.
    public static let fake = ModelPorts(
        inputs: [Port(name: "x", kind: .tensor(.float32, [.symbol("n")]))],
        outputs: [Port(name: "file", kind: .tensor(.string, [.fixed(1)]))]
    )
}
