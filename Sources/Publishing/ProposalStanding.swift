import CanonicalJSON
import Manifest
import Names
import Transfer
import Trust

/// How a proposal from elsewhere stands to what is published.
package enum ProposalStanding {
    /// It may be published: what it builds on, with the documents that it may replace.
    case next(RegistryState)

    /// All of it is published, exactly so; the roles that it holds, in words.
    case published(RegistryState, String)
}

extension VerifiedRegistry {
    /// Compares a proposal with the registry, as of now.
    ///
    /// - Throws: `PublishingError`, also when other versions count now than those that the proposal follows.
    package mutating func standing(
        of proposal: Proposal
    ) async throws(PublishingError) -> ProposalStanding {
        try await refreshToRenew()
        let state = try await state(of: .everything)
        var present: [String: [UInt8]] = [:]
        var published: [String] = []
        var overtaken: PublishingError?
        for role in proposal.roles {
            let name = SealiftRole(role.role)
            let file = try current(role.role, on: state)
            let (version, found) = (file?.version ?? 0, role.version ?? 0)
            guard found != version + 1 else {
                let document = name.flatMap { state.roles[$0]?.document }
                if case .live(let model) = name {
                    let path = LiveDocument.targetPath(model: model)
                    present[path] = try await content(of: path, in: document)
                }
                continue
            }
            if found <= version, let file, await isPublished(role, file) {
                published.append("\(role.role) version \(found)")
                continue
            }
            let what =
                found <= version
                ? "another version \(found) of \(role.role) was published meanwhile, and version \(version) counts now"
                : "the proposal holds \(role.role) version \(found), but version \(version) counts now"
            overtaken =
                overtaken
                ?? .unpublishable(
                    "\(what); make the change anew on the present state and collect signatures again"
                )
        }
        if let overtaken { throw overtaken }
        guard published.isEmpty else {
            guard published.count == proposal.roles.count else {
                throw .unpublishable(
                    "\(published.joined(separator: ", ")) is published already, and the rest of the proposal is not; "
                        + "make the rest anew on the present state and collect signatures again"
                )
            }
            return .published(state, published.joined(separator: ", "))
        }
        return .next(state.reading(present))
    }

    /// As ``standing(of:)``, for somebody who is about to sign.
    ///
    /// - Throws: `PublishingError`, also when all of it is published.
    package mutating func state(under proposal: Proposal) async throws(PublishingError) -> RegistryState {
        switch try await standing(of: proposal) {
        case .next(let state): return state
        case .published(_, let roles):
            throw .unpublishable("published already: \(roles); nobody needs to sign it any more")
        }
    }

    /// The file of a role that counts; `nil` for one that is not published yet.
    private func current(
        _ role: RoleName,
        on state: RegistryState
    ) throws(PublishingError) -> (version: Int64, bytes: [UInt8])? {
        if role == .root {
            let root = try state.root()
            return (root.document.version, root.bytes)
        }
        return SealiftRole(role).flatMap { state.roles[$0] }.map { ($0.document.version, $0.bytes) }
    }

    /// Whether a version of a role that is published is the very one of a proposal, whoever signed it.
    ///
    /// An older one than counts is asked for as the registry keeps it; it only decides what is told.
    private func isPublished(_ role: Proposal.Role, _ current: (version: Int64, bytes: [UInt8])) async -> Bool
    {
        var bytes = current.bytes
        if let version = role.version, version < current.version {
            guard let older = await published(role.role, version) else { return false }
            bytes = older
        }
        let length = Int(role.role.maximumLength.rawValue)
        let file = try? JSONParser.parse(bytes, maximumLength: length)
        return file?["signed"].map { $0.olpcCanonical == role.signed.olpcCanonical } ?? false
    }
}
