import Names
import Transfer
import Trust

/// Old versions of a repository's metadata, each verified by the keys that counted when it was made.
///
/// A versioned file never changes, so that each is fetched and verified once.
/// Expiry is not judged: what was signed then was current then.
struct RetainedFiles {
    private let fetcher: any Fetching
    private let location: RepositoryLocation
    private let roots: [Verified<RootDocument>]
    private var documents: [String: Verified<TargetsDocument>] = [:]

    /// Hangs from `roots`: every root from the pinned one to the newest.
    init(fetcher: any Fetching, location: RepositoryLocation, roots: [Verified<RootDocument>]) {
        self.fetcher = fetcher
        self.location = location
        self.roots = roots
    }

    /// Snapshot `version`; `nil` when the repository no longer has it.
    func snapshot(_ version: Int64) async throws(AuditError) -> Verified<SnapshotDocument>? {
        let name = RoleName.snapshot.fileName(version: version)
        guard let bytes = try await bytes(name, RoleName.snapshot.maximumLength) else { return nil }
        let found: Verified<SnapshotDocument> = try underAnyRoot(bytes, .snapshot, name)
        guard found.document.version == version else {
            throw .contradiction("\(name) says that it is version \(found.document.version)")
        }
        return found
    }

    /// A targets role as `snapshot` names it, verified along its delegators as `snapshot` names those.
    ///
    /// - Returns: `nil` when the snapshot does not list the role, or its delegator does not name it.
    mutating func role(
        _ role: SealiftRole,
        in snapshot: SnapshotDocument
    ) async throws(AuditError) -> Verified<TargetsDocument>? {
        guard let version = snapshot.roles[role.roleName]?.version else { return nil }
        var parent: Verified<TargetsDocument>?
        if let delegator = role.delegator {
            guard let found = try await self.role(delegator, in: snapshot),
                found.document.delegations?[role.roleName] != nil
            else { return nil }
            parent = found
        }
        let name = role.roleName.fileName(version: version)
        let key = name + " " + (parent?.digest.hex ?? "")
        if let known = documents[key] { return known }
        guard let bytes = try await bytes(name, role.roleName.maximumLength) else {
            throw .absent(file: name)
        }
        let document: Verified<TargetsDocument>
        if let parent {
            do throws(TrustError) {
                let quorum = try parent.document.quorum(for: role.roleName, named: parent.role)
                document = try Untrusted<TargetsDocument>(bytes).verified(by: quorum)
                try SealiftShapes.check(role, document: document.document)
            } catch { throw .refused(file: name, error) }
        } else {
            document = try underAnyRoot(bytes, role.roleName, name)
        }
        guard document.document.version == version else {
            throw .contradiction("\(name) says that it is version \(document.document.version)")
        }
        documents[key] = document
        return document
    }

    /// The document at `path` as a role lists it.
    func content(of path: String, in role: TargetsDocument) async throws(AuditError) -> [UInt8]? {
        guard let file = role.targets[TargetPath(path)], let digest = file.sha256 else { return nil }
        let url = location.target(path, digest: digest)
        let outcome: FetchOutcome
        do {
            outcome = try await fetcher.fetch(FetchRequest(url: url, maximumLength: Limits.manifest))
        } catch { throw .transfer(error) }
        guard case .bytes(let bytes, _) = outcome else { throw .absent(file: path) }
        guard file.describes(bytes) else {
            throw .transfer(.refused(.malformedAnswer(detail: "not the bytes that are signed"), url: url))
        }
        return bytes
    }

    /// Verifies by the newest root whose keys fit: several roots may have counted during a file's life.
    private func underAnyRoot<Document: SignedDocument>(
        _ bytes: [UInt8],
        _ role: RoleName,
        _ name: String
    ) throws(AuditError) -> Verified<Document> {
        var first: TrustError?
        for root in roots.reversed() {
            do throws(TrustError) {
                return try Untrusted<Document>(bytes).verified(by: try root.document.quorum(for: role))
            } catch { first = first ?? error }
        }
        throw .refused(file: name, first ?? .missing(role: .root))
    }

    private func bytes(_ name: String, _ limit: ByteCount) async throws(AuditError) -> [UInt8]? {
        let request = FetchRequest(url: location.metadata(name), maximumLength: limit)
        let outcome: FetchOutcome
        do { outcome = try await fetcher.fetch(request) } catch { throw .transfer(error) }
        guard case .bytes(let bytes, _) = outcome else { return nil }
        return bytes
    }
}
