import Names
import RegistryAPI
import Signing
import Transparency
import Trust

/// Puts a revision together in log order: role files, parents first, then the hold, then the snapshot.
struct RevisionBuilder {
    private(set) var revision: Revision
    private var versions: [String: Int64]
    private var nextIndex: Int64

    /// - Parameters:
    ///   - versions: The newest committed version of every role, the snapshot included; none at first.
    ///   - logSize: The number of entries before this revision.
    ///   - time: What log entries and signatures say.
    init(after versions: [String: Int64], logSize: Int64, time: UnixTime) {
        self.versions = versions
        nextIndex = logSize
        revision = Revision(snapshot: (versions["snapshot"] ?? 0) + 1, time: time)
    }

    mutating func take(_ documents: DocumentRules) {
        revision.documents += documents.documents
        revision.versions += documents.versions
        revision.blobs.merge(documents.blobs) { $0.union($1) }
    }

    mutating func take(_ broken: [BrokenExpectation]) { revision.broken += broken }

    mutating func take(_ owners: [String: OwnerName]) { revision.owners.merge(owners) { $1 } }

    mutating func add(document: TargetDocument) { revision.documents.append(document) }

    /// Adds a file and its log entry, in which `changes` is a few words for people.
    mutating func add(_ file: RoleFile, changes: [String] = []) throws(RegistryError) {
        let kind: LogEntry.Kind? =
            switch file.role {
            case "root": .root
            case "snapshot": .snapshot
            default: SealiftRole(name: file.role).map(Self.kind)
            }
        guard let kind else { throw .unpostableRole(role: file.role, reason: "it is no role of Sealift") }
        let entry = LogEntry(
            kind: kind,
            role: file.role,
            version: file.version,
            sha256: file.sha256,
            length: UInt64(file.bytes.count),
            changes: changes,
            time: revision.time
        )
        let bytes: [UInt8]
        do { bytes = try entry.canonical() } catch { throw .signing(reason: "\(error)") }
        revision.files.append(file)
        revision.log.append(
            LogRow(
                index: nextIndex,
                entry: bytes,
                leafHash: MerkleTree.leafHash(bytes),
                role: file.role,
                version: file.version
            )
        )
        versions[file.role] = file.version
        nextIndex += 1
    }

    /// Closes the revision by a snapshot of all versions.
    mutating func close(signedBy online: OnlineRoles) throws(RegistryError) {
        let snapshot = try online.snapshot(
            version: revision.snapshot,
            versions: versions,
            issued: revision.time
        )
        try add(snapshot)
    }

    private static func kind(_ role: SealiftRole) -> LogEntry.Kind {
        switch role {
        case .targets: .targets
        case .namespace: .namespace
        case .release: .release
        case .live: .live
        case .hold: .hold
        }
    }
}

/// A commit that has been judged, and what is still to be read from the blob store before it may be written.
struct Draft {
    let revision: Revision
    let unproven: [UnprovenFile]
}

extension OnlineRoles {
    /// The revision of accepted files: theirs, then the hold and the snapshot signed anew.
    func draft(
        _ posted: PostedRoles,
        documents: DocumentRules,
        broken: [BrokenExpectation],
        view: any RegistryView,
        now: UnixTime
    ) throws(RegistryError) -> Draft {
        let time = try issueTime(view, now: now)
        var builder = RevisionBuilder(after: try view.versions(), logSize: try view.logSize(), time: time)
        builder.take(documents)
        builder.take(broken)
        builder.take(posted.owners)
        for file in posted.files {
            let role = file.role.roleName
            let version: Int64
            do { version = try Claim.version(of: file.bytes, role: role) } catch {
                throw .untrusted(role: "\(role)", reason: "\(error)")
            }
            let digest = SHA256.digest(of: file.bytes)
            try builder.add(
                RoleFile(role: "\(role)", version: version, bytes: file.bytes, sha256: digest),
                changes: documents.changes(of: file.role)
            )
        }
        try builder.add(try hold(after: try view.newest(SealiftRole.hold.name), issued: time))
        try builder.close(signedBy: self)
        return Draft(revision: builder.revision, unproven: documents.unproven)
    }

    /// A revision that only renews what the registry signs; `nil` while that is not due.
    func renewal(_ view: any RegistryView, now: UnixTime) throws(RegistryError) -> Revision? {
        guard let stored = try view.newest("snapshot") else { throw .notCreated }
        let time = try issueTime(view, now: now)
        let document: SnapshotDocument
        do { document = try Claim.document(in: stored.bytes, role: .snapshot) } catch {
            throw .damaged(what: "snapshot version \(stored.version)", reason: "\(error)")
        }
        let due = document.expires.adding(seconds: OnlineLifetime.snapshotRenewal - OnlineLifetime.snapshot)
        guard time >= due else { return nil }
        var builder = RevisionBuilder(after: try view.versions(), logSize: try view.logSize(), time: time)
        try builder.add(try hold(after: try view.newest(SealiftRole.hold.name), issued: time))
        try builder.close(signedBy: self)
        return builder.revision
    }

    /// The next timestamp; `nil` while the last one shows the newest snapshot and is young.
    func nextTimestamp(_ view: any RegistryView, now: UnixTime) throws(RegistryError) -> TimestampFile? {
        guard let snapshot = try view.newest("snapshot") else { throw .notCreated }
        let time = try issueTime(view, now: now)
        let last = try view.timestamp()
        if let last, last.snapshot == snapshot.version,
            time.seconds(since: last.issued) < OnlineLifetime.timestampRenewal
        {
            return nil
        }
        return try timestamp(version: (last?.version ?? 0) + 1, showing: snapshot, issued: time)
    }
}

extension DocumentRules {
    fileprivate func changes(of role: PostableRole) -> [String] {
        guard case .targets(.release(let model)) = role else { return [] }
        return versions.filter { $0.model == model }.map { "release \($0.version)" }
    }
}
