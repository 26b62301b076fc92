import Generations
import Manifest
import Names

/// What a sync means to do about one model.
struct ModelPlan: Sendable {
    /// Files to put in place first.
    struct Installation: Sendable {
        let identity: VersionIdentity
        let manifestBytes: [UInt8]
        let manifest: ModelManifest
        let content: Variant
        var needs = VariantDownload.Needs()
    }

    /// What was active before.
    let active: GenerationRecord.Model?

    /// What the next generation holds; `nil` for none.
    var record: GenerationRecord.Model?
    var installation: Installation? {
        didSet { if let installation { wanted = Set(installation.content.blobs.map(\.hex)) } }
    }

    /// The names in `incoming/` that this plan is about, also after it failed; `nil` while that is not known.
    private(set) var wanted: Set<String>?
    var decision: ModelDecision

    /// Why the active version must be left, whatever becomes of the rest.
    var recall: String?

    /// What this device's floor or pin asks for that the active version is not.
    var unmet: String?

    /// The manifest of the active version, where that is not what was signed: nobody goes back to it.
    var forgery: Digest?

    /// Whether what was asked for does not exist at all.
    private(set) var isUnknown = false

    /// Whether what was asked for is there, as far as it may be.
    var isResolved: Bool { record != nil && decision.outcome != .failed && !isUnknown }

    /// A good version that is on the device already, for as long as nothing better can be had after a recall.
    var refuge: GenerationRecord.Model?

    /// The versions that were passed over, the newest first.
    var passedOver: [PassedOver] = [] {
        didSet {
            decision.passedOver = passedOver.map {
                PassedVersion(version: $0.version.description, reasons: $0.obstacle.lines)
            }
        }
    }

    /// Passes a version over, unless that was done.
    mutating func passOver(_ version: ModelVersion, _ obstacle: Obstacle) {
        guard !passedOver.contains(where: { $0.version == version }) else { return }
        passedOver = (passedOver + [PassedOver(version: version, obstacle: obstacle)])
            .sorted { $0.version > $1.version }
    }

    init(_ request: WantedModel, active: GenerationRecord.Model?) {
        self.active = active
        record = active
        decision = ModelDecision(
            model: request.model,
            request: request.description,
            outcome: .unchanged,
            previous: active?.identity.version.description,
            active: active?.identity.version.description,
            reason: "",
            passedOver: [],
            failure: nil
        )
    }

    /// Says for what a version that had to be left was left; `nil` is for none.
    mutating func leave(for refuge: GenerationRecord.Model?) {
        self.refuge = refuge
        guard decision.outcome == .failed else { return }
        record = refuge
        decision.active = refuge?.identity.version.description
    }

    /// Gives up: what was active stays, unless it has to be left.
    mutating func fail(_ error: SyncError) {
        record = recall == nil ? active : refuge
        decision.attempted = installation?.identity ?? decision.attempted
        installation = nil
        decision.outcome = .failed
        decision.failure = error
        decision.active = record?.identity.version.description
        decision.reason = error.message
        if let recall, let active {
            decision.reason += "; \(active.identity.version) had to be left all the same (\(recall))"
        }
    }

    /// Whether the model would change.
    var isMoving: Bool { record?.identity != active?.identity }

    /// Said of a version that stays because nothing is new.
    static let newestReason = "it is the newest version that may be taken and can be used"

    private static let unusableReason = "newer versions are there, and none can be used here"

    /// Takes a version.
    ///
    /// - Parameters:
    ///   - candidate: Which, and why it may be taken.
    ///   - identity: With its variant.
    ///   - entry: Of the variant.
    ///   - channel: That it was chosen from.
    ///   - hasUnusable: Whether a newer version was passed over because it cannot be used here.
    mutating func take(
        _ candidate: Candidate,
        _ identity: VersionIdentity,
        entry: FilePath,
        channel: ChannelName?,
        hasUnusable: Bool
    ) {
        let isSame = active?.identity == identity
        if !isSame || active?.channel != channel {
            let reason = isSame ? active?.reason ?? candidate.reason : candidate.reason
            record = GenerationRecord.Model(
                identity: identity,
                entry: entry,
                channel: channel,
                reason: reason
            )
        }
        decision.active = identity.version.description
        if !isSame {
            decision.outcome = .activated
            decision.reason = candidate.reason
        } else if hasUnusable {
            decision.outcome = .kept
            decision.reason = Self.unusableReason
        } else {
            decision.outcome = .unchanged
            decision.reason = Self.newestReason
        }
    }

    /// Takes none: nothing that may be taken can be used, or nothing may be taken.
    ///
    /// - Parameters:
    ///   - hasUnusable: Whether a newer version was passed over because it cannot be used here.
    ///   - isUnknown: Whether what was asked for does not exist at all.
    ///   - unfit: Why the active version does not fit what is asked of it, and what would; `nil` when it does.
    ///   - explanation: Why nothing may be taken, for people.
    mutating func takeNone(
        hasUnusable: Bool,
        isUnknown: Bool = false,
        unfit: String? = nil,
        explanation: String
    ) {
        self.isUnknown = isUnknown
        if let recall, let active {
            record = nil
            refuge = nil
            decision.outcome = .none
            decision.active = nil
            decision.reason =
                "\(active.identity.version) had to be left (\(recall)), and no other version can take its place"
        } else if active != nil, let unfit, !isUnknown {
            decision.outcome = .unfit
            decision.reason = unfit
        } else if active != nil {
            decision.outcome = hasUnusable || isUnknown ? .kept : .unchanged
            decision.reason = hasUnusable && !isUnknown ? Self.unusableReason : explanation
        } else {
            decision.outcome = .none
            decision.reason = explanation
        }
    }
}
