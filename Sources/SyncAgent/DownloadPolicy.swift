import Blocking
import Glibc
package import Names
package import Transfer

/// The operator's limits on fetching model files: a byte budget, windows of time, and metered links.
///
/// They hold up files only: trust is refreshed and recalls are obeyed whatever
/// the limits say. What is met in the middle of a file stops it there, with
/// what was proved kept. What comes is counted also where there is no limit,
/// for whoever sets one later.
package final class DownloadPolicy: TransferPermission {
    private struct State {
        /// `nil` while the ledger is to be read first.
        var traffic: Traffic?

        /// By how much the ledger says more, so that a crash forgets nothing.
        var ahead: UInt64 = 0

        /// Whether it says less.
        var isBehind = false
        var looked: MonotonicTime?

        /// Why the ledger says nothing, until it is made anew.
        var damage: String?
    }

    private let budget: ByteBudget?
    private let windows: [TransferWindow]
    private let meteredFile: String?
    private let ledger: TrafficLedger
    private let clock: @Sendable () -> UnixTime
    private let localMinute: @Sendable (UnixTime) -> Int
    private let state = Guarded(State())

    package init(
        _ configuration: SyncConfiguration,
        clock: @escaping @Sendable () -> UnixTime,
        localMinute: @escaping @Sendable (UnixTime) -> Int = TransferWindow.localMinute
    ) {
        budget = configuration.budget
        windows = configuration.windows
        meteredFile = configuration.meteredFile
        ledger = TrafficLedger(path: "\(configuration.directory)/device/traffic.json")
        self.clock = clock
        self.localMinute = localMinute
    }

    package func remaining(atLeast least: UInt64) throws(FetchPause) -> UInt64? {
        let now = clock()
        if let pause = closedWindow(now) ?? metered() { throw pause }
        guard let budget else { return nil }
        let (traffic, damage) = state.withLock { state in
            (opened(&state, at: now), state.damage)
        }
        let left = budget.bytes - min(traffic.bytes(in: budget.period), budget.bytes)
        guard left < max(1, least) else { return left }
        if let damage { throw unknown(budget, damage, traffic, now) }
        throw exhausted(budget, traffic, now, wanted: least)
    }

    package func spend(_ bytes: UInt64) throws(FetchPause) {
        let (mustLook, traffic) = state.withLock { state in
            let time = MonotonicTime.now
            let mustLook = state.looked.map { time.seconds(since: $0) >= 1 } ?? true
            if mustLook { state.looked = time }
            var traffic = state.traffic ?? opened(&state, at: clock())
            if mustLook { traffic.advance(to: clock()) }
            traffic.spend(bytes)
            state.traffic = traffic
            note(bytes, &state, traffic, isTime: mustLook)
            return (mustLook, traffic)
        }
        if let budget, traffic.bytes(in: budget.period) > budget.bytes {
            throw exhausted(budget, traffic, clock())
        }
        guard mustLook, let pause = closedWindow(clock()) ?? metered() else { return }
        throw pause
    }

    package func settle() {
        state.withLock { state in
            guard let traffic = state.traffic else { return }
            let isRight = state.ahead == 0 && !state.isBehind && state.damage == nil
            guard isRight || ledger.write(traffic) else { return }
            // Read again next time: another process may have fetched meanwhile.
            state = State(looked: state.looked)
        }
    }

    /// Writes down what came: with a budget ahead of it, so that few writes are needed and none is too late, else
    /// about once a second.
    private func note(_ bytes: UInt64, _ state: inout State, _ traffic: Traffic, isTime: Bool) {
        guard let budget else {
            state.isBehind = !(isTime && ledger.write(traffic))
            if !state.isBehind { state.damage = nil }
            return
        }
        guard bytes > state.ahead else {
            state.ahead -= bytes
            return
        }
        var more = traffic
        let ahead = min(max(budget.bytes / 32, 1 << 20), 16 << 20)
        more.spend(ahead)
        if ledger.write(more) {
            state.ahead = ahead
            state.isBehind = false
            state.damage = nil
        } else {
            state.ahead = 0
            state.isBehind = true
        }
    }

    private func opened(_ state: inout State, at now: UnixTime) -> Traffic {
        if state.traffic == nil {
            do throws(TrafficLedger.Damage) { state.traffic = try ledger.traffic(at: now) } catch {
                // Nobody knows what was spent, so nothing is left; a bill is worse than a day without news.
                state.traffic = Traffic(Traffic.unknown, at: now)
                state.damage = error.reason
            }
        }
        var traffic = state.traffic ?? Traffic(at: now)
        traffic.advance(to: now)
        state.traffic = traffic
        return traffic
    }

    private func exhausted(
        _ budget: ByteBudget,
        _ traffic: Traffic,
        _ now: UnixTime,
        wanted: UInt64 = 0
    ) -> FetchPause {
        let more = wanted > 1 ? ", and \(ByteCount(rawValue: wanted)) more are wanted" : ""
        let spent = traffic.bytes(in: budget.period)
        let used = spent == Traffic.unknown ? "all" : "\(ByteCount(rawValue: spent))"
        return FetchPause(
            "of \(ByteCount(rawValue: budget.bytes)) a \(budget.period) \(used) are used up\(more); it goes on at "
                + "\(traffic.end(of: budget.period, at: now)), or with a larger --budget"
        )
    }

    private func unknown(
        _ budget: ByteBudget,
        _ damage: String,
        _ traffic: Traffic,
        _ now: UnixTime
    ) -> FetchPause {
        FetchPause(
            "\(ledger.path) does not say what was fetched in this \(budget.period) (\(damage)), so all of "
                + "\(ByteCount(rawValue: budget.bytes)) counts as used up, and it is made anew; it goes on at "
                + "\(traffic.end(of: budget.period, at: now)), or with a larger --budget"
        )
    }

    private func closedWindow(_ now: UnixTime) -> FetchPause? {
        let minute = localMinute(now)
        guard !windows.isEmpty, !windows.contains(where: { $0.contains(minute: minute) }) else { return nil }
        let next = windows.map(\.opens).min { ($0 - minute + 1_440) % 1_440 < ($1 - minute + 1_440) % 1_440 }
        return FetchPause(
            "it is \(TransferWindow.text(minute)) here, and files are fetched \(windows.map(\.description).joined(separator: " and ")) "
                + "alone; it goes on at \(TransferWindow.text(next ?? 0))"
        )
    }

    private func metered() -> FetchPause? {
        guard let meteredFile, access(meteredFile, F_OK) == 0, budget == nil else { return nil }
        return FetchPause(
            "\(meteredFile) says that the link is metered; it goes on when that file is gone, or with --budget"
        )
    }
}
