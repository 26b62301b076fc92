package import CanonicalJSON
package import Names
package import Signing
package import Trust

/// A whole repository in memory, every field of which a test may turn into a lie.
///
/// Documents are what will be signed next; `files` is what a client is served.
package struct SimulatedRepository: Sendable {
    package var now: UnixTime
    package var root: RootDocument
    package var timestamp: TimestampDocument
    package var snapshot: SnapshotDocument

    /// The top-level targets role and every delegated one.
    package var roles: [RoleName: TargetsDocument] = [:]

    /// Who signs a role, top-level or delegated.
    package var signers: [RoleName: [SoftwareKey]] = [:]

    /// What is done to `signed` of a role before it is signed, for lies that its document cannot tell.
    package var rewriting: [RoleName: @Sendable (inout JSONObject) -> Void] = [:]

    /// What is served under `metadata/`.
    package var files: [String: [UInt8]] = [:]

    /// An empty repository with one Ed25519 key for each top-level role, published as version 1.
    package init(now: UnixTime, sealift: SealiftRootPolicy?) throws {
        self.now = now
        let day: Int64 = 86_400
        for role in [RoleName.root, .timestamp, .snapshot, .targets] {
            signers[role] = [try SoftwareKey.generate(.ed25519)]
        }
        root = RootDocument(
            version: 1,
            expires: now.adding(seconds: 365 * day),
            keys: signers.values.flatMap { $0.map { KeyObject($0.publicKey) } },
            roles: signers.mapValues { keys in
                RoleKeys(keyIDs: keys.map { Authoring.keyID(of: $0.publicKey) }, threshold: 1)
            },
            sealift: sealift
        )
        snapshot = SnapshotDocument(version: 0, expires: now, issued: nil, roles: [:])
        timestamp = TimestampDocument(version: 0, expires: now, issued: nil, snapshot: MetaFile(version: 1))
        roles[.targets] = TargetsDocument(version: 1, expires: now.adding(seconds: 365 * day), targets: [:])
        try publishRoot()
        try publish()
    }

    // MARK: changing

    /// Gives `role` new keys in the next root, which is not published yet.
    package mutating func rotate(
        _ role: RoleName,
        to algorithm: KeyAlgorithm = .ed25519,
        count: Int = 1,
        threshold: Int = 1
    ) throws {
        if role == .root { retiring += signers[.root] ?? [] }
        let keys = try (0..<count).map { _ in try SoftwareKey.generate(algorithm) }
        for key in keys { root.keys[Authoring.keyID(of: key.publicKey)] = KeyObject(key.publicKey) }
        root.roles[role] = RoleKeys(
            keyIDs: keys.map { Authoring.keyID(of: $0.publicKey) },
            threshold: threshold
        )
        signers[role] = keys
    }

    /// Root keys that must still sign the next root.
    private var retiring: [SoftwareKey] = []

    /// Lets `parent` delegate `paths` to `role`, with a new key and an empty document, behind its other delegations.
    package mutating func delegate(
        _ role: RoleName,
        by parent: RoleName,
        paths: [String],
        terminating: Bool = true
    ) throws {
        let key = try signers[role]?.first ?? SoftwareKey.generate(.ed25519)
        signers[role] = [key]
        let delegation = Delegation(
            name: role.description,
            keyIDs: [Authoring.keyID(of: key.publicKey)],
            threshold: 1,
            paths: paths,
            terminating: terminating
        )
        var delegations = roles[parent]?.delegations ?? Delegations(keys: [], roles: [])
        delegations.keys[Authoring.keyID(of: key.publicKey)] = KeyObject(key.publicKey)
        delegations.roles.append(delegation)
        roles[parent]?.delegations = delegations
        if roles[role] == nil {
            let issued = role == SealiftRole.hold.roleName ? now : nil
            let days: Int64 = issued == nil ? 90 : 7
            roles[role] = TargetsDocument(
                version: 0,
                expires: now.adding(seconds: days * 86_400),
                issued: issued,
                targets: [:]
            )
        }
    }

    // MARK: publishing

    /// Serves the root, signed by its own keys and those it replaces, and makes ready for the next version.
    package mutating func publishRoot() throws {
        let name = RoleName.root.fileName(version: root.version)
        files[name] = try envelope(of: root, .root, by: (signers[.root] ?? []) + retiring)
        retiring = []
        root.version += 1
    }

    /// Signs and serves `role` as its next version; the snapshot does not know yet.
    package mutating func sign(_ role: RoleName) throws {
        guard var document = roles[role] else { return }
        document.version = max(document.version, (snapshot.roles[role]?.version ?? 0) + 1)
        roles[role] = document
        files[served(role, document.version)] = try envelope(of: document, role)
        snapshot.roles[role] = MetaFile(version: document.version)
    }

    /// Signs everything anew: each of `changed` (all roles by default), then snapshot and timestamp.
    package mutating func publish(_ changed: [RoleName]? = nil) throws {
        for role in (changed ?? Array(roles.keys)).sorted() { try sign(role) }
        try publishSnapshot()
    }

    package mutating func publishSnapshot() throws {
        snapshot.version += 1
        snapshot.issued = now
        snapshot.expires = now.adding(seconds: 7 * 86_400)
        try signSnapshot()
        try publishTimestamp()
    }

    /// Serves the snapshot as it is.
    package mutating func signSnapshot() throws {
        let bytes = try envelope(of: snapshot, .snapshot)
        files[served(.snapshot, snapshot.version)] = bytes
        timestamp.snapshot = MetaFile(
            version: snapshot.version,
            length: UInt64(bytes.count),
            hashes: ["sha256": SHA256.digest(of: bytes).bytes]
        )
    }

    package mutating func publishTimestamp() throws {
        timestamp.version += 1
        timestamp.issued = now
        timestamp.expires = now.adding(seconds: 3 * 86_400)
        try signTimestamp()
    }

    /// Serves the timestamp as it is.
    package mutating func signTimestamp() throws {
        files["timestamp.json"] = try envelope(of: timestamp, .timestamp)
    }

    /// The file of a document, rewritten where that is asked for, signed by the role's signers or by others.
    package func envelope(
        of document: some SignedDocument,
        _ role: RoleName,
        by keys: [SoftwareKey]? = nil
    ) throws -> [UInt8] {
        var signed = document.signed
        if let rewrite = rewriting[role], var object = signed.object {
            rewrite(&object)
            signed = .object(object)
        }
        return try Authoring.envelope(signing: signed, by: keys ?? signers[role] ?? [])
    }

    private func served(_ role: RoleName, _ version: Int64) -> String {
        root.consistentSnapshot ? "\(version).\(role).json" : "\(role).json"
    }
}

