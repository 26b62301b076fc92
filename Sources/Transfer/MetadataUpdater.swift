import Durable
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
/// Nothing is fetched twice or ahead. One value serves one update: the time is
/// read once, by whoever makes it. On any error what was trusted stays trusted.
package struct MetadataUpdater: Sendable {
    private let anchor: [UInt8]
    private let store: any MetadataStore
    private let repository: RepositoryLocation
    private let initialClock: TrustClock

    /// `nil` once the stored chain was opened to be used without a network.
    private var fetcher: (any Fetching)?
    private var stage: TargetsStage?

    /// - Parameters:
    ///   - anchor: The root file that this client is pinned to.
    ///   - store: Where verified files are kept.
    ///   - fetcher: How files are fetched.
    ///   - repository: Where they are.
    ///   - now: The time, read once for the whole update.
    ///   - floor: The greatest signed time seen in earlier updates, if it was kept.
    ///   - policy: TUF alone, or Sealift's rules on top.
    package init(
        anchor: [UInt8],
        store: any MetadataStore,
        fetcher: any Fetching,
        repository: RepositoryLocation,
        now: UnixTime,
        floor: UnixTime? = nil,
        policy: TrustPolicy
    ) {
        self.anchor = anchor
        self.store = store
        self.fetcher = fetcher
        self.repository = repository
        initialClock = TrustClock(policy: policy, local: now, floor: floor)
    }

    /// The newest root; `nil` until ``refresh()``, ``poll()`` or ``openStored()`` has succeeded.
    package var root: Verified<RootDocument>? { stage?.root }
    package var timestamp: Verified<TimestampDocument>? { stage?.timestamp }
    package var snapshot: Verified<SnapshotDocument>? { stage?.snapshot }
    package var targets: Verified<TargetsDocument>? { stage?.document(of: .targets, under: nil) }

    /// Every root from the pinned one to the newest.
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

    /// Asks whether anything is new, by one conditional request where that is enough.
    ///
    /// It is enough while the stored chain, verified again, may be used and the
    /// whole workflow ran within the last 24 hours. Any other answer than "not
    /// modified" is thrown away and the whole workflow runs, root first.
    ///
    /// - Returns: Whether the whole workflow ran.
    /// - Throws: `UpdateError`; what was trusted stays.
    @discardableResult
    package mutating func poll() async throws(UpdateError) -> Bool {
        guard let state = try PollState(store), state.allowsShortcut(at: initialClock.local),
            let stored = try? storedStage(), (try? stored.clock.checkNotBehind()) != nil
        else {
            try await refresh()
            return true
        }
        let request = FetchRequest(
            url: repository.metadata("timestamp.json"),
            maximumLength: RoleName.timestamp.maximumLength,
            ifNoneMatch: state.etag
        )
        guard try await fetch(request) == .notModified else {
            try await refresh()
            return true
        }
        stage = stored
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
            do throws(TrustError) {
                if let file = try walk.visit(document) { return file }
            } catch {
                throw .refused(error)
            }
        }
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

// MARK: the steps

extension MetadataUpdater {
    private func settledStage() throws(UpdateError) -> TargetsStage {
        guard let stage else { throw .refused(.missing(role: .snapshot)) }
        return stage
    }

    private func storedStage() throws(UpdateError) -> TargetsStage {
        let roots = try storedRoots()
        var timestamps = try refusing(consuming: roots)
        if let stored = try load(RoleName.timestamp.fileName) { timestamps.load(stored: stored) }
        let snapshot = try load(RoleName.snapshot.fileName)
        let targets = try load(RoleName.targets.fileName)
        do throws(TrustError) {
            var snapshots = try timestamps.settled()
            if let snapshot { snapshots.load(stored: snapshot) }
            var settled = try snapshots.settled()
            guard let targets else { throw .missing(role: .targets) }
            try settled.accept(targets, .stored, as: .targets, under: nil)
            return settled
        } catch {
            throw .refused(error)
        }
    }

    /// Starts from the pinned root and replays stored ones as far as they hold.
    private func storedRoots() throws(UpdateError) -> RootStage {
        var roots: RootStage
        do throws(TrustError) { roots = try RootStage(anchor: anchor, clock: initialClock) } catch {
            throw .refused(error)
        }
        while let stored = try load(Self.historyName(after: roots.root)) {
            do throws(TrustError) { try roots.advance(to: stored) } catch { break }
        }
        return roots
    }

    private func refusing(consuming roots: consuming RootStage) throws(UpdateError) -> TimestampStage {
        do throws(TrustError) { return try roots.settled() } catch { throw .refused(error) }
    }

    /// Follows new roots, at most 256 in one run; the next run goes on from there.
    private func followRoots(_ roots: inout RootStage) async throws(UpdateError) {
        for _ in 0..<Limits.rootsPerRefresh {
            let name = RoleName.root.fileName(version: roots.root.document.version + 1)
            guard let (bytes, _) = try await fetch(name, RoleName.root.maximumLength) else { break }
            let historyName = Self.historyName(after: roots.root)
            do throws(TrustError) { try roots.advance(to: bytes) } catch { throw .refused(error) }
            try save(historyName, bytes)
            try save(RoleName.root.fileName, bytes)
        }
        if try load(RoleName.root.fileName) != roots.root.bytes {
            try save(RoleName.root.fileName, roots.root.bytes)
        }
    }

    /// - Returns: The entity tag of the trusted file, when the repository gave one.
    private func updateTimestamp(_ timestamps: inout TimestampStage) async throws(UpdateError) -> String? {
        let name = RoleName.timestamp.fileName
        guard let (bytes, etag) = try await fetch(name, RoleName.timestamp.maximumLength) else {
            throw .absent(url: repository.metadata(name))
        }
        let isNewer: Bool
        do throws(TrustError) { isNewer = try timestamps.accept(bytes) } catch { throw .refused(error) }
        if isNewer { try save(name, bytes) }
        return timestamps.trusted?.bytes == bytes ? etag : nil
    }

    private func updateSnapshot(_ snapshots: inout SnapshotStage) async throws(UpdateError) {
        let name = RoleName.snapshot.fileName
        if let stored = try load(name), snapshots.load(stored: stored) { return }
        let bytes = try await fetch(.snapshot, snapshots.wanted, of: snapshots.root.document)
        do throws(TrustError) { try snapshots.accept(bytes) } catch { throw .refused(error) }
        try save(name, bytes)
    }

    /// A targets role under its delegator: from this run, the store or the repository, whichever has it first.
    ///
    /// - Returns: `nil` when the snapshot does not list it and Sealift's policy takes that as "not yet".
    private func document(
        of role: RoleName,
        under delegator: Verified<TargetsDocument>?,
        in settled: inout TargetsStage
    ) async throws(UpdateError) -> Verified<TargetsDocument>? {
        if let document = settled.document(of: role, under: delegator) { return document }
        let wanted: MetaFile
        do throws(TrustError) { wanted = try settled.wanted(role) } catch {
            if initialClock.policy == .sealift { return nil }
            throw .refused(error)
        }
        let stored = try load(role.fileName)
        if let stored {
            do throws(TrustError) {
                return try settled.accept(stored, .stored, as: role, under: delegator)
            } catch {
                // Old, of another delegator, or damaged. Without a network that is the answer.
                guard fetcher != nil else { throw .refused(error) }
            }
        }
        guard fetcher != nil else { throw .notStored(role: role) }
        let bytes = try await fetch(role, wanted, of: settled.root.document)
        let document: Verified<TargetsDocument>
        do throws(TrustError) {
            document = try settled.accept(bytes, .fetched, as: role, under: delegator)
        } catch {
            throw .refused(error)
        }
        try save(role.fileName, bytes)
        return document
    }
}

// MARK: bytes

extension MetadataUpdater {
    private static func historyName(after root: Verified<RootDocument>) -> String {
        "root_history/" + RoleName.root.fileName(version: root.document.version + 1)
    }

    private func load(_ name: String) throws(UpdateError) -> [UInt8]? {
        do throws(DurableError) { return try store.load(name) } catch { throw .storage(error) }
    }

    private func save(_ name: String, _ bytes: [UInt8]) throws(UpdateError) {
        do throws(DurableError) { try store.save(name, bytes) } catch { throw .storage(error) }
    }

    private func fetch(_ request: FetchRequest) async throws(UpdateError) -> FetchOutcome {
        guard let fetcher else { throw .absent(url: request.url) }
        do throws(FetchError) { return try await fetcher.fetch(request) } catch { throw .fetch(error) }
    }

    /// - Returns: `nil` when the repository says that it has no such file.
    private func fetch(
        _ name: String,
        _ maximumLength: ByteCount
    ) async throws(UpdateError) -> ([UInt8], etag: String?)? {
        let request = FetchRequest(url: repository.metadata(name), maximumLength: maximumLength)
        switch try await fetch(request) {
        case .bytes(let bytes, let etag): return (bytes, etag)
        case .absent, .notModified: return nil
        }
    }

    /// Fetches what a parent document names, up to the length it signs and never beyond the role's own limit.
    private func fetch(
        _ role: RoleName,
        _ wanted: MetaFile,
        of root: RootDocument
    ) async throws(UpdateError) -> [UInt8] {
        // The location encodes what a URL may not hold, so the role's own name goes in.
        let name = root.consistentSnapshot ? "\(wanted.version).\(role).json" : "\(role).json"
        let limit = min(
            role.maximumLength,
            wanted.length.map { ByteCount(rawValue: $0) } ?? role.maximumLength
        )
        guard let (bytes, _) = try await fetch(name, limit) else {
            throw .absent(url: repository.metadata(name))
        }
        return bytes
    }
}
