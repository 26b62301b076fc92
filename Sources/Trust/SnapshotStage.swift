/// The third stage: the timestamp is settled, the snapshot it names is sought.
package struct SnapshotStage: ~Copyable {
    package let root: Verified<RootDocument>
    package let timestamp: Verified<TimestampDocument>
    package private(set) var clock: TrustClock
    private let chain: [Verified<RootDocument>]
    private var trusted: Verified<SnapshotDocument>?

    /// Whether the stored snapshot is by keys that have been replaced since.
    ///
    /// That is how a repository recovers from a fast-forward of any role, so
    /// the stored roles are then no floors either.
    private var isByFormerKeys = false

    init(
        chain: [Verified<RootDocument>],
        root: Verified<RootDocument>,
        timestamp: Verified<TimestampDocument>,
        clock: TrustClock
    ) {
        self.chain = chain
        self.root = root
        self.timestamp = timestamp
        self.clock = clock
    }

    /// What the timestamp says about the snapshot.
    package var wanted: MetaFile { timestamp.document.snapshot }

    /// Takes the stored snapshot as what a new one must not go behind.
    ///
    /// Verified again by the current root, as ``TimestampStage/load(stored:)``.
    ///
    /// - Returns: Whether it is the one that the timestamp names and may be used: then none need be fetched.
    @discardableResult
    package mutating func load(stored bytes: [UInt8]) -> Bool {
        do {
            let stored = try Untrusted<SnapshotDocument>(bytes).verified(
                by: try root.document.quorum(for: .snapshot)
            )
            trusted = stored
            clock.saw(stored.document.issued)
            try check(stored)
            return true
        } catch {
            if let envelope = try? Envelope(bytes, role: .snapshot),
                let quorum = try? root.document.quorum(for: .snapshot)
            {
                let keyIDs = envelope.signatures.map(\.keyID)
                isByFormerKeys = !keyIDs.isEmpty && keyIDs.allSatisfy { quorum.keys[$0] == nil }
            }
            return false
        }
    }

    /// Takes a snapshot from the repository (TUF 1.0.34, 5.5).
    ///
    /// - Throws: `TrustError`; the stage keeps what it had.
    package mutating func accept(_ bytes: [UInt8]) throws(TrustError) {
        try clock.checkNotBehind()
        try wanted.check(bytes, role: .snapshot)
        let new = try Untrusted<SnapshotDocument>(bytes).verified(
            by: try root.document.quorum(for: .snapshot)
        )
        for (role, old) in (trusted?.document.roles ?? [:]).sorted(by: { $0.key < $1.key }) {
            guard let listed = new.document.roles[role] else { throw .removedFromSnapshot(role: role) }
            guard listed.version >= old.version else {
                throw .rollback(role: role, trusted: old.version, found: listed.version)
            }
        }
        try clock.checkIssued(new)
        try check(new)
        trusted = new
        clock.saw(new.document.issued)
    }

    /// Ends the stage.
    ///
    /// - Throws: `TrustError` when there is no usable snapshot of the version that the timestamp names.
    package consuming func settled() throws(TrustError) -> TargetsStage {
        guard let snapshot = trusted else { throw .missing(role: .snapshot) }
        try check(snapshot)
        return TargetsStage(
            chain: chain,
            root: root,
            timestamp: timestamp,
            snapshot: snapshot,
            clock: clock,
            floors: isByFormerKeys ? .none : .storedRoles
        )
    }

    private func check(_ snapshot: Verified<SnapshotDocument>) throws(TrustError) {
        let found = snapshot.document.version
        guard found == wanted.version else {
            throw .versionMismatch(role: .snapshot, expected: wanted.version, found: found)
        }
        if clock.policy == .sealift { try SealiftShapes.check(snapshot: snapshot.document) }
        try clock.checkLifetime(snapshot, under: root.document)
        try snapshot.current(at: clock.now)
    }
}
