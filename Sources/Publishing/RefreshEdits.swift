package import Names
package import Trust

extension RegistryDraft {
    /// Signs again what ends soon, as far as the keys at hand suffice; ``RegistryState/ending(before:after:)`` has the rest.
    ///
    /// - Parameters:
    ///   - limit: Roles whose signatures end before it are due.
    ///   - keyIDs: The keys that can sign.
    /// - Throws: `PublishingError` for a role that hangs from nothing.
    package mutating func refresh(
        expiringBefore limit: UnixTime,
        by keyIDs: Set<String>
    ) throws(PublishingError) {
        func maySign(_ role: RoleName) throws(PublishingError) -> Bool {
            try quorums(for: role).allSatisfy { $0.keys.keys.filter(keyIDs.contains).count >= $0.threshold }
        }
        if root.expires < limit, try maySign(.root) { try editRoot("root lives until \(expires)") }
        let roles = base.roles.sorted { ($0.key.depth, $0.key.name) < ($1.key.depth, $1.key.name) }
        for (role, file) in roles where role != .hold && file.document.expires < limit {
            if try maySign(role.roleName) { try edit(role, "\(role) lives until \(expires)") }
        }
    }

    /// The next version of one role, unchanged but for its life, to be signed elsewhere.
    package mutating func renew(_ role: RoleName) throws(PublishingError) {
        let note = "\(role) lives until \(expires)"
        guard role != .root else { return try editRoot(note) }
        guard let sealiftRole = SealiftRole(role), sealiftRole != .hold else {
            throw .usage("\(role) is no role that people sign: root, targets, NS, NS~MODEL or NS~MODEL~live")
        }
        guard document(sealiftRole) != nil else { throw .unpublishable("\(role) has no file here yet") }
        try edit(sealiftRole, note)
    }
}
