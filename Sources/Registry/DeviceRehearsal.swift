import Manifest
import Names
import Trust

/// Runs the rules of devices over what a commit would show them, before it is written.
///
/// From every root that a device may be pinned to, the roots must lead to the
/// newest. From what was published last, the new timestamp and snapshot must
/// be a step forward, and every role must hold. The rules of a commit should
/// leave nothing to find here; that they do is worth a proof where keys change,
/// because a device that has been stranded cannot be called back.
struct DeviceRehearsal {
    let revision: Revision
    let view: any RegistryView
    let online: OnlineRoles
    let now: UnixTime

    /// - Throws: `RegistryError.untrusted`, naming the root from which devices would be stranded and why.
    func check() throws(RegistryError) {
        let roots = try roots()
        for start in roots.indices.dropLast() {
            do { _ = try stage(from: start, roots).settled() } catch { throw stranded(roots[start], error) }
        }
        guard let last = roots.indices.last, let snapshot = revision.files.last else { return }
        let timestamp = try online.timestamp(
            version: (try view.timestamp()?.version ?? 0) + 1,
            showing: snapshot,
            issued: revision.time
        )
        let storedTimestamp = try view.timestamp()?.bytes
        let storedSnapshot = try view.newest("snapshot")?.bytes
        let targets: TargetsStage
        do {
            var timestamps = try stage(from: last, roots).settled()
            if let storedTimestamp { timestamps.load(stored: storedTimestamp) }
            _ = try timestamps.accept(timestamp.bytes)
            var snapshots = try timestamps.settled()
            if let storedSnapshot { snapshots.load(stored: storedSnapshot) }
            try snapshots.accept(snapshot.bytes)
            targets = try snapshots.settled()
        } catch { throw stranded(roots[last], error) }
        try check(targets, from: roots[last])
    }

    private func check(_ settled: TargetsStage, from root: RoleFile) throws(RegistryError) {
        var settled = settled
        var documents: [SealiftRole: Verified<TargetsDocument>] = [:]
        let roles = settled.snapshot.document.roles.keys.compactMap { SealiftRole($0) }
        for role in roles.sorted(by: { ($0.steps, $0.name) < ($1.steps, $1.name) }) {
            let parent = role.delegator.flatMap { documents[$0] }
            // A role below one that has ended is nobody's to use, before this commit and after it.
            guard role == .targets || parent != nil else { continue }
            let posted = revision.files.first { $0.role == role.name }
            guard let file = try newest(role.name) else { continue }
            do {
                documents[role] = try settled.accept(file.bytes, .fetched, as: role.roleName, under: parent)
            } catch {
                if posted == nil, case .expired = error { continue }
                throw stranded(root, error)
            }
        }
    }

    private func stage(from start: Int, _ roots: [RoleFile]) throws(TrustError) -> RootStage {
        let clock = TrustClock(policy: .sealift, local: now)
        var stage = try RootStage(anchor: roots[start].bytes, clock: clock)
        for root in roots[(start + 1)...] { try stage.advance(to: root.bytes) }
        return stage
    }

    /// The roots that a device may be pinned to, by the settings that this commit leads to, and the newest.
    private func roots() throws(RegistryError) -> [RoleFile] {
        guard let newest = try newest("root") else { throw .notCreated }
        var roots: [RoleFile] = []
        for version in try oldestRoot()..<max(newest.version, try oldestRoot()) {
            guard let root = try view.file("root", version) else { continue }
            roots.append(root)
        }
        return roots + [newest]
    }

    private func oldestRoot() throws(RegistryError) -> Int64 {
        guard let file = try newest("targets") else { return 1 }
        let path = SettingsDocument.targetPath
        do {
            let targets: TargetsDocument = try Claim.document(in: file.bytes, role: .targets)
            guard let digest = targets.targets[TargetPath(path)]?.sha256 else { return 1 }
            let brought = revision.documents.first { $0.path == path && $0.sha256 == digest }
            let stored = try view.document(path, digest)
            guard let content = brought ?? stored else { return 1 }
            return try SettingsDocument(canonical: content.bytes).oldestRoot
        } catch let error as RegistryError { throw error } catch {
            throw .badDocument(path: path, reason: "\(error)")
        }
    }

    /// The file of a role as this commit leaves it.
    private func newest(_ role: String) throws(RegistryError) -> RoleFile? {
        if let posted = revision.files.first(where: { $0.role == role }) { return posted }
        return try view.newest(role)
    }

    private func stranded(_ root: RoleFile, _ error: TrustError) -> RegistryError {
        .untrusted(
            role: "root",
            reason: "a device pinned to root \(root.version) would be stranded: \(error)"
        )
    }
}

extension SealiftRole {
    /// Delegations between the root and this role.
    fileprivate var steps: Int {
        switch self {
        case .targets: 0
        case .namespace, .hold: 1
        case .release, .live: 2
        }
    }
}
