package import Names
package import Trust

/// A role that people sign and that devices need, and whose life is nearly over.
package struct EndingRole: Sendable, Equatable {
    package let role: RoleName
    package let expires: UnixTime

    /// Whoever may sign it again.
    package let keyIDs: [String]
    package let threshold: Int

    /// How long before its end people are told, in seconds: 60 days.
    package static let margin: Int64 = 60 * 86_400

    /// What there is to know, for people.
    ///
    /// - Parameters:
    ///   - names: What keys are called here, by key ID.
    ///   - now: The local time.
    /// - Returns: One line.
    package func words(naming names: [String: String], now: UnixTime) -> String {
        let left = expires.seconds(since: now)
        let time =
            left <= 0
            ? "has ended" : left < 2 * 86_400 ? "ends in \(left / 3_600) h" : "ends in \(left / 86_400) days"
        let keys = keyIDs.map { KeyID.short($0, naming: names) }
        return "\(role) \(time), at \(expires), and devices then take nothing new that hangs from it; "
            + "‘sealift metadata refresh’ signs it again, with \(threshold) of \(keys.joined(separator: ", "))"
    }
}

extension RegistryState {
    /// The roles that people must soon sign again, the root first, of those that were read.
    ///
    /// - Parameters:
    ///   - limit: Those that end before it.
    ///   - proposal: What changes first.
    /// - Returns: The roles as they are then.
    /// - Throws: `PublishingError` for a role that hangs from nothing.
    package func ending(
        before limit: UnixTime,
        after proposal: Proposal? = nil
    ) throws(PublishingError) -> [EndingRole] {
        let chain =
            if let proposal {
                try ProposedChain(proposal, on: self)
            } else {
                ProposedChain(on: self, root: try root().document, documents: [:])
            }
        var ending: [EndingRole] = []
        func look(_ role: RoleName, _ expires: UnixTime) throws(PublishingError) {
            guard expires < limit, let quorum = try chain.quorums(for: role).last else { return }
            ending.append(
                EndingRole(
                    role: role,
                    expires: expires,
                    keyIDs: quorum.keys.keys.sorted(),
                    threshold: quorum.threshold
                )
            )
        }
        try look(.root, chain.root.expires)
        let proposed = proposal?.roles.compactMap { SealiftRole($0.role) } ?? []
        let roles = Set(roles.keys).union(proposed).subtracting([.hold])
        for role in roles.sorted(by: { ($0.depth, $0.name) < ($1.depth, $1.name) }) {
            guard let document = chain.document(role) else { continue }
            try look(role.roleName, document.expires)
        }
        return ending
    }
}
