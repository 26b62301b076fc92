/// The second stage: the root is settled, the newest timestamp is sought.
package struct TimestampStage: ~Copyable {
    package let root: Verified<RootDocument>

    /// The timestamp so far, if any.
    package private(set) var trusted: Verified<TimestampDocument>?
    package private(set) var clock: TrustClock
    private let chain: [Verified<RootDocument>]

    init(chain: [Verified<RootDocument>], root: Verified<RootDocument>, clock: TrustClock) {
        self.chain = chain
        self.root = root
        self.clock = clock
    }

    /// Takes the stored timestamp as what a new one must not go behind.
    ///
    /// It is verified again by the *current* root: once the timestamp keys have
    /// been replaced, an old file no longer counts, which is how a repository
    /// recovers from a fast-forward (TUF 1.0.34, 5.3.11, without its deletion,
    /// which a crash could interrupt). That it expired does not matter here.
    ///
    /// - Returns: Whether it counts.
    @discardableResult
    package mutating func load(stored bytes: [UInt8]) -> Bool {
        do {
            let stored = try Untrusted<TimestampDocument>(bytes).verified(
                by: try root.document.quorum(for: .timestamp)
            )
            trusted = stored
            clock.saw(stored.document.issued)
            return true
        } catch {
            return false
        }
    }

    /// Takes a timestamp from the repository (TUF 1.0.34, 5.4).
    ///
    /// - Returns: Whether it is newer. One of the same version is dropped.
    /// - Throws: `TrustError`; the stage keeps what it had.
    package mutating func accept(_ bytes: [UInt8]) throws(TrustError) -> Bool {
        try clock.checkNotBehind()
        let new = try Untrusted<TimestampDocument>(bytes).verified(
            by: try root.document.quorum(for: .timestamp)
        )
        if let old = trusted?.document {
            guard new.document.version >= old.version else {
                throw .rollback(role: .timestamp, trusted: old.version, found: new.document.version)
            }
            guard new.document.version > old.version else { return false }
            guard new.document.snapshot.version >= old.snapshot.version else {
                throw .rollback(
                    role: .snapshot,
                    trusted: old.snapshot.version,
                    found: new.document.snapshot.version
                )
            }
        } else {
            try clock.checkNotReplayed(new)
        }
        try clock.checkIssued(new)
        try clock.checkLifetime(new, under: root.document)
        try new.current(at: clock.now)
        trusted = new
        clock.saw(new.document.issued)
        return true
    }

    /// Ends the stage.
    ///
    /// - Throws: `TrustError.missing` without a timestamp, `.expired` with one that may no longer be used.
    package consuming func settled() throws(TrustError) -> SnapshotStage {
        guard let timestamp = trusted else { throw .missing(role: .timestamp) }
        // The floor may have moved since the root was judged.
        try root.current(at: clock.now)
        try clock.checkLifetime(timestamp, under: root.document)
        try timestamp.current(at: clock.now)
        return SnapshotStage(chain: chain, root: root, timestamp: timestamp, clock: clock)
    }
}
