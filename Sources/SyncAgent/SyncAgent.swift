/// Keeps a device's models genuine, current, compatible and whole.
///
/// One agent serves one device directory. Any number of agents and processes
/// may use the same directory at once.
public struct SyncAgent: Sendable {
    /// What is synced.
    public let configuration: SyncConfiguration
    private let events: @Sendable (SyncEvent) -> Void

    /// Makes an agent.
    ///
    /// - Parameters:
    ///   - configuration: What to sync; checked here.
    ///   - events: Called while a sync runs, from the task that runs it.
    /// - Throws: `SyncError` of kind `usage`.
    public init(
        configuration: SyncConfiguration,
        events: @escaping @Sendable (SyncEvent) -> Void = { _ in }
    ) throws(SyncError) {
        try configuration.check()
        self.configuration = configuration
        self.events = events
    }

    /// Brings the device to the newest usable version of each model.
    ///
    /// - Parameter mode: `.dryRun` takes every decision and changes nothing.
    /// - Returns: What was decided and done.
    /// - Throws: `SyncError`; what was active stays active.
    public func sync(_ mode: SyncMode = .activate) async throws(SyncError) -> SyncReport {
        throw SyncError(.internal, "sync is not there yet")
    }
}

/// Whether a sync may change the device.
public enum SyncMode: Sendable {
    case activate, dryRun
}
