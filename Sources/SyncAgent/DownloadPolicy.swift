import Blocking
import CanonicalJSON
import Durable
import Glibc
package import Names
package import Transfer

/// The operator's limits on fetching model files: a byte budget, windows of time, and metered links.
///
/// They hold up files only: trust is refreshed and recalls are obeyed whatever
/// the limits say. What is met in the middle of a file stops it there, with
/// what was proved kept.
package final class DownloadPolicy: TransferPermission {
    private struct State {
        /// What `spent` is about; `nil` before the ledger was read.
        var period: String?
        var spent: UInt64 = 0

        /// What the ledger says: never less than `spent`, so that a crash forgets nothing.
        var recorded: UInt64 = 0
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

    /// - Returns: `nil` when the configuration has no limit.
    package init?(
        _ configuration: SyncConfiguration,
        clock: @escaping @Sendable () -> UnixTime,
        localMinute: @escaping @Sendable (UnixTime) -> Int = TransferWindow.localMinute
    ) {
        guard
            configuration.budget != nil || !configuration.windows.isEmpty || configuration.meteredFile != nil
        else { return nil }
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
        let (spent, damage) = state.withLock { state in
            roll(&state, budget, now)
            return (state.spent, state.damage)
        }
        let left = budget.bytes - min(spent, budget.bytes)
        guard left < max(1, least) else { return left }
        if let damage { throw unknown(budget, damage, now) }
        throw exhausted(budget, spent, now, wanted: least)
    }

    package func spend(_ bytes: UInt64) throws(FetchPause) {
        let (mustLook, spent) = state.withLock { state in
            let time = MonotonicTime.now
            let mustLook = state.looked.map { time.seconds(since: $0) >= 1 } ?? true
            if mustLook { state.looked = time }
            guard let budget else { return (mustLook, UInt64(0)) }
            if mustLook || state.period == nil { roll(&state, budget, clock()) }
            state.spent += bytes
            if state.spent > state.recorded {
                // Ahead of what comes, so that few writes are needed and none is too late.
                state.recorded = state.spent + min(max(budget.bytes / 32, 1 << 20), 16 << 20)
                ledger.write(state.period ?? "", state.recorded)
                state.damage = nil
            }
            return (mustLook, state.spent)
        }
        if let budget, spent > budget.bytes { throw exhausted(budget, spent, clock()) }
        guard mustLook, let pause = closedWindow(clock()) ?? metered() else { return }
        throw pause
    }

    package func settle() {
        guard budget != nil else { return }
        state.withLock { state in
            guard state.recorded != state.spent || state.damage != nil, let period = state.period else {
                return
            }
            state.recorded = state.spent
            state.damage = nil
            ledger.write(period, state.spent)
        }
    }

    private func roll(_ state: inout State, _ budget: ByteBudget, _ now: UnixTime) {
        let period = budget.name(ofPeriodAt: now)
        guard state.period != period else { return }
        state.period = period
        state.damage = nil
        do throws(TrafficLedger.Damage) { state.spent = try ledger.spent(in: period) } catch {
            // Nobody knows what was spent, so nothing is left; a bill is worse than a day without news.
            state.spent = budget.bytes
            state.damage = error.reason
        }
        state.recorded = state.spent
    }

    private func exhausted(
        _ budget: ByteBudget,
        _ spent: UInt64,
        _ now: UnixTime,
        wanted: UInt64 = 0
    ) -> FetchPause {
        let more = wanted > 1 ? ", and \(ByteCount(rawValue: wanted)) more are wanted" : ""
        return FetchPause(
            "of \(ByteCount(rawValue: budget.bytes)) a \(budget.period) \(ByteCount(rawValue: spent)) are "
                + "used up\(more); it goes on at \(budget.end(ofPeriodAt: now)), or with a larger --budget"
        )
    }

    private func unknown(_ budget: ByteBudget, _ damage: String, _ now: UnixTime) -> FetchPause {
        FetchPause(
            "\(ledger.path) does not say what was fetched in this \(budget.period) (\(damage)), so all of "
                + "\(ByteCount(rawValue: budget.bytes)) counts as used up, and it is made anew; it goes on at "
                + "\(budget.end(ofPeriodAt: now)), or with a larger --budget"
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

/// `device/traffic.json`: the bytes of files that came in the present period.
struct TrafficLedger: Sendable {
    private static let type = "sealift/traffic@1"
    let path: String

    /// Why nobody knows what it said.
    struct Damage: Error {
        let reason: String
    }

    /// Bytes spent in `period`; none when there is no ledger, or it is of another period.
    ///
    /// - Throws: `Damage`, when something is there that cannot be read.
    func spent(in period: String) throws(Damage) -> UInt64 {
        let bytes: [UInt8]?
        do throws(DurableError) { bytes = try Durable.readFileIfPresent(path, maximum: .kibibytes(1)) } catch
        {
            throw Damage(reason: "\(error)")
        }
        guard let bytes else { return 0 }
        guard let value = try? JSONParser.parse(bytes, maximumLength: 1 << 10, maximumDepth: 2),
            value["type"]?.string == Self.type, let named = value["period"]?.string,
            case .integer(let spent)? = value["bytes"], spent >= 0
        else { throw Damage(reason: "it is no \(Self.type) document") }
        return named == period ? UInt64(spent) : 0
    }

    /// A disk that takes no note is no reason to stop: it stops the download itself soon enough.
    func write(_ period: String, _ spent: UInt64) {
        var object = JSONObject()
        object["bytes"] = .integer(Int64(clamping: spent))
        object["period"] = .text(period)
        object["type"] = .text(Self.type)
        try? Durable.makeWay(at: path)
        try? Durable.writeAtomically(path, JSONValue.object(object).compactJSON, mode: 0o600)
    }
}
