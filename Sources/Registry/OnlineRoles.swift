import Names
import RegistryAPI
import Signing
import Trust

/// What the registry signs itself: snapshot, timestamp and `sealift~hold`, all by one online key.
struct OnlineRoles: Sendable {
    let signer: any Signer

    /// The brake signed again, as it stands or with one document more or changed.
    func hold(
        after stored: RoleFile?,
        listing target: TargetDocument? = nil,
        issued: UnixTime
    ) throws(RegistryError) -> RoleFile {
        var document = TargetsDocument(version: 0, expires: issued, issued: issued, targets: [:])
        if let stored {
            do { document = try Claim.document(in: stored.bytes, role: SealiftRole.hold.roleName) } catch {
                throw .damaged(what: "role \(stored.role) version \(stored.version)", reason: "\(error)")
            }
        }
        if let target { document.targets[TargetPath(target.path)] = TargetFile(of: target.bytes) }
        document.version = (stored?.version ?? 0) + 1
        document.expires = issued.adding(seconds: OnlineLifetime.hold)
        document.issued = issued
        return try file(SealiftRole.hold.roleName, document)
    }

    /// The versions of all roles at one moment; digests are bound by the log, so they are left out.
    func snapshot(
        version: Int64,
        versions: [String: Int64],
        issued: UnixTime
    ) throws(RegistryError) -> RoleFile {
        var roles: [RoleName: MetaFile] = [:]
        for (name, version) in versions where name != "root" && name != "snapshot" {
            roles[RoleName(name)] = MetaFile(version: version)
        }
        let document = SnapshotDocument(
            version: version,
            expires: issued.adding(seconds: OnlineLifetime.snapshot),
            issued: issued,
            roles: roles
        )
        let file = try file(.snapshot, document)
        guard ByteCount(file.bytes.count) <= Limits.snapshot else {
            throw .tooLarge(
                what: "the snapshot",
                found: ByteCount(file.bytes.count),
                limit: Limits.snapshot
            )
        }
        return file
    }

    /// Shows `snapshot` to devices.
    func timestamp(
        version: Int64,
        showing snapshot: RoleFile,
        issued: UnixTime
    ) throws(RegistryError) -> TimestampFile {
        let document = TimestampDocument(
            version: version,
            expires: issued.adding(seconds: OnlineLifetime.timestamp),
            issued: issued,
            snapshot: MetaFile(
                version: snapshot.version,
                length: UInt64(snapshot.bytes.count),
                hashes: ["sha256": snapshot.sha256.bytes]
            )
        )
        let file = try file(.timestamp, document)
        return TimestampFile(
            version: version,
            snapshot: snapshot.version,
            bytes: file.bytes,
            sha256: file.sha256,
            issued: issued
        )
    }

    /// When to sign for, given the times that were signed before.
    ///
    /// A clock set back a little is held at the greatest signed time, so that
    /// times in the metadata never go back; one set back further is refused,
    /// because devices would take what it signs for stale or forged.
    func issueTime(_ view: any RegistryView, now: UnixTime) throws(RegistryError) -> UnixTime {
        var greatest = try view.timestamp()?.issued ?? now
        if let stored = try view.newest("snapshot") {
            let document: SnapshotDocument
            do { document = try Claim.document(in: stored.bytes, role: .snapshot) } catch {
                throw .damaged(what: "snapshot version \(stored.version)", reason: "\(error)")
            }
            greatest = max(greatest, document.issued ?? greatest)
        }
        guard greatest.seconds(since: now) <= OnlineLifetime.clockTolerance else {
            throw .clockBehind(now: now, signed: greatest)
        }
        return max(now, greatest)
    }

    private func file(_ role: RoleName, _ document: some SignedDocument) throws(RegistryError) -> RoleFile {
        do {
            let bytes = try Authoring.envelope(signing: document, by: [signer])
            return RoleFile(
                role: "\(role)",
                version: document.version,
                bytes: bytes,
                sha256: SHA256.digest(of: bytes)
            )
        } catch {
            throw .signing(reason: "\(error)")
        }
    }
}
