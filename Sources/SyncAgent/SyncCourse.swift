import Blocking
import Generations
import Names
import Transfer

/// What outlasts a round of one sync, where news in the middle of a download makes it begin again.
struct SyncCourse: Sendable {
    /// What a registry told while files were received.
    struct News: Sendable {
        let sources: SyncRun.Sources

        /// What is trusted now; `nil` when the chain was refused, which the next round finds out and tells.
        let updater: MetadataUpdater?
        let time: UnixTime
    }

    let progress: SyncProgress
    private let bytes = Guarded<UInt64>(0)
    private let told = Guarded<Set<SyncPhase>>([])
    private let events: @Sendable (SyncEvent) -> Void

    private(set) var warnings: [String] = []
    private(set) var patience = NewsPatience()

    /// Why the round that runs had to begin; `nil` in the first.
    var news: News? {
        didSet { if news != nil { patience.stopped(progress.standing) } }
    }

    /// What was active when the sync began, and what its own leaving made of that.
    private var began: (record: GenerationRecord?, place: GenerationPlace?)?

    init(_ events: @escaping @Sendable (SyncEvent) -> Void) {
        self.events = events
        progress = SyncProgress(events)
    }

    /// Bytes that came over the network.
    var received: UInt64 { bytes.withLock { $0 } }

    func count(_ received: UInt64) { bytes.withLock { $0 += received } }

    /// What was said once is not said again.
    mutating func warn(_ news: [String]) { warnings += news.filter { !warnings.contains($0) } }

    /// Tells what happens; a round that begins again takes no phase back.
    func tell(_ event: SyncEvent) {
        if case .phase(let phase) = event, [.refreshing, .choosing, .downloading].contains(phase) {
            guard told.withLock({ $0.insert(phase).inserted }) else { return }
        }
        events(event)
    }

    /// What the sync began with, as long as nobody else activated anything meanwhile.
    mutating func record(before active: ActiveGeneration?) -> GenerationRecord? {
        if let began, began.place == active?.place { return began.record }
        began = (active?.record, active?.place)
        return active?.record
    }

    /// Notes what is active after this sync has left what it had to.
    mutating func note(_ active: ActiveGeneration?) { began?.place = active?.place }
}

/// How much longer a download is left alone after each round that brought nothing of use.
///
/// Every round has verified more of what is still wanted, which happens only so
/// often since that is kept, or the next one lasts twice as long. So a download
/// ends whatever the registry says how often: a chosen version comes whole at
/// the latest in a round that is as long as all of it takes.
struct NewsPatience: Sendable {
    /// By how much the time between two looks is multiplied.
    private(set) var factor = 1.0
    private var last: (wanted: Set<Digest>, verified: UInt64)?

    /// A round was stopped by news.
    ///
    /// - Parameter standing: The manifests it wanted, and the bytes verified in the whole sync.
    mutating func stopped(_ standing: (wanted: Set<Digest>, verified: UInt64)) {
        let isSame = last.map { standing.wanted.isSubset(of: $0.wanted) } ?? true
        if !isSame || standing.verified <= last?.verified ?? 0 { factor *= 2 }
        last = standing
    }
}

extension SyncRun {
    /// Seconds between two looks of a one-shot sync, at most.
    private static let longestWait: Int64 = 300

    /// Seconds between two looks, whatever somebody set; longer than any download.
    private static let longestInterval = 30.0 * 86_400

    /// Receives what the plans need, and asks for news meanwhile, as often as was signed or configured.
    ///
    /// - Returns: News, with which the plans are worth nothing any more; `nil` when all was received, or could not be.
    func receiveWatching(
        _ plans: inout [ModelPlan],
        _ chain: RegistryChain,
        _ sources: Sources,
        _ pollSeconds: Int64,
        _ device: DeviceDirectory,
        _ course: SyncCourse
    ) async -> SyncCourse.News? {
        let wanted = plans
        let signed = configuration.isWatching ? pollSeconds : min(pollSeconds, Self.longestWait)
        let interval = Double(configuration.pollSeconds ?? signed) * course.patience.factor
        let wait = min(interval, Self.longestInterval)
        let (outcome, found) = await withTaskGroup(
            of: Arrival.self,
            returning: ([ModelPlan], SyncCourse.News?).self
        ) { group in
            group.addTask {
                var plans = wanted
                await self.receive(&plans, chain, device, course)
                return .received(plans)
            }
            group.addTask { .news(await self.news(since: chain, sources, every: wait)) }
            var outcome = wanted
            var found: SyncCourse.News?
            while let arrival = await group.next() {
                switch arrival {
                case .received(let plans): outcome = plans
                case .news(let news): found = news
                }
                group.cancelAll()
            }
            return (outcome, found)
        }
        plans = outcome
        return found
    }

    private enum Arrival: Sendable {
        case received([ModelPlan])
        case news(SyncCourse.News?)
    }

    /// Asks now and then until there is news; a registry that cannot be asked is asked again.
    private func news(
        since chain: RegistryChain,
        _ sources: Sources,
        every seconds: Double
    ) async -> SyncCourse.News? {
        var schedule = PollSchedule(every: seconds)
        var failure: SyncError?
        while true {
            let wait = schedule.wait(after: nil, failure, chance: .random(in: 0..<1))
            guard (try? await Blocking.sleep(seconds: wait)) != nil else { return nil }
            let time = self.time()
            var updater = self.updater(sources, at: time, floor: chain.clockFloor)
            failure = nil
            do throws(UpdateError) {
                guard try await updater.poll(), chain.isBehind(updater) else { continue }
                return SyncCourse.News(sources: sources, updater: updater, time: time)
            } catch {
                guard !Task.isCancelled else { return nil }
                // Nothing is newly accepted from such a chain, and what it denies is looked for.
                if case .refused = error {
                    return SyncCourse.News(sources: sources, updater: nil, time: time)
                }
                failure = SyncError(error, updater.culprit.map { "\($0)" } ?? "")
            }
        }
    }
}
