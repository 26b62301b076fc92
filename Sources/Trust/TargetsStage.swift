package import Names

/// The last stage: one consistent set of versions is settled, and targets roles are verified against it on demand.
///
/// Trust belongs to an edge, a role *as its delegator names it*, and never to a
/// role's name alone: two parents may give the same name different keys.
package struct TargetsStage: Sendable {
    /// Every root from the pinned one to the newest, in order; empty unless they are kept.
    package let roots: [Verified<RootDocument>]
    package let root: Verified<RootDocument>
    package let timestamp: Verified<TimestampDocument>
    package let snapshot: Verified<SnapshotDocument>
    package private(set) var clock: TrustClock
    /// The longest file of a targets role that is read.
    package var targetsLimit = Limits.targets
    private var loaded: [Edge: Verified<TargetsDocument>] = [:]

    /// Where the bytes of a role come from.
    ///
    /// Both are verified alike; only what is new is also held to the clock.
    package enum Origin: Sendable {
        case stored, fetched
    }

    /// Below what no role may go, besides what the snapshots say.
    enum Floors {
        /// What is stored and its delegator vouches for, also when timestamp and snapshot were lost since.
        case storedRoles
        case none
    }

    private let floors: Floors

    private struct Edge: Hashable {
        /// The delegator's file; `nil` is the root.
        let delegator: Digest?
        let role: RoleName
    }

    init(
        chain: [Verified<RootDocument>],
        root: Verified<RootDocument>,
        timestamp: Verified<TimestampDocument>,
        snapshot: Verified<SnapshotDocument>,
        clock: TrustClock,
        floors: Floors
    ) {
        self.floors = clock.policy == .sealift ? floors : .none
        roots = chain
        self.root = root
        self.timestamp = timestamp
        self.snapshot = snapshot
        self.clock = clock
    }

    /// What the snapshot says about `role`.
    ///
    /// - Throws: `TrustError.notInSnapshot` when it says nothing, `.nameTooLong` for a role that no folder can hold.
    package func wanted(_ role: RoleName) throws(TrustError) -> MetaFile {
        guard let file = snapshot.document.roles[role] else { throw .notInSnapshot(role: role) }
        let length = role.fileName.utf8.count
        guard length <= RoleName.longestFileName else {
            throw .nameTooLong(role: role, found: length, limit: RoleName.longestFileName)
        }
        return file
    }

    /// The document of `role` under `delegator`, if it has been accepted.
    ///
    /// The top-level targets role has no delegator: the root names it.
    package func document(
        of role: RoleName,
        under delegator: Verified<TargetsDocument>?
    ) -> Verified<TargetsDocument>? {
        loaded[Edge(delegator: delegator?.digest, role: role)]
    }

    /// Takes the file of a targets role, stored or fetched (TUF 1.0.34, 5.6 and 5.6.7).
    ///
    /// - Throws: `TrustError`; nothing of the bytes is kept then.
    @discardableResult
    package mutating func accept(
        _ bytes: [UInt8],
        _ origin: Origin,
        as role: RoleName,
        under delegator: Verified<TargetsDocument>?
    ) throws(TrustError) -> Verified<TargetsDocument> {
        if origin == .fetched { try clock.checkNotBehind() }
        let wanted = try wanted(role)
        if origin == .fetched { try wanted.check(bytes, role: role) }
        let new = try verified(bytes, as: role, under: delegator)
        if origin == .stored {
            guard floors == .none || new.document.version <= wanted.version else {
                throw .rollback(role: role, trusted: new.document.version, found: wanted.version)
            }
            try wanted.check(bytes, role: role)
        }
        guard new.document.version == wanted.version else {
            throw .versionMismatch(role: role, expected: wanted.version, found: new.document.version)
        }
        if clock.policy == .sealift {
            guard let sealiftRole = SealiftRole(role) else {
                throw .shape(role: role, reason: "no role of Sealift has this name")
            }
            try SealiftShapes.check(sealiftRole, document: new.document)
            if sealiftRole == .hold { try clock.checkLifetime(new, under: root.document) }
            if origin == .fetched { try clock.checkIssued(new) }
        }
        try new.current(at: clock.now)
        if role == SealiftRole.hold.roleName { clock.saw(new.document.issued) }
        loaded[Edge(delegator: delegator?.digest, role: role)] = new
        return new
    }

    /// Whether stored `bytes` of `role` forbid a snapshot that does not list it.
    package func isFloor(
        _ bytes: [UInt8],
        as role: RoleName,
        under delegator: Verified<TargetsDocument>?
    ) -> Bool {
        floors == .storedRoles && (try? verified(bytes, as: role, under: delegator)) != nil
    }

    private func verified(
        _ bytes: [UInt8],
        as role: RoleName,
        under delegator: Verified<TargetsDocument>?
    ) throws(TrustError) -> Verified<TargetsDocument> {
        let quorum =
            if let delegator {
                try delegator.document.quorum(for: role, named: delegator.role)
            } else {
                try root.document.quorum(for: role)
            }
        return try Untrusted<TargetsDocument>(bytes, maximumLength: targetsLimit).verified(by: quorum)
    }
}
