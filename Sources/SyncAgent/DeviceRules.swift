import Generations
import Names

/// What this device itself says about the versions of one model.
///
/// It only narrows what signed documents allow, except that a version which
/// this device ran before may be gone back to.
struct DeviceRules {
    /// No version below it is activated here.
    var floor: ModelVersion?

    /// The one version that the operator wants.
    var pin: ModelVersion?

    /// By manifest, why it is not taken again.
    var quarantine: [Digest: String] = [:]

    /// Whether this device ran a manifest before.
    var hasRun: (Digest) -> Bool = { _ in false }

    /// This device's place in a rollout, `0 ..< 10_000`.
    var bucket: (Digest, ChannelName) -> Int = { _, _ in 0 }
}
