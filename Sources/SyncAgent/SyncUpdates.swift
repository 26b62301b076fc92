/// One step of a sync that is followed as it runs.
public enum SyncUpdate: Sendable, Equatable {
    /// Something happened.
    case event(SyncEvent)

    /// It is over; the last element of the sequence.
    case finished(SyncReport)
}

extension SyncAgent {
    /// Syncs, and gives what happens as a sequence.
    ///
    /// The sync begins at once and ends with the sequence: whoever stops reading,
    /// or whose task is cancelled, stops it. What it verified is kept for the next
    /// one, and what was active stays active.
    ///
    /// - Parameter mode: `.dryRun` takes every decision and changes nothing.
    /// - Returns: Events, then the report; or the `SyncError` that stopped it.
    public func updates(_ mode: SyncMode = .activate) -> AsyncThrowingStream<SyncUpdate, any Error> {
        AsyncThrowingStream { continuation in
            // A task of its own, because the reader may come later; the sequence's end ends it.
            let task = Task {
                do {
                    let report = try await sync(mode) { event in _ = continuation.yield(.event(event)) }
                    continuation.yield(.finished(report))
                    continuation.finish()
                } catch {
                    continuation.finish(throwing: error)
                }
            }
            continuation.onTermination = { @Sendable _ in task.cancel() }
        }
    }
}
