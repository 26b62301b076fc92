import Blocking
public import Inference
import Names

/// The one owner of loaded models in a process.
///
/// A model is loaded when it is first asked for, once however many callers ask
/// at the same time, and one after another in the whole process; before that a
/// gate decides whether it fits into memory. While lent it is never freed.
/// Each call uses the version that is active on the device: after a sync the
/// new version is loaded beside the old one, later calls get the new one, and
/// the old one goes when its last lease ends. When the new version cannot be
/// used, the one before it goes on answering.
///
/// Every version is checked when it is loaded: its files against the verified
/// manifest, recalls, what the runtime itself sees against the declared inputs
/// and outputs, and the publisher's golden vectors. Nothing blocks a thread of
/// Swift's concurrency pool, and a call on a model in memory waits for nothing
/// as long as the last look at the device holds.
public actor ModelLibrary {
    /// How this library decides.
    public nonisolated let configuration: LibraryConfiguration

    nonisolated let source: any ModelSource
    nonisolated let clock: any LibraryClock
    nonisolated let table = LendingTable()
    let runtimes: [any ModelRuntime]
    let delivery: (@Sendable (String) async throws -> Void)?

    /// What brings models that are not on the device yet; answered when it has, or could not.
    var deliveries: [ModelName: Answer<Void>] = [:]

    /// When each model was brought last, in the order of `nextNumber()`.
    var brought: [ModelName: Int] = [:]
    let probe: any MemoryProbe
    let gate: MemoryGate
    let turn: LoadTurn

    var loads: [LoadKey: LoadInProgress] = [:]
    var rejections: [LoadKey: Rejection] = [:]
    var costs = MemoryCosts()

    /// Under which circumstances versions reproduced their golden vectors.
    var proven = ProvenVersions()
    var counters = LibraryCounters()
    var levels = PressureLevels()
    var pressure: MemoryPressure { levels.worst }
    var roomEvents = 0

    /// For each load that has the turn.
    var watchdogs: [LoadTurn.Ticket: Task<Void, Never>] = [:]

    /// Looks at the device, one at a time for each model and what is known of it; some wait until fewer are under way.
    var looks: [LookKey: LooksInProgress] = [:]
    var looksUnderWay = 0
    var looksToBegin: [WaitingLook] = []

    /// How often models are on their way out at the moment: in no table any more, and still in memory.
    var departures = 0
    var roomWaiters: [Int: CheckedContinuation<Void, Never>] = [:]
    var listeners: [Int: AsyncStream<ModelLibraryEvent>.Continuation] = [:]

    /// Of each model the versions that were refused last, with the reason.
    var refusals: [String: [String: String]] = [:]
    var sweeper: Task<Void, Never>?
    var lastSweep: Duration?
    var keeping = RecordKeeping()
    nonisolated let isSaveDue = Guarded(false)

    /// The tasks that read sources of signals, for as long as this library lives.
    nonisolated let following = Guarded<[Task<Void, Never>]>([])
    nonisolated let signals = Guarded(Signals())
    private var lastNumber = 0

    /// Opens a library over a device directory that `sealift sync` keeps current.
    ///
    /// - Parameters:
    ///   - directory: Path of the device directory; it may still be missing.
    ///   - bundled: Path of a device directory that the app brought with it, which is never written: its versions
    ///     answer as long as the other has nothing of a model.
    ///   - runtimes: Engines in the order of preference.
    ///   - configuration: How it decides.
    ///   - probe: Whom it asks about memory.
    ///   - delivery: Called with the name of a model that is asked for and not there, once however many callers
    ///     wait; it brings the model, as a sync does, and returns.
    public init(
        directory: String,
        bundled: String? = nil,
        runtimes: [any ModelRuntime],
        configuration: LibraryConfiguration = LibraryConfiguration(),
        probe: any MemoryProbe = SystemMemoryProbe(),
        delivery: (@Sendable (String) async throws -> Void)? = nil
    ) {
        let source: any ModelSource =
            if let bundled {
                BundledSource(
                    directory: directory,
                    bundled: bundled,
                    isNoting: configuration.quarantinesFailures
                )
            } else {
                GenerationSource(directory: directory, isNoting: configuration.quarantinesFailures)
            }
        self.init(
            source: source,
            runtimes: runtimes,
            configuration: configuration,
            probe: probe,
            delivery: delivery
        )
    }

    package init(
        source: any ModelSource,
        runtimes: [any ModelRuntime],
        configuration: LibraryConfiguration = LibraryConfiguration(),
        probe: any MemoryProbe = SystemMemoryProbe(),
        clock: any LibraryClock = SystemClock(),
        turn: LoadTurn = .shared,
        delivery: (@Sendable (String) async throws -> Void)? = nil
    ) {
        self.source = source
        self.delivery = delivery
        self.runtimes = runtimes
        self.configuration = configuration.held
        self.probe = probe
        self.clock = clock
        self.turn = turn
        gate = MemoryGate(policy: configuration.memory)
    }

    deinit {
        sweeper?.cancel()
        for task in following.withLock({ $0 }) { task.cancel() }
        for listener in listeners.values { listener.finish() }
        let metrics = counters.all(with: table.change { $0.uses })
        let file = isSaveDue.withLock { $0 } ? configuration.recordFile : nil
        if let save = RecordSave(metrics, since: keeping.saved, keeping.news, to: file) {
            // Not waited for: the one who let the library go is not to wait for a disk.
            Task { _ = await LibraryThreads.files.run { save.write() } }
        }
    }

    /// Lends a model to `body`, loading it first if need be.
    ///
    /// `body` runs where the caller runs. Cancelling the caller ends its wait at
    /// once; a load that others wait for, or may soon, goes on.
    ///
    /// - Parameters:
    ///   - request: Which model, how much it matters and how long to wait for it.
    ///   - body: Uses the lease, which ends when it returns.
    /// - Returns: What `body` returns.
    /// - Throws: `ModelLibraryError`, `CancellationError`, or what `body` throws.
    public nonisolated func withModel<Result>(
        _ request: ModelRequest,
        _ body: (LoadedModelLease) async throws -> Result
    ) async throws -> Result {
        let lease = LoadedModelLease(try await lend(request), of: self)
        do {
            let result = try await body(lease)
            await giveBack(lease)
            return result
        } catch {
            await giveBack(lease)
            throw error
        }
    }

    private nonisolated func giveBack(_ lease: LoadedModelLease) async {
        let count = configuration.residency.count
        if table.giveBack(lease.ended(), at: clock.now, keeping: count) { await tend() }
    }

    func nextNumber() -> Int {
        lastNumber += 1
        return lastNumber
    }
}
