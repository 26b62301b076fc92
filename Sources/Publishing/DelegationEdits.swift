package import Names
package import Signing
import Trust

/// Whose signatures a delegated role will need.
package struct RoleGrant: Sendable {
    package let keys: [PublicKey]
    package let threshold: Int

    package init(keys: [PublicKey], threshold: Int = 1) {
        self.keys = keys
        self.threshold = threshold
    }

    /// - Throws: `PublishingError.usage` for a threshold that these keys can never meet.
    func check(for what: String) throws(PublishingError) {
        let distinct = Set(keys).count
        guard distinct == keys.count else { throw .usage("\(what): a key is given twice") }
        guard (1...max(1, distinct)).contains(threshold), distinct > 0 else {
            throw .usage(
                "\(what): a threshold of \(threshold) needs at least as many keys, found \(distinct)"
            )
        }
    }
}

extension RegistryDraft {
    /// Gives a namespace to a team; signed by the administrators.
    package mutating func addNamespace(
        _ namespace: Namespace,
        grant: RoleGrant,
        owner: OwnerName? = nil
    ) throws(PublishingError) {
        let role = SealiftRole.namespace(namespace)
        try grant.check(for: "namespace \(namespace)")
        guard document(.targets)?.delegations?[role.roleName] == nil else {
            throw .unpublishable(
                "namespace \(namespace) exists already; ‘sealift namespace keys’ changes whose it is"
            )
        }
        try edit(.targets, "namespace \(namespace) goes to \(owner.map { "\($0), " } ?? "")\(grant.words)") {
            document
                throws(PublishingError) in
            document.delegate(to: role, grant)
        }
        own(role, by: owner)
    }

    /// Adds a model to its namespace, with keys of its own for releasing and for putting into use; signed by the team.
    package mutating func addModel(
        _ model: ModelName,
        release: RoleGrant,
        live: RoleGrant,
        owner: OwnerName? = nil
    ) throws(PublishingError) {
        try release.check(for: "\(model)")
        try live.check(for: "\(model), putting into use")
        let namespace = SealiftRole.namespace(model.namespace)
        guard document(.targets)?.delegations?[namespace.roleName] != nil else {
            throw .unpublishable(
                "there is no namespace \(model.namespace) here; an administrator adds one with "
                    + "‘sealift namespace add’"
            )
        }
        guard document(namespace)?.delegations?[SealiftRole.release(model).roleName] == nil else {
            throw .unpublishable("\(model) exists already; ‘sealift model keys’ changes whose it is")
        }
        let note = "model \(model) is added: releases by \(release.words), live by \(live.words)"
        try edit(namespace, note) { document throws(PublishingError) in
            // The release role's pattern covers live.json too: only the order keeps it out.
            document.delegate(to: .live(model), live)
            document.delegate(to: .release(model), release)
        }
        own(.live(model), by: owner)
        own(.release(model), by: owner)
    }

    /// Adds a model for its own team: any key of `keys` that may sign the namespace alone may sign the model alone.
    ///
    /// Where the namespace takes several signatures, its models take as many, of
    /// all its keys, until `addModel` or a change of keys says otherwise.
    package mutating func introduce(_ model: ModelName, by keys: [PublicKey]) throws(PublishingError) {
        let quorums = try quorums(for: SealiftRole.namespace(model.namespace).roleName)
        let team = quorums.flatMap(\.keys.values)
        let threshold = quorums.map(\.threshold).max() ?? 1
        let present = threshold == 1 ? keys.filter(team.contains) : []
        let grant = RoleGrant(keys: present.isEmpty ? team : present, threshold: threshold)
        try addModel(model, release: grant, live: grant)
    }

    /// Whether the namespace knows the model already.
    package func hasModel(_ model: ModelName) -> Bool {
        document(.namespace(model.namespace))?.delegations?[SealiftRole.release(model).roleName] != nil
    }
}

extension RoleGrant {
    fileprivate var words: String {
        let ids = keys.map { KeyID.short(Authoring.keyID(of: $0)) }.joined(separator: ", ")
        return keys.count == 1 ? "key \(ids)" : "\(threshold) of keys \(ids)"
    }
}

extension TargetsDocument {
    mutating func delegate(to role: SealiftRole, _ grant: RoleGrant) {
        guard let pattern = role.pattern else { return }
        var delegations = self.delegations ?? Delegations(keys: [], roles: [])
        let objects = grant.keys.map { KeyObject($0) }
        for object in objects { delegations.keys[object.id] = object }
        delegations.roles.append(
            Delegation(
                name: role.name,
                keyIDs: objects.map(\.id).sorted(),
                threshold: grant.threshold,
                paths: [pattern],
                terminating: true
            )
        )
        self.delegations = delegations
    }
}
