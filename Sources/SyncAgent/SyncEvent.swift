/// What a sync tells while it runs.
public enum SyncEvent: Sendable, Equatable {
    /// The next part of the work began.
    case phase(SyncPhase)

    /// Bytes of this sync's files that are verified; it never goes back.
    case progress(verified: UInt64, of: UInt64)

    /// A model's decision was taken.
    case decided(ModelDecision)
}

/// The parts of a sync, in order.
public enum SyncPhase: String, Sendable, CaseIterable {
    case refreshing, choosing, downloading, checking, activating, collecting
}
