import Names
package import Trust

/// A role that too few of its keys have signed, and whose signatures would help.
package struct MissingSignatures: Sendable, Equatable {
    package let role: RoleName

    /// The root whose keys these are, where a role is signed by those of two.
    package let root: Int64?

    /// Valid ones so far, of the `needed`.
    package let valid: Int
    package let needed: Int

    /// The key IDs that have not signed yet.
    package let candidates: [String]

    /// What would be missing once these keys have signed; `nil` when nothing would.
    func after(signing keyIDs: Set<String>) -> MissingSignatures? {
        let rest = candidates.filter { !keyIDs.contains($0) }
        let count = valid + candidates.count - rest.count
        guard count < needed else { return nil }
        return MissingSignatures(role: role, root: root, valid: count, needed: needed, candidates: rest)
    }

    /// Says who must sign what.
    ///
    /// - Parameter names: What people call the keys, by key ID.
    /// - Returns: One clause without a full stop.
    package func words(naming names: [String: String] = [:]) -> String {
        let who = candidates.map { KeyID.short($0, naming: names) }
        let whose = root.map { " of the keys that root \($0) names" } ?? ""
        return
            "\(role) has \(valid) of \(Counted.words(needed, "signature"))\(whose); \(needed - valid) more of "
            + (who.isEmpty ? "keys that nobody knows" : who.joined(separator: ", "))
    }
}

extension Proposal {
    /// What is still to be signed, by the state that the registry has now.
    ///
    /// - Throws: `PublishingError.unpublishable` when a role hangs from nothing.
    package func missing(on state: RegistryState) throws(PublishingError) -> [MissingSignatures] {
        let chain = try ProposedChain(self, on: state)
        var missing: [MissingSignatures] = []
        for role in roles {
            let quorums = try chain.quorums(for: role.role)
            for (index, quorum) in quorums.enumerated() {
                let valid: Int
                do {
                    if role.role == .root {
                        _ = try Untrusted<RootDocument>(role.file).verified(by: quorum)
                    } else {
                        _ = try Untrusted<TargetsDocument>(role.file).verified(by: quorum)
                    }
                    continue
                } catch {
                    guard case .thresholdNotMet(_, let counted, _) = error else {
                        throw .unpublishable("\(error)")
                    }
                    valid = counted
                }
                let candidates = quorum.keys.keys.filter { role.signatures[$0] == nil }.sorted()
                let entry = MissingSignatures(
                    role: role.role,
                    root: quorums.count == 2 ? role.version.map { $0 - 1 + Int64(index) } : nil,
                    valid: valid,
                    needed: quorum.threshold,
                    candidates: candidates
                )
                missing.append(entry)
            }
        }
        return missing
    }
}
