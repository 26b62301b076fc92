package import Names
package import Signing
package import Trust

/// One role as people look after it.
package struct RoleStatus: Sendable, Equatable {
    package let role: RoleName

    /// `nil` while nobody has signed it.
    package let version: Int64?
    package let expires: UnixTime?
    package let keyIDs: [String]
    package let threshold: Int

    /// The key IDs whose signatures counted.
    package let signers: [String]

    fileprivate init(
        _ role: RoleName,
        _ keys: RoleKeys,
        _ version: Int64?,
        _ expires: UnixTime?,
        _ signers: [String]
    ) {
        self.role = role
        self.version = version
        self.expires = expires
        keyIDs = keys.keyIDs.sorted()
        threshold = keys.threshold
        self.signers = signers
    }

    fileprivate init<Document: SignedDocument>(_ file: Verified<Document>, _ role: RoleName, _ keys: RoleKeys)
    {
        self.init(role, keys, file.document.version, file.document.expires, file.signers)
    }

    /// Whether its signatures end before `time`; a role that nobody has signed ends never.
    package func ends(before time: UnixTime) -> Bool { expires.map { $0 < time } ?? false }
}

extension RegistryState {
    /// Every role but the snapshot and the timestamp, signed or not, the root first and parents before what hangs
    /// from them; among them the registry's own hold.
    package func lives() throws(PublishingError) -> [RoleStatus] {
        let root = try root()
        func keys(_ role: RoleName) -> RoleKeys {
            root.document.roles[role] ?? RoleKeys(keyIDs: [], threshold: 0)
        }
        var lives = [RoleStatus(root, .root, keys(.root))]
        guard let targets = roles[.targets] else { return lives }
        lives.append(RoleStatus(targets, .targets, keys(.targets)))
        var delegators = [targets]
        while let delegator = delegators.popLast() {
            for delegation in delegator.document.delegations?.roles ?? [] {
                let file = SealiftRole(delegation.role).flatMap { roles[$0] }
                if let file { delegators.append(file) }
                lives.append(
                    RoleStatus(
                        delegation.role,
                        delegation.roleKeys,
                        file?.document.version,
                        file?.document.expires,
                        file?.signers ?? []
                    )
                )
            }
        }
        let depths = lives.enumerated().map { index, life in
            (index < 2 ? index : (SealiftRole(life.role)?.depth ?? 0) + 1, life)
        }
        return depths.sorted { ($0.0, $0.1.role) < ($1.0, $1.1.role) }.map(\.1)
    }
}

extension VerifiedRegistry {
    /// The roles that the registry signs by itself, as of the last refresh.
    package func onlineLives() -> [RoleStatus] {
        guard let root = currentRoot?.document else { return [] }
        func keys(_ role: RoleName) -> RoleKeys { root.roles[role] ?? RoleKeys(keyIDs: [], threshold: 0) }
        let snapshot = currentSnapshot.map { RoleStatus($0, .snapshot, keys(.snapshot)) }
        let timestamp = currentTimestamp.map { RoleStatus($0, .timestamp, keys(.timestamp)) }
        return [snapshot, timestamp].compactMap { $0 }
    }
}

extension RegistryDraft {
    /// The keys that sign a namespace.
    package func team(of namespace: Namespace) throws(PublishingError) -> [PublicKey] {
        let role = SealiftRole.namespace(namespace).roleName
        return try quorums(for: role).flatMap { quorum in
            quorum.keys.sorted { $0.key < $1.key }.map(\.value)
        }
    }
}
