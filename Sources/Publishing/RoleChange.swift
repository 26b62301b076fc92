package import Names
package import RegistryAPI
package import Signing
package import Trust

/// The signed state of one model's roles, as the registry's verified chain has it now.
///
/// An absent role has published nothing yet.
package struct ModelRoles: Sendable {
    package var namespace: TargetsDocument?
    package var release: TargetsDocument?
    package var live: TargetsDocument?

    package init(namespace: TargetsDocument?, release: TargetsDocument?, live: TargetsDocument?) {
        self.namespace = namespace
        self.release = release
        self.live = live
    }
}

/// What a publisher wants to be listed from now on.
package struct RoleChange: Sendable {
    package let model: ModelName

    /// A new manifest; `nil` when only the channels change.
    package var manifest: (path: String, content: [UInt8])?

    /// The new `live.json`; `nil` when only a version is released.
    package var live: [UInt8]?

    package init(model: ModelName) { self.model = model }

    /// Writes and signs the next version of every role that the change touches.
    ///
    /// A model that has no roles yet gets them: the namespace role delegates to
    /// `…~live` first and then to the release role, both to the same key.
    ///
    /// - Parameters:
    ///   - roles: The state that the change builds on.
    ///   - targets: The verified top-level role, which says whose the namespace is.
    ///   - signer: The publisher's key.
    ///   - now: Becomes the time from which `lifetime` counts.
    ///   - lifetime: Seconds that the new signatures hold.
    /// - Returns: The commit, role files in the order in which they depend on each other.
    /// - Throws: `PublishingError.unpublishable` when this key alone cannot sign a role, naming who can.
    package func signed(
        on roles: ModelRoles,
        targets: TargetsDocument,
        by signer: any Signer,
        now: UnixTime,
        lifetime: Int64
    ) throws(PublishingError) -> CommitRequest {
        var commit: [CommitRequest.Role] = []
        var contents: [CommitRequest.Target] = []
        let expires = now.adding(seconds: lifetime)
        func add(
            _ role: SealiftRole,
            _ document: TargetsDocument,
            delegatedBy parent: TargetsDocument?
        )
            throws(PublishingError)
        {
            try Self.check(signer, maySign: role, delegatedBy: parent)
            do {
                let metadata = try Authoring.envelope(signing: document, by: [signer])
                commit.append(CommitRequest.Role(role: role.name, metadata: metadata))
            } catch { throw .unpublishable("\(role) could not be signed: \(error)") }
        }

        let release = SealiftRole.release(model)
        let live = SealiftRole.live(model)
        var parent = roles.namespace
        if parent?.delegations?[release.roleName] == nil || parent?.delegations?[live.roleName] == nil {
            let document = Self.introducing(model, key: signer.publicKey, to: parent, expires: expires)
            try add(.namespace(model.namespace), document, delegatedBy: targets)
            parent = document
        }
        if let manifest {
            let document = Self.listing(manifest.path, manifest.content, in: roles.release, expires: expires)
            try add(release, document, delegatedBy: parent)
            contents.append(CommitRequest.Target(path: manifest.path, content: manifest.content))
        }
        if let content = self.live {
            let path = "\(model)/live.json"
            let document = Self.listing(path, content, in: roles.live, expires: expires)
            try add(live, document, delegatedBy: parent)
            contents.append(CommitRequest.Target(path: path, content: content))
        }
        return CommitRequest(roles: commit, targets: contents)
    }

    /// The next version of a role with one file added or replaced.
    private static func listing(
        _ path: String,
        _ content: [UInt8],
        in role: TargetsDocument?,
        expires: UnixTime
    ) -> TargetsDocument {
        var document = role ?? TargetsDocument(version: 0, expires: expires, targets: [:])
        document.version += 1
        document.expires = expires
        document.targets[TargetPath(path)] = TargetFile(of: content)
        return document
    }

    /// The next version of a namespace role, which then delegates to `model`.
    private static func introducing(
        _ model: ModelName,
        key: PublicKey,
        to namespace: TargetsDocument?,
        expires: UnixTime
    ) -> TargetsDocument {
        var document = namespace ?? TargetsDocument(version: 0, expires: expires, targets: [:])
        document.version += 1
        document.expires = expires
        let object = KeyObject(key)
        var delegations = document.delegations ?? Delegations(keys: [], roles: [])
        delegations.keys[object.id] = object
        for role in [SealiftRole.live(model), .release(model)] {
            guard delegations[role.roleName] == nil, let pattern = role.pattern else { continue }
            delegations.roles.append(
                Delegation(
                    name: role.name,
                    keyIDs: [object.id],
                    threshold: 1,
                    paths: [pattern],
                    terminating: true
                )
            )
        }
        document.delegations = delegations
        return document
    }

    private static func check(
        _ signer: any Signer,
        maySign role: SealiftRole,
        delegatedBy parent: TargetsDocument?
    ) throws(PublishingError) {
        guard let delegation = parent?.delegations?[role.roleName] else {
            let owner = role.delegator.map { "\($0)" } ?? "root"
            throw .unpublishable(
                "there is no \(role) here: \(owner) does not delegate to it; an administrator adds a namespace with "
                    + "‘sealift init --namespace’"
            )
        }
        let id = Authoring.keyID(of: signer.publicKey)
        guard delegation.roleKeys.keyIDs.contains(id) else {
            throw .unpublishable(
                "this key (\(id.prefix(16))…) may not sign \(role); expected one of "
                    + delegation.roleKeys.keyIDs.map { "\($0.prefix(16))…" }.joined(separator: ", ")
                    + "; give the right key with --key"
            )
        }
        guard delegation.roleKeys.threshold == 1 else {
            throw .unpublishable(
                "\(role) needs \(delegation.roleKeys.threshold) signatures, and one key signs here"
            )
        }
    }
}