extension SimulatedRepository {
    /// A Sealift repository with one model, published.
    package static func sealift(_ model: ModelName, now: UnixTime) throws -> SimulatedRepository {
        let lifetimes: [RoleName: Int64] = [
            .timestamp: 3 * 86_400, .snapshot: 7 * 86_400, SealiftRole.hold.roleName: 7 * 86_400,
        ]
        let policy = SealiftRootPolicy(
            logOrigin: "registry.test/log",
            logKeys: [
                SealiftRootPolicy.LogKey(
                    verifierKey: "registry.test/log+00000000+AQOhB7/zzhC+HXDdGOdLwJln5NYwm6UNXx3chmQSVTG4",
                    from: 0
                )
            ],
            maximumLifetimes: lifetimes
        )
        var repository = try SimulatedRepository(now: now, sealift: policy)
        repository.roles[.targets]?.targets["sealift/settings.json"] = TargetFile(of: Array("{}".utf8))
        for role in [SealiftRole.hold, .namespace(model.namespace), .live(model), .release(model)] {
            guard let parent = role.delegator, let pattern = role.pattern else { continue }
            try repository.delegate(role.roleName, by: parent.roleName, paths: [pattern])
        }
        repository.roles[SealiftRole.live(model).roleName]?.targets["\(model)/live.json"] =
            TargetFile(of: Array("live".utf8))
        repository.roles[SealiftRole.release(model).roleName]?.targets["\(model)/1.0.0.json"] =
            TargetFile(of: Array("manifest".utf8))
        try repository.publish()
        return repository
    }
}
