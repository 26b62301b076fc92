import Manifest
import Names
import RegistryAPI
import Signing
import Transparency
import Trust

/// Names of what `init` decides once.
enum SettingName {
    static let profile = "profile"
}

extension Registry {
    /// Writes the first commit into an empty store, and shows it.
    ///
    /// Root and targets signed by the keys given, an empty hold, snapshot and
    /// timestamp by the online key; their log entries in that order.
    ///
    /// - Throws: `.alreadyCreated` when the store holds a registry, `.badCreation` when keys do not fit the profile.
    package static func create(
        _ creation: RegistryCreation,
        in store: any RegistryStore
    ) async throws(RegistryError) {
        try await store.create(try creation.firstCommit())
    }
}

extension RegistryCreation {
    func firstCommit() throws(RegistryError) -> FirstCommit {
        try checkKeys()
        let online = OnlineRoles(signer: onlineSigner)
        let settings = TargetDocument(
            path: SettingsDocument.targetPath,
            sha256: SHA256.digest(of: SettingsDocument().canonical),
            bytes: SettingsDocument().canonical
        )
        var builder = RevisionBuilder(after: [:], logSize: 0, time: now)
        let root = try rootDocument()
        let targets = targetsDocument(listing: settings)
        do {
            try SealiftShapes.check(root: root)
            try SealiftShapes.check(targets: targets)
        } catch {
            throw .badCreation(reason: "\(error)")
        }
        builder.add(document: settings)
        for grant in namespaces { builder.take(grant.owner.map { [grant.namespace.description: $0] } ?? [:]) }
        try builder.add(try signed(root, "root", by: rootSigners))
        try builder.add(try signed(targets, "targets", by: targetsSigners))
        try builder.add(try online.hold(after: nil, issued: now))
        try builder.close(signedBy: online)
        guard let snapshot = builder.revision.files.last else { throw .badCreation(reason: "no snapshot") }
        return FirstCommit(
            revision: builder.revision,
            timestamp: try online.timestamp(version: 1, showing: snapshot, issued: now),
            settings: [SettingName.profile: profile.rawValue]
        )
    }

    private var expires: UnixTime { now.adding(seconds: profile.offlineLifetime) }

    private func checkKeys() throws(RegistryError) {
        let rootKeys = Set(rootSigners.map(\.publicKey))
        let targetsKeys = Set(targetsSigners.map(\.publicKey))
        guard rootKeys.count >= profile.rootThreshold else {
            throw .badCreation(
                reason:
                    "profile \(profile.rawValue) needs \(profile.rootThreshold) root keys, found \(rootKeys.count)"
            )
        }
        guard targetsKeys.count >= profile.targetsThreshold else {
            throw .badCreation(
                reason: "profile \(profile.rawValue) needs \(profile.targetsThreshold) targets keys, "
                    + "found \(targetsKeys.count)"
            )
        }
        guard !rootKeys.union(targetsKeys).contains(onlineSigner.publicKey) else {
            throw .badCreation(reason: "the online key also stands for root or targets; make another")
        }
        guard Set(namespaces.map(\.namespace)).count == namespaces.count else {
            throw .badCreation(reason: "a namespace stands twice")
        }
        for grant in namespaces where Set(grant.keys).count < max(1, grant.threshold) || grant.threshold < 1 {
            throw .badCreation(
                reason: "namespace \(grant.namespace): a threshold of \(grant.threshold) needs as many keys, "
                    + "found \(Set(grant.keys).count)"
            )
        }
    }

    private func rootDocument() throws(RegistryError) -> RootDocument {
        guard let verifierKey = NoteVerifierKey(name: logOrigin, publicKey: logKey) else {
            throw .badCreation(
                reason:
                    "the log needs an Ed25519 key and an origin without white space or `+`, found \(logOrigin)"
            )
        }
        let online = RoleKeys(keyIDs: [Authoring.keyID(of: onlineSigner.publicKey)], threshold: 1)
        return RootDocument(
            version: 1,
            expires: expires,
            keys: (rootSigners + targetsSigners + [onlineSigner]).map { KeyObject($0.publicKey) },
            roles: [
                .root: roleKeys(rootSigners.map(\.publicKey), threshold: profile.rootThreshold),
                .targets: roleKeys(targetsSigners.map(\.publicKey), threshold: profile.targetsThreshold),
                .snapshot: online,
                .timestamp: online,
            ],
            sealift: SealiftRootPolicy(
                logOrigin: logOrigin,
                logKeys: [SealiftRootPolicy.LogKey(verifierKey: verifierKey.description, from: 0)],
                maximumLifetimes: [
                    .timestamp: OnlineLifetime.timestamp,
                    .snapshot: OnlineLifetime.snapshot,
                    SealiftRole.hold.roleName: OnlineLifetime.hold,
                    .targets: profile.offlineLifetime,
                ]
            )
        )
    }

    private func targetsDocument(listing settings: TargetDocument) -> TargetsDocument {
        let hold = delegation(to: .hold, keys: [onlineSigner.publicKey], threshold: 1)
        let granted = namespaces.map { grant in
            delegation(to: .namespace(grant.namespace), keys: grant.keys, threshold: grant.threshold)
        }
        let keys = namespaces.flatMap(\.keys) + [onlineSigner.publicKey]
        return TargetsDocument(
            version: 1,
            expires: expires,
            targets: [TargetPath(settings.path): TargetFile(of: settings.bytes)],
            delegations: Delegations(keys: keys.map { KeyObject($0) }, roles: [hold] + granted)
        )
    }

    private func delegation(to role: SealiftRole, keys: [PublicKey], threshold: Int) -> Delegation {
        Delegation(
            name: role.name,
            keyIDs: roleKeys(keys, threshold: threshold).keyIDs,
            threshold: threshold,
            paths: role.pattern.map { [$0] } ?? [],
            terminating: true
        )
    }

    private func roleKeys(_ keys: [PublicKey], threshold: Int) -> RoleKeys {
        RoleKeys(keyIDs: Set(keys.map { Authoring.keyID(of: $0) }).sorted(), threshold: threshold)
    }

    private func signed(
        _ document: some SignedDocument,
        _ role: String,
        by signers: [any Signer]
    ) throws(RegistryError) -> RoleFile {
        do {
            let bytes = try Authoring.envelope(signing: document, by: signers)
            return RoleFile(role: role, version: 1, bytes: bytes, sha256: SHA256.digest(of: bytes))
        } catch {
            throw .signing(reason: "\(error)")
        }
    }
}
