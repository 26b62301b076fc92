package import Names

/// Which rules a repository is held to.
package enum TrustPolicy: Sendable, Equatable {
    /// TUF 1.0.34 and nothing more.
    case plainTUF

    /// TUF, and the shapes, times and lifetimes of Sealift on top.
    case sealift
}

/// The one time of an update, and what it is worth.
///
/// A device's clock may be wrong. Times that were *signed* give it a floor: now
/// is the later of both, a clock clearly behind the floor is refused for
/// anything new, and so is a document signed clearly ahead of the clock. Under
/// ``TrustPolicy/plainTUF`` only the clock counts.
package struct TrustClock: Sendable, Equatable {
    /// How far clock and signed times may disagree, in seconds.
    package static let tolerance: Int64 = 600

    package let policy: TrustPolicy

    /// What this machine says.
    package let local: UnixTime

    /// The greatest signed time seen.
    package private(set) var floor: UnixTime

    /// - Parameters:
    ///   - policy: Whether signed times count at all.
    ///   - local: Read once, for the whole update.
    ///   - floor: The greatest signed time of earlier updates.
    package init(policy: TrustPolicy, local: UnixTime, floor: UnixTime? = nil) {
        self.policy = policy
        self.local = local
        self.floor = floor ?? UnixTime(rawValue: .min)
    }

    package var now: UnixTime { policy == .sealift ? max(local, floor) : local }

    /// Raises the floor to a time that a verified document carries.
    package mutating func saw(_ issued: UnixTime?) {
        if let issued { floor = max(floor, issued) }
    }

    /// - Throws: `TrustError.clockBehind` when nothing new may be accepted by this clock.
    package func checkNotBehind() throws(TrustError) {
        guard policy == .plainTUF || floor.seconds(since: local) <= Self.tolerance else {
            throw .clockBehind(clock: local, floor: floor)
        }
    }

    /// Holds a fetched document of an online role to the clock.
    ///
    /// - Throws: `TrustError.issuedInFuture`.
    func checkIssued(_ document: Verified<some SignedDocument>) throws(TrustError) {
        guard policy == .sealift, let issued = document.document.issued else { return }
        guard issued.seconds(since: local) <= Self.tolerance else {
            throw .issuedInFuture(role: document.role, issued: issued, clock: local)
        }
    }

    /// Holds a document to the signed times seen before, where its predecessor is lost.
    ///
    /// - Throws: `TrustError.replayed`.
    func checkNotReplayed(_ document: Verified<some SignedDocument>) throws(TrustError) {
        guard policy == .sealift, let issued = document.document.issued else { return }
        guard floor.seconds(since: issued) <= Self.tolerance else {
            throw .replayed(role: document.role, issued: issued, floor: floor)
        }
    }

    /// Holds a document of an online role to the root's greatest lifetime.
    ///
    /// - Throws: `TrustError.shape` without `issued`, `.lifetimeTooLong`.
    func checkLifetime(
        _ document: Verified<some SignedDocument>,
        under root: RootDocument
    ) throws(TrustError) {
        guard policy == .sealift else { return }
        let role = document.role
        guard let issued = document.document.issued else {
            throw .shape(role: role, reason: "no time in `issued`")
        }
        let seconds = document.document.expires.seconds(since: issued)
        let maximum = root.sealift?.maximumLifetimes[role] ?? 0
        guard seconds <= maximum else {
            throw .lifetimeTooLong(role: role, seconds: seconds, maximum: maximum)
        }
    }
}
