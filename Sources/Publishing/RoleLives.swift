package import Names
package import Signing
package import Trust

/// One role as people look after it.
package struct RoleStatus: Sendable, Equatable {
    package let role: RoleName
    package let version: Int64
    package let expires: UnixTime
    package let keyIDs: [String]
    package let threshold: Int

    /// The key IDs whose signatures counted.
    package let signers: [String]
}

extension RegistryState {
    /// Every role that was read, the root first, parents before what hangs from them.
    package func lives() throws(PublishingError) -> [RoleStatus] {
        let root = try root()
        let chain = ProposedChain(on: self, root: root.document, documents: [:])
        func status(
            _ role: RoleName,
            _ version: Int64,
            _ expires: UnixTime,
            _ signers: [String]
        ) throws(PublishingError) -> RoleStatus {
            let quorum = try chain.quorums(for: role).last
            return RoleStatus(
                role: role,
                version: version,
                expires: expires,
                keyIDs: quorum?.keys.keys.sorted() ?? [],
                threshold: quorum?.threshold ?? 0,
                signers: signers
            )
        }
        var lives = [try status(.root, root.document.version, root.document.expires, root.signers)]
        let roles = self.roles.sorted { ($0.key.depth, $0.key.name) < ($1.key.depth, $1.key.name) }
        for (role, file) in roles {
            let document = file.document
            lives.append(try status(role.roleName, document.version, document.expires, file.signers))
        }
        return lives
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
