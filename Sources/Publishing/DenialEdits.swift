package import Names
package import Trust

extension RegistryDraft {
    /// Recalls versions from above the model's own keys: in `targets`, or in the team's role.
    package mutating func deny(
        _ versions: [ModelVersion],
        of model: ModelName,
        in role: SealiftRole,
        reason: String,
        now: UnixTime
    ) throws(PublishingError) {
        try checkDelegator(role, of: model)
        let denied = Set(document(role)?.deny.flatMap { $0.versions(of: model) } ?? [])
        let fresh = versions.filter { !denied.contains($0) }
        guard !fresh.isEmpty else { return }
        let names = fresh.map(\.description).joined(separator: ", ")
        try edit(role, "\(model) \(names) is denied: \(reason)") { document throws(PublishingError) in
            document.deny.append(Denial(model: model, subject: .versions(fresh), reason: reason, since: now))
        }
    }

    /// Takes denials back.
    package mutating func liftDenial(
        of versions: [ModelVersion],
        of model: ModelName,
        in role: SealiftRole
    ) throws(PublishingError) {
        try checkDelegator(role, of: model)
        let denied = Set(document(role)?.deny.flatMap { $0.versions(of: model) } ?? [])
        if let other = versions.first(where: { !denied.contains($0) }) {
            throw .unpublishable("\(role) does not deny \(model) \(other)")
        }
        let names = versions.map(\.description).joined(separator: ", ")
        try edit(role, "\(model) \(names) is no longer denied") { document throws(PublishingError) in
            document.deny = document.deny.compactMap { denial in
                guard denial.model == model, case .versions(let listed) = denial.subject else {
                    return denial
                }
                let rest = listed.filter { !versions.contains($0) }
                guard rest.count < listed.count else { return denial }
                guard !rest.isEmpty else { return nil }
                return Denial(
                    model: model,
                    subject: .versions(rest),
                    reason: denial.reason,
                    since: denial.since
                )
            }
        }
    }

    private func checkDelegator(_ role: SealiftRole, of model: ModelName) throws(PublishingError) {
        guard document(.targets)?.delegations?[SealiftRole.namespace(model.namespace).roleName] != nil else {
            throw .unpublishable("there is no namespace \(model.namespace) here")
        }
        guard document(role) != nil else {
            throw .unpublishable("\(role) has published nothing yet, so there is nothing to deny")
        }
    }
}

extension Denial {
    fileprivate func versions(of model: ModelName) -> [ModelVersion] {
        guard self.model == model, case .versions(let versions) = subject else { return [] }
        return versions
    }
}
