/// How careful a registry is: who must sign, and for how long a signature holds.
package enum RegistryProfile: String, Sendable, CaseIterable {
    /// One person: every role 1 of 1, two years.
    case solo

    /// Root 2 of 3, the rest 1 of 1, one year.
    case team

    /// Root and targets 2 of 3, 180 days.
    case regulated

    package var rootKeys: Int { self == .solo ? 1 : 3 }
    package var rootThreshold: Int { self == .solo ? 1 : 2 }
    package var targetsKeys: Int { self == .regulated ? 3 : 1 }
    package var targetsThreshold: Int { self == .regulated ? 2 : 1 }

    /// Seconds that a signature by an offline key (root, targets, namespace, release, live) may live.
    package var offlineLifetime: Int64 {
        switch self {
        case .solo: 730 * 86_400
        case .team: 365 * 86_400
        case .regulated: 180 * 86_400
        }
    }
}

/// Lifetimes of what the registry itself signs, in seconds; the root states them as the greatest allowed.
package enum OnlineLifetime {
    package static let timestamp: Int64 = 3 * 86_400
    package static let snapshot: Int64 = 7 * 86_400
    package static let hold: Int64 = 7 * 86_400

    /// Age at which the timestamp is signed again.
    package static let timestampRenewal: Int64 = 6 * 3_600

    /// Age at which snapshot and hold are signed again: half their life.
    package static let snapshotRenewal: Int64 = snapshot / 2

    /// How far two clocks may be apart before a signature is refused.
    package static let clockTolerance: Int64 = 600
}
