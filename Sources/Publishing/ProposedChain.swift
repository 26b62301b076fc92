import Names
import Trust

/// The chain that changes lead to; its new documents are claims until their signatures are counted.
struct ProposedChain {
    let state: RegistryState
    let root: RootDocument
    private let documents: [SealiftRole: TargetsDocument]

    init(on state: RegistryState, root: RootDocument, documents: [SealiftRole: TargetsDocument]) {
        self.state = state
        self.root = root
        self.documents = documents
    }

    init(_ proposal: Proposal, on state: RegistryState) throws(PublishingError) {
        var root = try state.root().document
        var documents: [SealiftRole: TargetsDocument] = [:]
        for role in proposal.roles {
            do {
                if role.role == .root {
                    root = try RootDocument(signed: role.signed, role: .root)
                    continue
                }
                guard let sealiftRole = SealiftRole(role.role), sealiftRole != .hold else {
                    throw TrustError.shape(role: role.role, reason: "no role that people sign has this name")
                }
                documents[sealiftRole] = try TargetsDocument(signed: role.signed, role: role.role)
            } catch { throw .unpublishable("\(error)") }
        }
        self.init(on: state, root: root, documents: documents)
    }

    func document(_ role: SealiftRole) -> TargetsDocument? {
        documents[role] ?? state.roles[role]?.document
    }

    /// Who must sign a role of the result: for a root both the keys of the old one and its own (TUF 1.0.34, 5.3.4).
    func quorums(for role: RoleName) throws(PublishingError) -> [Quorum] {
        do {
            if role == .root {
                let own = try root.quorum(for: .root)
                let before = try state.root().document.quorum(for: .root)
                return before == own ? [own] : [before, own]
            }
            guard let delegator = SealiftRole(role)?.delegator else { return [try root.quorum(for: role)] }
            guard let parent = document(delegator) else {
                throw TrustError.notDelegated(role: role, by: delegator.roleName)
            }
            return [try parent.quorum(for: role, named: delegator.roleName)]
        } catch let error as PublishingError { throw error } catch {
            guard case .namespace(let namespace) = SealiftRole(role) else { throw .unpublishable("\(error)") }
            throw .unpublishable(
                "there is no namespace \(namespace) here; an administrator adds one with ‘sealift namespace add’"
            )
        }
    }
}
