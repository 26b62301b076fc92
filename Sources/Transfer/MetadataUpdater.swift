package import Names
package import Trust

/// Brings a client's metadata up to date, by the workflow of TUF 1.0.34, 5.
///
/// The rules are in `Trust`; this type only moves bytes between the repository,
/// the store and those rules, in the order that they ask for:
///
/// 1. `N+1.root.json` until the repository has none, each stored before the next is asked for;
/// 2. `timestamp.json`;
/// 3. the snapshot and the targets role, if they are not stored already;
/// 4. delegated roles, one by one, as a search visits them.
///
/// Any location may answer any file: each is judged by what was verified before
/// it, and one that is wrong or does not come is asked of the next. Roots and the
/// timestamp, which nothing names, are asked of all, and the newest that holds
/// counts: so a location that is behind hides nothing that another has.
///
/// Nothing is fetched twice or ahead. One value serves one update: the time is
/// read once, by whoever makes it. On any error what was trusted stays trusted.
package struct MetadataUpdater: Sendable {
    let anchor: [UInt8]
    let store: any MetadataStore
    let mirrors: Mirrors
    let initialClock: TrustClock
    let targetsLimit: ByteCount
    let keepsRoots: Bool

    /// `nil` once the stored chain was opened to be used without a network.
    var fetcher: (any Fetching)?
    var stage: TargetsStage?

    /// The location that the error of the last step is about; `nil` when it is about none.
    package internal(set) var culprit: RepositoryLocation?

    /// - Parameters:
    ///   - anchor: The root file that this client is pinned to.
    ///   - store: Where verified files are kept.
    ///   - fetcher: How files are fetched.
    ///   - mirrors: Where they are.
    ///   - now: The time, read once for the whole update.
    ///   - floor: The greatest signed time seen in earlier updates, if it was kept.
    ///   - policy: TUF alone, or Sealift's rules on top.
    ///   - targetsLimit: The longest file of a targets role, also when a longer length is signed.
    ///   - keepsRoots: Whether ``roots`` is filled.
    package init(
        anchor: [UInt8],
        store: any MetadataStore,
        fetcher: any Fetching,
        mirrors: Mirrors,
        now: UnixTime,
        floor: UnixTime? = nil,
        policy: TrustPolicy,
        targetsLimit: ByteCount = Limits.targets,
        keepsRoots: Bool = true
    ) {
        self.anchor = anchor
        self.store = store
        self.fetcher = fetcher
        self.mirrors = mirrors
        self.targetsLimit = targetsLimit
        self.keepsRoots = keepsRoots
        initialClock = TrustClock(policy: policy, local: now, floor: floor)
    }

    /// The newest root; `nil` until ``refresh()``, ``poll()`` or ``openStored()`` has succeeded.
    package var root: Verified<RootDocument>? { stage?.root }
    package var timestamp: Verified<TimestampDocument>? { stage?.timestamp }
    package var snapshot: Verified<SnapshotDocument>? { stage?.snapshot }
    package var targets: Verified<TargetsDocument>? { stage?.document(of: .targets, under: nil) }

    /// Every root from the pinned one to the newest, if they are kept.
    package var roots: [Verified<RootDocument>] { stage?.roots ?? [] }

    /// The greatest signed time seen, to be kept for the next update.
    package var clockFloor: UnixTime? { stage?.clock.floor }

    /// The later of this machine's clock and every signed time seen.
    package var now: UnixTime { stage?.clock.now ?? initialClock.now }

    /// When the first of root, timestamp, snapshot and targets expires.
    package var freshUntil: UnixTime? {
        guard let stage, let targets else { return nil }
        return min(
            min(stage.root.document.expires, stage.timestamp.document.expires),
            min(stage.snapshot.document.expires, targets.document.expires)
        )
    }

    // MARK: the top-level roles

    /// Runs the whole workflow.
    ///
    /// - Throws: `UpdateError`. Files verified before the error are stored, and the next run builds on them.
    package mutating func refresh() async throws(UpdateError) {
        var roots = try storedRoots()
        try await followRoots(&roots)
        var timestamps = try refusing(consuming: roots)
        if let stored = try load(RoleName.timestamp.fileName) { timestamps.load(stored: stored) }
        let etag = try await updateTimestamp(&timestamps)
        var snapshots: SnapshotStage
        do throws(TrustError) { snapshots = try timestamps.settled() } catch { throw .refused(error) }
        try await updateSnapshot(&snapshots)
        var settled: TargetsStage
        do throws(TrustError) { settled = try snapshots.settled() } catch { throw .refused(error) }
        settled.targetsLimit = targetsLimit
        _ = try await document(of: .targets, under: nil, in: &settled)
        stage = settled
        try PollState(etag: etag, lastRefresh: initialClock.local).save(to: store)
    }

    /// Verifies the stored chain from the pinned root, without any request now or later.
    ///
    /// - Throws: `UpdateError.refused` with `TrustError.expired` when it may no longer be used, with
    ///   `.missing` when nothing is stored.
    package mutating func openStored() throws(UpdateError) {
        fetcher = nil
        stage = try storedStage()
    }

    /// Asks whether anything is new, by one conditional request of each location where that is enough.
    ///
    /// It is enough while the stored chain, verified again, may be used and the
    /// whole workflow ran within the last 24 hours. The request is on its way
    /// meanwhile; it is cancelled when that chain may not be used. When any
    /// location has more than the stored chain, its answer is thrown away and
    /// the whole workflow runs, root first.
    ///
    /// - Parameter roles: What will be asked for next, verified from the store while the answer is waited for, if
    ///   it is there and holds; a role above another comes before it.
    /// - Returns: Whether the whole workflow ran.
    /// - Throws: `UpdateError`; what was trusted stays.
    @discardableResult
    package mutating func poll(for roles: [SealiftRole] = []) async throws(UpdateError) -> Bool {
        guard let state = try PollState(store), state.allowsShortcut(at: initialClock.local),
            let unchanged = try await unchangedStage(state.etag, roles)
        else {
            try await refresh()
            return true
        }
        stage = unchanged
        return false
    }

    // MARK: targets

    /// Searches a target through the delegations.
    ///
    /// - Returns: `nil` when no role lists it.
    /// - Throws: `UpdateError` when a role on the way cannot be had or trusted: the search then has no answer.
    package mutating func target(_ path: TargetPath) async throws(UpdateError) -> TargetFile? {
        var settled = try settledStage()
        defer { stage = settled }
        var walk = DelegationWalk(to: path)
        while true {
            let step: DelegationWalk.Step?
            do throws(TrustError) { step = try walk.next() } catch { throw .refused(error) }
            guard let step else { return nil }
            guard let document = try await document(of: step.role, under: step.delegator, in: &settled) else {
                continue
            }
            if let file = walk.visit(document) { return file }
        }
    }

    /// Where a target's bytes are: under its digest when the root says so (TUF 1.0.34, 6.2).
    ///
    /// - Returns: `nil` for a path that leads out of its folder, and before an update has succeeded.
    package func location(of path: TargetPath, _ file: TargetFile) -> String? {
        guard let root, path.staysInside else { return nil }
        let digest = file.hashes["sha256"] ?? file.hashes.min { $0.key < $1.key }?.value
        let hash = root.document.consistentSnapshot ? digest.map { Hex.text($0) } : nil
        return mirrors.locations.first?.target(path.description, hash: hash)
    }

    /// The document of one of Sealift's roles, verified along its delegators.
    ///
    /// - Returns: `nil` when the snapshot does not list it yet, or its delegator does not name it.
    /// - Throws: `UpdateError` when it, or a role above it, cannot be had or trusted.
    package mutating func role(_ role: SealiftRole) async throws(UpdateError) -> Verified<TargetsDocument>? {
        var parent: Verified<TargetsDocument>?
        if let delegator = role.delegator {
            guard let document = try await self.role(delegator),
                document.document.delegations?[role.roleName] != nil
            else { return nil }
            parent = document
        }
        var settled = try settledStage()
        defer { stage = settled }
        return try await document(of: role.roleName, under: parent, in: &settled)
    }
}
