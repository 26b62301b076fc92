import Blocking

/// Verified bytes of all models of one sync together; what is told never goes back.
final class SyncProgress: Sendable {
    private struct State {
        var total: UInt64

        /// Of the models before the present one.
        var before: UInt64 = 0
        var highest: UInt64 = 0
    }

    private let state: Guarded<State>
    private let events: @Sendable (SyncEvent) -> Void

    init(total: UInt64, _ events: @escaping @Sendable (SyncEvent) -> Void) {
        state = Guarded(State(total: total))
        self.events = events
    }

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
