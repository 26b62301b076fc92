package import Names
package import Trust

extension RegistryDraft {
    /// Recalls versions from above the model's own keys: in `targets`, or in the team's role.
    ///
    /// - Parameters:
    ///   - versions: What no device may run any more.
    ///   - model: Of this model.
    ///   - role: Who says so.
    ///   - reason: For everybody who asks later.
    ///   - now: The local time.
    ///   - includingUnpublished: Whether versions count that nobody has released, which is likely a slip.
    /// - Throws: `PublishingError.unpublishable` for a version that is not released, unless it may be.
    package mutating func deny(
        _ versions: [ModelVersion],
        of model: ModelName,
        in role: SealiftRole,
        reason: String,
        now: UnixTime,
        includingUnpublished: Bool = false
    ) throws(PublishingError) {
        try checkDelegator(role, of: model)
        let denied = Set(document(role)?.deny.flatMap { $0.versions(of: model) } ?? [])
        let fresh = versions.filter { !denied.contains($0) }
        guard !fresh.isEmpty else { return }
        if !includingUnpublished { for version in fresh { try checkReleased(version, of: model) } }
        try edit(role, "\(model) \(fresh.areOrIs) denied: \(reason)") { document throws(PublishingError) in
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
        try edit(role, "\(model) \(versions.areOrIs) no longer denied") { document throws(PublishingError) in
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

    private func checkReleased(_ version: ModelVersion, of model: ModelName) throws(PublishingError) {
        let released = base.released(of: model)
        guard released[version] == nil else { return }
        let known = released.keys.sorted().suffix(8).map(\.description).joined(separator: ", ")
        throw .unpublishable(
            "\(model) \(version) was never released; released "
                + (known.isEmpty ? "is nothing of it" : "are, among others, \(known)")
                + "; to deny it all the same, before anybody releases it, give --unpublished"
        )
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

extension [ModelVersion] {
    /// `1.4.0 is`, or `1.3.0, 1.4.0 are`.
    package var areOrIs: String {
        map(\.description).joined(separator: ", ") + (count == 1 ? " is" : " are")
    }
}

extension Denial {
    fileprivate func versions(of model: ModelName) -> [ModelVersion] {
        guard self.model == model, case .versions(let versions) = subject else { return [] }
        return versions
    }
}
