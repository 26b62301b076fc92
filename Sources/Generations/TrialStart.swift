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
        let hasWayBack = hasWayBack(from: generation, of: model)
        var failure: String?
        do throws(GenerationError) {
            // Counted on what stands there under the lock: another start, or the confirmation, may just have come.
            try changeTrials { trials in
                trials.change(manifest) { entry in
                    guard entry.state != .confirmed else { return }
                    entry.countStart()
                    failure = hasWayBack ? entry.failure(at: now) : nil
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

    /// Whether another version of `model` stands behind the active one.
    ///
    /// Where none does, the lack of a confirmation alone takes nothing away: a
    /// version that passed every check is better than no model at all.
    package func hasWayBack(from active: ActiveGeneration, of model: ModelName) -> Bool {
        guard let earlier = fallback(of: active)?.record.model(model) else { return false }
        return earlier.identity != active.record.model(model)?.identity
    }

    /// Takes back a start of an app that could not be started after all.
    ///
    /// Without room or right to write, the start stays counted.
    package func takeBackStart(of model: ModelName) {
        guard let active = (try? activeGeneration())?.record.model(model) else { return }
        try? changeTrials { trials in
            trials.change(active.identity.manifest) { $0.takeBackStart() }
        }
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
