import Durable
package import Names

/// Starts of an app, which a version on trial has to survive.
extension DeviceDirectory {
    /// Counts a start of the app with `model`, and goes back first if a trial is lost with it.
    ///
    /// Without room or right to write the count the start goes on all the same.
    /// Going back is one rename, which works on a full disk.
    ///
    /// - Parameters:
    ///   - model: What the app is about to open.
    ///   - clock: The local clock.
    /// - Returns: Which version was left, and why, in one line; `nil` when none was.
    /// - Throws: `GenerationError` when the active generation cannot be read, or there is no way back.
    package func countStart(of model: ModelName, at clock: UnixTime) throws(GenerationError) -> String? {
        guard let generation = try activeGeneration(), !generation.place.isFallback,
            let active = generation.record.model(model)
        else { return nil }
        let manifest = active.identity.manifest
        guard let entry = try note(Trials.self)[manifest], entry.state != .confirmed else {
            return nil
        }
        let now = try trustState()?.believed(clock)
        var failure: String?
        do throws(GenerationError) {
            // Counted on what stands there under the lock: another start, or the confirmation, may just have come.
            try changeTrials { trials in
                trials.change(manifest) { entry in
                    guard entry.state != .confirmed else { return }
                    entry.countStart()
                    failure = entry.failure(at: now)
                    if let failure { entry.fail(failure) }
                }
            }
        } catch {
            guard case .disk = error else { throw error }
        }
        guard let failure else { return nil }
        try fallBack(from: generation)
        return "\(model) \(active.identity.version) was left: \(failure)"
    }

    /// Changes the note about trials.
    ///
    /// Its lock is a courtesy between writers; where it cannot be had, a lost change costs one count or confirmation.
    package func changeTrials(_ change: (inout Trials) -> Void) throws(GenerationError) {
        let lock = try? DirectoryLock("\(path)/trials.lock", waiting: 2)
        defer { withExtendedLifetime(lock) {} }
        var trials = try note(Trials.self)
        change(&trials)
        try save(trials)
    }
}
