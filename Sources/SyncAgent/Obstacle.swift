import Manifest
import Names
import Trust

/// Why a version is not taken.
enum Obstacle: Equatable, Sendable {
    case denied(Denial)
    case recalled(VersionState)

    /// Recalled or denied as this device learned before, whatever can be read of that now.
    case withdrawn
    case belowFloor(ModelVersion)

    /// The release role signs another manifest for this version, or none.
    case notReleased

    /// The release role lists no such version.
    case unknown
    case quarantined(reason: String)

    /// Another version is pinned.
    case pinned(ModelVersion)
    case yanked(VersionState)
    case held(Hold)
    case rollout

    /// The active version, of which the release role signs another manifest, or none.
    case unsigned(Digest, signed: Digest?)

    /// Below the active version, and nothing says to go back to it.
    case lower(than: ModelVersion)

    /// No app on this machine can use it.
    case unusable([String])

    /// Its group cannot move as a whole.
    case group(String)

    /// Whether it is on account of the app or the machine, which exit code 3 tells.
    var isUnusable: Bool {
        if case .unusable = self { true } else { false }
    }
}

extension Obstacle: CustomStringConvertible {
    var description: String {
        switch self {
        case .denied(let denial): "denied since \(denial.since): \(denial.reason)"
        case .recalled(let state): "recalled at \(state.time): \(state.reason)"
        case .withdrawn: "recalled or denied, as an earlier sync learned"
        case .belowFloor(let floor): "below the floor \(floor)"
        case .notReleased: "the release role does not list this manifest"
        case .unknown: "no such version is released"
        case .quarantined(let reason): "quarantined on this device: \(reason)"
        case .pinned(let version): "\(version) is pinned on this device"
        case .yanked(let state): "yanked at \(state.time): \(state.reason)"
        case .held(let hold): "held until \(hold.until): \(hold.reason)"
        case .rollout: "its rollout has not reached this device"
        case .unsigned(let found, let signed):
            "not what was signed: its manifest on this device has SHA-256 \(found), and the release role lists "
                + (signed.map { "\($0)" } ?? "no such version")
        case .lower(let active): "lower than the active \(active), and nothing signed says to go back to it"
        case .unusable(let reasons): reasons.joined(separator: "; ")
        case .group(let reason): reason
        }
    }
}

extension Obstacle {
    /// Each thing in the way.
    var lines: [String] {
        if case .unusable(let reasons) = self { reasons } else { [description] }
    }
}

/// A version that was passed over, and why.
struct PassedOver: Equatable, Sendable {
    let version: ModelVersion
    let obstacle: Obstacle
}
