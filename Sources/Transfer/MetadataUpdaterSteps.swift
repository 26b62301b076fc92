import Durable
import Names
import Trust

/// The steps of an update, each either a rule of `Trust` or a move of bytes.
extension MetadataUpdater {
    func settledStage() throws(UpdateError) -> TargetsStage {
        guard let stage else { throw .refused(.missing(role: .snapshot)) }
        return stage
    }

    func storedStage() throws(UpdateError) -> TargetsStage { try storedStage(under: storedRoots()) }

    func storedStage(under roots: consuming RootStage) throws(UpdateError) -> TargetsStage {
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
}

extension MetadataUpdater {
    /// A targets role under its delegator: from this run, the store or a location, whichever has it first.
    ///
    /// - Returns: `nil` when the snapshot does not list it and Sealift's policy takes that as "not yet".
    mutating func document(
        of role: RoleName,
        under delegator: Verified<TargetsDocument>?,
        in settled: inout TargetsStage
    ) async throws(UpdateError) -> Verified<TargetsDocument>? {
        if let document = settled.document(of: role, under: delegator) { return document }
        let wanted: MetaFile
        do throws(TrustError) { wanted = try settled.wanted(role) } catch {
            guard initialClock.policy == .sealift else { throw .refused(error) }
            // Once a role is there it never leaves, so this is an older snapshot than one that was used before.
            if case .notInSnapshot = error, let stored = try load(role.fileName),
                settled.isFloor(stored, as: role, under: delegator)
            {
                throw .refused(.removedFromSnapshot(role: role))
            }
            return nil
        }
        if let stored = try load(role.fileName) {
            do throws(TrustError) {
                return try settled.accept(stored, .stored, as: role, under: delegator)
            } catch {
                // Old, of another delegator, or damaged. Without a network that is the answer.
                guard fetcher != nil, !Self.isFinal(error, initialClock.policy) else {
                    throw .refused(error)
                }
            }
        }
        guard fetcher != nil else { throw .notStored(role: role) }
        let name = name(of: role, wanted, settled.root.document)
        let limit = min(targetsLimit, wanted.length.map { ByteCount(rawValue: $0) } ?? targetsLimit)
        var failure: UpdateError?
        for location in mirrors.inOrder {
            do throws(UpdateError) {
                let bytes = try await fetch(name, limit, from: location)
                let document: Verified<TargetsDocument>
                do throws(TrustError) {
                    document = try settled.accept(bytes, .fetched, as: role, under: delegator)
                } catch {
                    throw .refused(error)
                }
                mirrors.succeeded(location)
                try save(role.fileName, bytes)
                return document
            } catch {
                try note(error, of: location, in: &failure)
            }
        }
        throw failure ?? .notStored(role: role)
    }

    /// Whether a stored role of the version that the snapshot names settles the matter: no location has another.
    private static func isFinal(_ error: TrustError, _ policy: TrustPolicy) -> Bool {
        switch error {
        case .expired, .rollback: policy == .sealift
        // What it is could not be found out, so it may be what nothing may go behind.
        case .unverifiable: true
        default: false
        }
    }
}

extension MetadataUpdater {
    static func historyName(after root: Verified<RootDocument>) -> String {
        "root_history/" + RoleName.root.fileName(version: root.document.version + 1)
    }

    func load(_ name: String) throws(UpdateError) -> [UInt8]? {
        do throws(DurableError) { return try store.load(name) } catch { throw .storage(error) }
    }

    func save(_ name: String, _ bytes: [UInt8]) throws(UpdateError) {
        do throws(DurableError) { try store.save(name, bytes) } catch { throw .storage(error) }
    }

    /// A file that something verified names.
    ///
    /// - Throws: `UpdateError.absent` when the location says that it has none.
    func fetch(
        _ name: String,
        _ maximumLength: ByteCount,
        from location: RepositoryLocation
    ) async throws(UpdateError) -> [UInt8] {
        let request = FetchRequest(url: location.metadata(name), maximumLength: maximumLength)
        guard let fetcher else { throw .absent(url: request.url) }
        do throws(FetchError) {
            if case .bytes(let bytes, _) = try await fetcher.fetch(request) { return bytes }
        } catch {
            throw .fetch(error)
        }
        throw .absent(url: request.url)
    }

    /// What a role's file is called; the location encodes what a URL may not hold.
    func name(of role: RoleName, _ wanted: MetaFile, _ root: RootDocument) -> String {
        root.consistentSnapshot ? "\(wanted.version).\(role).json" : "\(role).json"
    }

    /// Notes that a location failed, and keeps the error that says most: a refusal more than an outage.
    ///
    /// - Throws: The error, where no other location could do better.
    mutating func note(
        _ error: UpdateError,
        of location: RepositoryLocation,
        in failure: inout UpdateError?
    ) throws(UpdateError) {
        if failure == nil || failure?.isOutage == true && !error.isOutage {
            failure = error
            culprit = location
        }
        guard error.isOfLocation else { throw error }
        var asked: Double?
        if case .fetch(.outage(.status(_, let seconds), _)) = error { asked = seconds }
        mirrors.failed(location, "\(error)", asked: asked)
    }
}
