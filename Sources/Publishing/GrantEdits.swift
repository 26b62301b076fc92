package import Names
import Trust

extension RegistryDraft {
    /// Changes whose signatures a namespace needs, and whose it is in words; signed by the administrators.
    ///
    /// - Throws: `PublishingError.usage` for keys that are not there, `.unpublishable` for a namespace that is not, and
    ///   for fewer keys than are to sign.
    package mutating func changeKeys(
        of namespace: Namespace,
        _ change: KeyChange,
        owner: OwnerName? = nil
    ) throws(PublishingError) {
        try changeKeys(of: [.namespace(namespace)], change, owner)
    }

    /// Which of a model's two roles are meant.
    package enum ModelRoles: Sendable {
        case both, release, live
    }

    /// Changes whose signatures a model's releases need, or putting it into use, or both; signed by the team.
    ///
    /// - Throws: As ``changeKeys(of:_:owner:)``.
    package mutating func changeKeys(
        of model: ModelName,
        _ roles: ModelRoles,
        _ change: KeyChange,
        owner: OwnerName? = nil
    ) throws(PublishingError) {
        let changed: [SealiftRole] =
            switch roles {
            case .both: [.live(model), .release(model)]
            case .release: [.release(model)]
            case .live: [.live(model)]
            }
        try changeKeys(of: changed, change, owner)
    }

    /// - Precondition: All of `roles` have one delegator.
    private mutating func changeKeys(
        of roles: [SealiftRole],
        _ change: KeyChange,
        _ owner: OwnerName?
    ) throws(PublishingError) {
        guard let parent = roles.first?.delegator else { return }
        var lines: [String] = []
        var changed: [RoleName] = []
        for role in roles {
            guard let before = document(parent)?.delegations?[role.roleName]?.roleKeys else {
                throw .unpublishable(
                    "there is no \(role) here; ‘sealift metadata status’ lists every role"
                )
            }
            let after = try before.applying(change, to: "\(role)")
            if after != before { changed.append(role.roleName) }
            lines += before.differences(to: after, of: "\(role)")
            if let owner { lines.append("\(role) is of \(owner)") }
            own(role, by: owner)
        }
        guard !lines.isEmpty else {
            let names = roles.map(\.name).joined(separator: ", ")
            throw .usage("\(names): exactly these keys and this threshold are so already")
        }
        try edit(parent) { document throws(PublishingError) in
            try document.replaceKeys(of: changed, change)
        }
        for line in lines { note(line) }
        try signAgainWhatWouldBeStranded()
    }
}
