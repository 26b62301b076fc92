import Names
import Trust

/// The steps that ask every location: nothing that was verified names the newest root or timestamp.
extension MetadataUpdater {
    /// Follows new roots, at most 256 in one run; the next run goes on from there.
    mutating func followRoots(_ roots: inout RootStage) async throws(UpdateError) {
        for _ in 0..<Limits.rootsPerRefresh {
            guard try await advance(&roots) else { break }
        }
        if try load(RoleName.root.fileName) != roots.root.bytes {
            try save(RoleName.root.fileName, roots.root.bytes)
        }
    }

    /// - Returns: Whether any location has the next root. That there is none is only a claim, so it ends the search
    ///   only when nobody has one.
    private mutating func advance(_ roots: inout RootStage) async throws(UpdateError) -> Bool {
        let name = RoleName.root.fileName(version: roots.root.document.version + 1)
        let historyName = Self.historyName(after: roots.root)
        var failure: UpdateError?
        var isAbsent = false
        for answer in await answers(name, RoleName.root.maximumLength) {
            do throws(UpdateError) {
                guard let (bytes, _) = try content(of: answer) else {
                    isAbsent = true
                    continue
                }
                do throws(TrustError) { try roots.advance(to: bytes) } catch { throw .refused(error) }
                try save(historyName, bytes)
                try save(RoleName.root.fileName, bytes)
                return true
            } catch {
                try note(error, of: answer.location, in: &failure)
            }
        }
        guard let failure, !isAbsent else { return false }
        throw failure
    }

    /// Takes the newest timestamp that any location has.
    ///
    /// - Returns: The entity tag of the trusted file, when a location gave one.
    mutating func updateTimestamp(_ timestamps: inout TimestampStage) async throws(UpdateError) -> String? {
        let wasSeen = timestamps.trusted != nil
        var failure: UpdateError?
        var etag: String?
        var isHeld = false
        for answer in await answers(RoleName.timestamp.fileName, RoleName.timestamp.maximumLength) {
            do throws(UpdateError) {
                guard let (bytes, tag) = try content(of: answer) else {
                    throw .noTimestamp(repository: "\(answer.location)", wasSeen: wasSeen)
                }
                let isNewer: Bool
                do throws(TrustError) { isNewer = try timestamps.accept(bytes) } catch {
                    throw .refused(error)
                }
                isHeld = true
                if isNewer { try save(RoleName.timestamp.fileName, bytes) }
                if timestamps.trusted?.bytes == bytes { etag = isNewer ? tag : etag ?? tag }
                mirrors.succeeded(answer.location)
            } catch {
                // A location that is behind another is no worse for what it has.
                if isHeld, error.isRollback { continue }
                try note(error, of: answer.location, in: &failure)
            }
        }
        guard let failure, !isHeld else { return etag }
        throw failure
    }

    mutating func updateSnapshot(_ snapshots: inout SnapshotStage) async throws(UpdateError) {
        let file = RoleName.snapshot.fileName
        if let stored = try load(file), snapshots.load(stored: stored) { return }
        let wanted = snapshots.wanted
        let longest = RoleName.snapshot.maximumLength
        let limit = min(longest, wanted.length.map { ByteCount(rawValue: $0) } ?? longest)
        let name = name(of: .snapshot, wanted, snapshots.root.document)
        var failure: UpdateError?
        for location in mirrors.inOrder {
            do throws(UpdateError) {
                let bytes = try await fetch(name, limit, from: location)
                do throws(TrustError) { try snapshots.accept(bytes) } catch { throw .refused(error) }
                mirrors.succeeded(location)
                return try save(file, bytes)
            } catch {
                try note(error, of: location, in: &failure)
            }
        }
        throw failure ?? .notStored(role: .snapshot)
    }

    /// The stored chain, if it may be used and no location has another timestamp, but those that are behind.
    ///
    /// Nobody is asked before the pinned root and those after it have held.
    ///
    /// - Throws: What went wrong, when nobody said that nothing is new.
    mutating func unchangedStage(
        _ etag: String?,
        _ roles: [SealiftRole]
    ) async throws(UpdateError) -> TargetsStage? {
        let roots: RootStage
        do throws(UpdateError) { roots = try storedRoots() } catch { return nil }
        let asking = self
        async let asked = asking.answers(
            RoleName.timestamp.fileName,
            RoleName.timestamp.maximumLength,
            ifNoneMatch: etag
        )
        guard let stored = try? storedStage(under: roots),
            (try? stored.clock.checkNotBehind()) != nil
        else { return nil }
        let stage = await asking.verifying(roles, in: stored)
        return try hasNews(since: stored, await asked) ? nil : stage
    }

    /// The stage with those of the roles that are stored and hold; what does not is met again when it is asked for.
    private func verifying(_ roles: [SealiftRole], in stored: TargetsStage) async -> TargetsStage {
        var reader = self
        reader.fetcher = nil
        reader.stage = stored
        for role in roles { _ = try? await reader.role(role) }
        return reader.stage ?? stored
    }

    private mutating func hasNews(
        since stored: TargetsStage,
        _ answers: [Mirrors.Answer]
    ) throws(UpdateError) -> Bool {
        var failure: UpdateError?
        var isCurrent = false
        for answer in answers {
            switch answer.outcome {
            case .success(.notModified): isCurrent = true
            case .success(.bytes(let bytes, _)):
                // Each has tags of its own, and may be behind another.
                guard mirrors.locations.count > 1 else { return true }
                if bytes == stored.timestamp.bytes {
                    isCurrent = true
                } else if try !isBehind(bytes) {
                    return true
                }
            case .success(.absent):
                mirrors.failed(answer.location, "the server does not have its timestamp.json (404)")
            case .failure(let error): try note(.fetch(error), of: answer.location, in: &failure)
            }
        }
        guard let failure, !isCurrent else { return !isCurrent }
        throw failure
    }

    /// Whether a timestamp is no newer than the stored one.
    private func isBehind(_ bytes: [UInt8]) throws(UpdateError) -> Bool {
        var timestamps = try refusing(consuming: try storedRoots())
        if let stored = try load(RoleName.timestamp.fileName) { timestamps.load(stored: stored) }
        do throws(TrustError) { return try !timestamps.accept(bytes) } catch {
            return UpdateError.refused(error).isRollback
        }
    }

    private func answers(
        _ name: String,
        _ maximumLength: ByteCount,
        ifNoneMatch etag: String? = nil
    ) async -> [Mirrors.Answer] {
        guard let fetcher else { return [] }
        return await mirrors.answers(fetcher) { location in
            FetchRequest(url: location.metadata(name), maximumLength: maximumLength, ifNoneMatch: etag)
        }
    }

    /// - Returns: `nil` when the location says that it has no such file.
    private func content(of answer: Mirrors.Answer) throws(UpdateError) -> ([UInt8], etag: String?)? {
        switch answer.outcome {
        case .success(.bytes(let bytes, let etag)): return (bytes, etag)
        case .success(.absent), .success(.notModified): return nil
        case .failure(let error): throw .fetch(error)
        }
    }
}
