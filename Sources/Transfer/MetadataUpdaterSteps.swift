import Durable
import Names
import Trust

/// The steps of an update, each either a rule of `Trust` or a move of bytes.
extension MetadataUpdater {
    func settledStage() throws(UpdateError) -> TargetsStage {
        guard let stage else { throw .refused(.missing(role: .snapshot)) }
        return stage
    }

    func storedStage() throws(UpdateError) -> TargetsStage {
        let roots = try storedRoots()
        var timestamps = try refusing(consuming: roots)
        if let stored = try load(RoleName.timestamp.fileName) { timestamps.load(stored: stored) }
        let snapshot = try load(RoleName.snapshot.fileName)
        let targets = try load(RoleName.targets.fileName)
        do throws(TrustError) {
            var snapshots = try timestamps.settled()
            if let snapshot { snapshots.load(stored: snapshot) }
            var settled = try snapshots.settled()
            settled.targetsLimit = targetsLimit
            guard let targets else { throw .missing(role: .targets) }
            try settled.accept(targets, .stored, as: .targets, under: nil)
            return settled
        } catch {
            throw .refused(error)
        }
    }

    /// Starts from the pinned root and replays stored ones as far as they hold.
    func storedRoots() throws(UpdateError) -> RootStage {
        var roots: RootStage
        do throws(TrustError) {
            roots = try RootStage(anchor: anchor, clock: initialClock, keepsChain: keepsRoots)
        } catch {
            throw .refused(error)
        }
        while let stored = try load(Self.historyName(after: roots.root)) {
            do throws(TrustError) { try roots.advance(to: stored) } catch { break }
        }
        return roots
    }

    func refusing(consuming roots: consuming RootStage) throws(UpdateError) -> TimestampStage {
        do throws(TrustError) { return try roots.settled() } catch { throw .refused(error) }
    }

    /// Follows new roots, at most 256 in one run; the next run goes on from there.
    func followRoots(_ roots: inout RootStage) async throws(UpdateError) {
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
    func updateTimestamp(_ timestamps: inout TimestampStage) async throws(UpdateError) -> String? {
        let name = RoleName.timestamp.fileName
        guard let (bytes, etag) = try await fetch(name, RoleName.timestamp.maximumLength) else {
            throw .noTimestamp(repository: "\(repository)", wasSeen: timestamps.trusted != nil)
        }
        let isNewer: Bool
        do throws(TrustError) { isNewer = try timestamps.accept(bytes) } catch { throw .refused(error) }
        if isNewer { try save(name, bytes) }
        return timestamps.trusted?.bytes == bytes ? etag : nil
    }

    func updateSnapshot(_ snapshots: inout SnapshotStage) async throws(UpdateError) {
        let name = RoleName.snapshot.fileName
        if let stored = try load(name), snapshots.load(stored: stored) { return }
        let bytes = try await fetch(.snapshot, snapshots.wanted, of: snapshots.root.document)
        do throws(TrustError) { try snapshots.accept(bytes) } catch { throw .refused(error) }
        try save(name, bytes)
    }

    /// A targets role under its delegator: from this run, the store or the repository, whichever has it first.
    ///
    /// - Returns: `nil` when the snapshot does not list it and Sealift's policy takes that as "not yet".
    func document(
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

extension MetadataUpdater {
    private static func historyName(after root: Verified<RootDocument>) -> String {
        "root_history/" + RoleName.root.fileName(version: root.document.version + 1)
    }

    func load(_ name: String) throws(UpdateError) -> [UInt8]? {
        do throws(DurableError) { return try store.load(name) } catch { throw .storage(error) }
    }

    private func save(_ name: String, _ bytes: [UInt8]) throws(UpdateError) {
        do throws(DurableError) { try store.save(name, bytes) } catch { throw .storage(error) }
    }

    func fetch(_ request: FetchRequest) async throws(UpdateError) -> FetchOutcome {
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
        let longest = role == .snapshot ? role.maximumLength : targetsLimit
        let limit = min(longest, wanted.length.map { ByteCount(rawValue: $0) } ?? longest)
        guard let (bytes, _) = try await fetch(name, limit) else {
            throw .absent(url: repository.metadata(name))
        }
        return bytes
    }
}
