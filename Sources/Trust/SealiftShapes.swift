import Names

/// The shapes of a Sealift repository, narrower than TUF's.
///
/// A delegated signer may be the attacker, so registry and device both hold
/// every file to this table before they use it:
///
/// | role | may list | may delegate, terminating, by one pattern each |
/// |---|---|---|
/// | `targets` | `sealift/settings.json` | `NS` → `NS/*/*`; `sealift~hold` → `sealift/holds/*/*` |
/// | `NS` | nothing | `NS~MODEL~live` → `NS/MODEL/live.json`, later `NS~MODEL` → `NS/MODEL/*` |
/// | `NS~MODEL` | `NS/MODEL/VERSION.json` | nothing |
/// | `NS~MODEL~live` | `NS/MODEL/live.json` | nothing |
/// | `sealift~hold` | `sealift/holds/NS/MODEL.json` | nothing |
///
/// Each role name has exactly one possible delegator, so a role reached by two
/// edges, a diamond, cannot be written.
package enum SealiftShapes {
    /// The roles whose keys are online, and whose lives the root limits.
    package static let onlineRoles: [RoleName] = [.timestamp, .snapshot, SealiftRole.hold.roleName]

    /// - Throws: `TrustError.shape` for a root that a Sealift device may not follow.
    package static func check(root: RootDocument) throws(TrustError) {
        guard let policy = root.sealift else {
            throw .shape(
                role: .root,
                reason: "no well-formed member `sealift`; is this another TUF repository?"
            )
        }
        guard root.consistentSnapshot else {
            throw .shape(role: .root, reason: "`consistent_snapshot` is not true")
        }
        for role in onlineRoles where policy.maximumLifetimes[role] == nil {
            throw .shape(role: .root, reason: "no greatest lifetime for \(role)")
        }
        for (role, seconds) in policy.maximumLifetimes.sorted(by: { $0.key < $1.key }) {
            let most = onlineRoles.contains(role) ? longestOnlineLifetime : longestLifetime
            guard seconds <= most else {
                throw .shape(
                    role: .root,
                    reason: "lets \(role) live \(seconds) seconds; the most is \(most)"
                )
            }
        }
    }

    /// The most that a root may let live what people sign, in seconds: two years.
    package static let longestLifetime: Int64 = 730 * 86_400

    /// The most that a root may let live what the registry signs by itself, in seconds: 30 days.
    package static let longestOnlineLifetime: Int64 = 30 * 86_400

    /// - Throws: `TrustError.shape` for a top-level targets document outside the table.
    package static func check(targets: TargetsDocument) throws(TrustError) {
        try check(.targets, document: targets)
    }

    /// - Throws: `TrustError.shape` for a snapshot that lists anything but roles of Sealift, by version alone.
    package static func check(snapshot: SnapshotDocument) throws(TrustError) {
        for (role, file) in snapshot.roles {
            guard SealiftRole(role) != nil else {
                throw .shape(role: .snapshot, reason: "lists \(role), which is no role of Sealift")
            }
            guard file.length == nil, file.hashes.isEmpty else {
                throw .shape(role: .snapshot, reason: "lists more than the version of \(role)")
            }
        }
    }

    /// - Throws: `TrustError.shape` for a document outside the table.
    package static func check(_ role: SealiftRole, document: TargetsDocument) throws(TrustError) {
        for (path, file) in document.targets.sorted(by: { $0.key < $1.key }) {
            guard role.mayList(path) else {
                throw .shape(role: role.roleName, reason: "it may not list \(path)")
            }
            guard file.sha256 != nil else {
                throw .shape(role: role.roleName, reason: "no SHA-256 for \(path)")
            }
        }
        try checkDelegations(of: role, in: document)
        try checkDenials(of: role, in: document)
        guard role != .hold || document.issued != nil else {
            throw .shape(role: role.roleName, reason: "no time in `issued`")
        }
    }

    private static func checkDelegations(
        of parent: SealiftRole,
        in document: TargetsDocument
    ) throws(TrustError) {
        guard let delegations = document.delegations else { return }
        guard delegations.succinct == nil else {
            throw .shape(role: parent.roleName, reason: "succinct hashed bins")
        }
        var seen: Set<SealiftRole> = []
        for delegation in delegations.roles {
            guard let role = SealiftRole(delegation.role), role.delegator == parent else {
                throw .shape(role: parent.roleName, reason: "it may not delegate to \(delegation.name)")
            }
            guard delegation.hashPrefixes == nil, delegation.paths.count == 1,
                let path = delegation.paths.first, TargetPath(path) == TargetPath(role.pattern ?? "")
            else {
                throw .shape(
                    role: parent.roleName,
                    reason: "delegates to \(role) by other paths than \(role.pattern ?? "none")"
                )
            }
            guard delegation.terminating else {
                throw .shape(role: parent.roleName, reason: "the delegation to \(role) is not terminating")
            }
            guard role != .hold || delegation.roleKeys.threshold == 1 else {
                throw .shape(role: parent.roleName, reason: "the threshold of \(role) is not 1")
            }
            let listed = delegation.roleKeys.keyIDs.filter { delegations.keys[$0] != nil }
            guard delegation.roleKeys.threshold <= listed.count else {
                throw .shape(
                    role: parent.roleName,
                    reason: "\(role) needs \(delegation.roleKeys.threshold) signatures, and \(listed.count) "
                        + "of its keys are listed"
                )
            }
            // The release role's pattern covers live.json too: only the order keeps it out.
            if case .release(let model) = role, !seen.contains(.live(model)) {
                throw .shape(
                    role: parent.roleName,
                    reason: "\(role) stands before \(SealiftRole.live(model))"
                )
            }
            seen.insert(role)
        }
        for case .live(let model) in seen where !seen.contains(.release(model)) {
            throw .shape(role: parent.roleName, reason: "\(SealiftRole.live(model)) without its release role")
        }
    }

    private static func checkDenials(of role: SealiftRole, in document: TargetsDocument) throws(TrustError) {
        guard !document.hasMalformedDeny else {
            throw .shape(role: role.roleName, reason: "`deny` holds an entry that cannot be read")
        }
        switch role {
        case .targets: break
        case .namespace(let namespace):
            for denial in document.deny where denial.model.namespace != namespace {
                throw .shape(role: role.roleName, reason: "it may not deny \(denial.model)")
            }
        case .release, .live, .hold:
            guard document.deny.isEmpty else { throw .shape(role: role.roleName, reason: "it may not deny") }
        }
    }
}

extension SealiftRole {
    fileprivate func mayList(_ path: TargetPath) -> Bool {
        let segments = path.description.split(separator: "/", omittingEmptySubsequences: false)
        guard let file = segments.last, file.hasSuffix(".json") else { return false }
        let stem = file.dropLast(".json".utf8.count)
        switch self {
        case .targets: return path == "sealift/settings.json"
        case .namespace: return false
        case .live(let model): return path == TargetPath("\(model)/live.json")
        case .release(let model):
            guard let version = ModelVersion(stem) else { return false }
            return path == TargetPath("\(model)/\(version).json")
        case .hold:
            guard segments.count == 4, let model = ModelName("\(segments[2])/\(stem)") else { return false }
            return path == TargetPath("sealift/holds/\(model).json")
        }
    }
}
