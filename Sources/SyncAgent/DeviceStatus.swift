/// The state of a device, as its own disk tells it.
public struct DeviceStatus: Sendable, Equatable {
    /// How current the signed chain is.
    public enum Freshness: String, Sendable {
        /// Within its signed lifetime.
        case fresh

        /// Past it; what is active runs on within its grace, nothing new is accepted.
        case stale

        /// Past the grace as well.
        case overdue

        /// No sync finished yet, or the clock cannot be trusted: ``DeviceStatus/clockFault``.
        case unknown
    }

    /// One active model.
    public struct Model: Sendable, Equatable {
        /// The model, `NAMESPACE/MODEL`.
        public var model: String

        /// The active version.
        public var version: String

        /// The variant of it.
        public var variant: String

        /// The channel it was chosen from; `nil` when asked for by version.
        public var channel: String?

        /// SHA-256 of the manifest.
        public var manifest: String

        /// Real path of the version directory.
        public var directory: String

        /// Real path of the file that a runtime opens.
        public var entry: String

        /// Why this version, in one line.
        public var reason: String

        /// `confirmed`, `failed`, or `trial` while its app has not confirmed it; `nil` where no app has to.
        public var trial: String?

        /// How far its trial is; `nil` when none is going on.
        public var trialProgress: TrialProgress?

        /// The version that the operator keeps it at; `nil` when it follows its channel.
        public var pinned: String?

        /// Why it does not fit what the last sync asked of it; `nil` when it does.
        public var unfit: String?

        /// Why the last sync took no other version, although one is there; `nil` when nothing waits.
        public var waiting: String?

        /// The same in a word that never changes its meaning; the documentation lists them all.
        public var waitingCode: String?

        /// What is wrong with it; `nil` when nothing is.
        public var problem: String?

        /// What became of its golden vectors before it was activated; `nil` where none was run.
        public var checks: String?

        /// Versions of the model that this device does not take again, each with the reason.
        public var quarantined: [SyncedDevice.Version] = []
    }

    /// What is left of a trial.
    public struct TrialProgress: Sendable, Equatable {
        /// Starts of the app so far.
        public var starts: Int

        /// Starts after which the next one goes back, unless the app confirms.
        public var startsAllowed: Int

        /// When its time is over.
        public var until: String

        /// Seconds until then; `nil` when the clock cannot be trusted or the chain has expired: only starts count then.
        public var secondsLeft: Int64?

        /// Whether there is another version to go back to; without one it stays, confirmed or not.
        public var hasWayBack: Bool
    }

    /// A model that is wanted and not active.
    public struct Missing: Sendable, Equatable {
        /// The model, `NAMESPACE/MODEL`.
        public var model: String

        /// What was asked for, `NS/MODEL@CHANNEL`.
        public var request: String

        /// Why it is not there, in one line.
        public var reason: String

        /// What to do about it.
        public var remedy: String

        /// The reason in a word that never changes its meaning; the documentation lists them all.
        public var code: String
    }

    /// The device directory, links resolved.
    public var directory: String

    /// The active generation; `nil` when none is.
    public var generation: UInt64?

    /// Whether the device went back from that generation to the versions before it.
    public var isFallback: Bool

    /// When the generation was made.
    public var created: String?

    /// Its models, sorted by name.
    public var models: [Model]

    /// What is wanted and not active, sorted by name.
    public var missing: [Missing] = []

    /// How current the signed chain is.
    public var freshness: Freshness

    /// Why this machine's clock cannot be trusted; `nil` when it is not behind what was signed.
    public var clockFault: String?

    /// When the chain was last verified against the registry.
    public var checked: String?

    /// When the chain expires.
    public var freshUntil: String?

    /// Until when the active models may run on an expired chain.
    public var graceUntil: String?

    /// Whether the active models may not be used once ``graceUntil`` is over.
    public var refusesAfterGrace = false

    /// Whether the transparency log was checked.
    public var log: String
}
