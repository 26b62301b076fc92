import Durable
import Glibc
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
    /// - Returns: What was counted, and what was left for it.
    /// - Throws: `GenerationError` when the active generation cannot be read, or there is no way back.
    package func countStart(
        of model: ModelName,
        at clock: UnixTime
    ) throws(GenerationError) -> CountedStart {
        guard let generation = try activeGeneration(), !generation.place.isFallback,
            let active = generation.record.model(model)
        else { return CountedStart() }
        let manifest = active.identity.manifest
        guard let entry = try note(Trials.self)[manifest], entry.state != .confirmed else {
            return CountedStart()
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
        guard let failure else { return CountedStart(manifest: manifest) }
        try fallBack(from: generation)
        return CountedStart(
            manifest: manifest,
            left: "\(model) \(active.identity.version) was left: \(failure)"
        )
    }

    /// Whether another version of `model` stands behind the active one.
    ///
    /// Where none does, the lack of a confirmation alone takes nothing away: a
    /// version that passed every check is better than no model at all.
    package func hasWayBack(from active: ActiveGeneration, of model: ModelName) -> Bool {
        guard let earlier = fallback(of: active)?.record.model(model) else { return false }
        return earlier.identity != active.record.model(model)?.identity
    }

    /// Takes back a start of an app that could not be started after all: of the version that it was counted for,
    /// whatever is active by now.
    ///
    /// What was left for it stays left. Without room or right to write, the start stays counted.
    package func takeBack(_ start: CountedStart) {
        guard let manifest = start.manifest else { return }
        try? changeTrials { trials in
            trials.change(manifest) { $0.takeBackStart() }
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

/// A start of an app, as a trial counts it.
package struct CountedStart: Sendable, Equatable {
    /// Of the version that it was counted for; `nil` where none is on trial.
    package var manifest: Digest?

    /// Which version was left with it, and why, in one line; `nil` when none was.
    package var left: String?

    private static let variable = "SEALIFT_STARTED"

    /// The model that `sealift run` counted a start of before it started this program.
    package static var model: String? { getenv(variable).map { String(cString: $0) } }

    /// Tells a library in this process, or in a program that takes its place, that the start was counted.
    package static func note(_ model: ModelName) { setenv(variable, "\(model)", 1) }
}
