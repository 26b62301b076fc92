import Blocking
import Names

/// Verified bytes of all models of one sync together; what is told never goes back.
///
/// Where news makes a sync begin again, what is wanted still goes on from what
/// was told of it, and what is wanted now instead comes on top.
final class SyncProgress: Sendable {
    private struct State {
        var total: UInt64 = 0

        /// Of the models before the present one, and of rounds before this one.
        var before: UInt64 = 0
        var highest: UInt64 = 0

        /// The manifests that the round is about.
        var wanted: Set<Digest> = []
    }

    private let state = Guarded(State())
    private let events: @Sendable (SyncEvent) -> Void

    init(_ events: @escaping @Sendable (SyncEvent) -> Void) { self.events = events }

    /// A round begins, which needs `total` bytes for the versions with these manifests.
    func begin(total: UInt64, of wanted: Set<Digest>) {
        state.withLock { state in
            if !wanted.isSubset(of: state.wanted) { state.before = state.highest }
            state.wanted = wanted
            state.total = state.before + total
        }
    }

    /// What the round is about, and the bytes verified so far.
    var standing: (wanted: Set<Digest>, verified: UInt64) { state.withLock { ($0.wanted, $0.highest) } }

    /// Tells that so many bytes of the present model are verified.
    func report(_ verified: UInt64) {
        let news = state.withLock { state -> (UInt64, UInt64)? in
            let sum = min(state.before + verified, state.total)
            guard sum > state.highest else { return nil }
            state.highest = sum
            return (sum, state.total)
        }
        if let (verified, total) = news { events(.progress(verified: verified, of: total)) }
    }

    /// The present model has all of its bytes.
    func finished(_ bytes: UInt64) {
        report(bytes)
        state.withLock { $0.before += bytes }
    }

    /// The present model gets no more; what is left of it is not waited for.
    func failed(_ bytes: UInt64) {
        state.withLock { state in
            let got = state.highest - min(state.before, state.highest)
            state.before = state.highest
            state.total -= min(bytes - min(got, bytes), state.total)
        }
    }
}
