package import Generations
import Names

/// What a sync did, and why.
public struct SyncReport: Sendable, Equatable {
    /// The sync as a whole.
    public enum Outcome: String, Sendable {
        /// A new generation is active.
        case activated

        /// Nothing had to change.
        case unchanged

        /// A dry run: what would be activated.
        case planned
    }

    /// What happened to the device as a whole.
    public var outcome: Outcome

    /// The generation that is active now; `nil` when none is.
    public var generation: UInt64?

    /// One decision for each model asked for, sorted by name.
    public var models: [ModelDecision]

    /// When the signed chain expires, `YYYY-MM-DDTHH:MM:SSZ`.
    public var freshUntil: String

    /// Bytes of model files and their block lists that came over the network.
    public var bytesFetched: UInt64

    /// Seconds between polls that the registry's administrators signed.
    public var pollSeconds: Int64 = 3_600

    /// What a person should know although the sync succeeded.
    public var warnings: [String]

    /// The exit code of the command line: the first that applies of 5, 1, 2, 70, 75, 4, 3 and 0.
    public var exitCode: Int32 {
        let codes = models.map(\.exitCode)
        return [5, 1, 2, 70, 75, 4, 3].first { codes.contains($0) } ?? 0
    }
}

/// What was decided for one model.
public struct ModelDecision: Sendable, Equatable {
    /// The decision in a word.
    public enum Outcome: String, Sendable {
        /// A version was activated that was not active before.
        case activated

        /// The newest usable version was active already.
        case unchanged

        /// Newer versions are there, none can be used here; the active one stays.
        case kept

        /// The active version does not fit what is asked of it now, and nothing that may be taken does; it stays.
        case unfit

        /// No version can be used, and none is active; one that was has been left if it had to be.
        case none

        /// Something went wrong with this model; what was active stays. See ``ModelDecision/failure``.
        case failed
    }

    /// The model, `NAMESPACE/MODEL`.
    public var model: String

    /// What was asked for, `NS/MODEL@CHANNEL`.
    public var request: String

    /// The decision.
    public var outcome: Outcome

    /// The version that was active before.
    public var previous: String?

    /// The version that is active now.
    public var active: String?

    /// Why, in one line.
    public var reason: String

    /// Versions that were passed over, the newest first.
    public var passedOver: [PassedVersion]

    /// Why this variant of the active version and no other, a line each; empty where it has only one.
    public var variants: [String] = []

    /// What became of the version's golden vectors on this device; `nil` where none was run and none missing.
    public var checks: String?

    /// Why the decision could not be taken or carried out.
    public var failure: SyncError?

    /// What could not be activated, when something went wrong with a version that was chosen.
    package var attempted: VersionIdentity?

    /// Why it did not go as asked, in a word that never changes its meaning; `nil` when it did.
    public var code: String? {
        switch outcome {
        case .activated, .unchanged: nil
        case .kept, .none: ErrorCode.nothingUsable.rawValue
        case .unfit: ErrorCode.activeUnfit.rawValue
        case .failed: failure?.code ?? ErrorCode.internal.rawValue
        }
    }

    /// The exit code of the command line, if this were the only model.
    public var exitCode: Int32 {
        switch outcome {
        case .activated, .unchanged: 0
        case .kept, .unfit, .none: 3
        case .failed: failure?.exitCode ?? 70
        }
    }
}

/// A version that was passed over.
public struct PassedVersion: Sendable, Equatable {
    /// The version passed over.
    public var version: String

    /// Each thing that is in the way, in one line.
    public var reasons: [String]

    /// Why, in one line.
    public var reason: String { reasons.joined(separator: "; ") }
}
