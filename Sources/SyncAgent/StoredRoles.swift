import Durable
import Generations
import Manifest
import Names
import Signing
import Transfer
import Trust

/// The signed roles that a device keeps in `trust/`, verified from a root without a network.
///
/// Each must be signed by enough keys of those that its delegator names. When
/// they end is not looked at: what was signed was signed, also when it is too
/// old to bring anything new.
struct StoredRoles: Sendable {
    private let store: any MetadataStore
    private let root: RootDocument

    /// - Throws: `SyncError` of kind `refused` when `anchor` is no root.
    init(anchor: [UInt8], store: any MetadataStore, clock: TrustClock) throws(SyncError) {
        guard let root = Self.newestRoot(anchor: anchor, store: store, clock: clock) else {
            throw SyncError(code: .metadata, "the root of trust is not a root that is signed by its own keys")
        }
        self.root = root
        self.store = store
    }

    /// The newest root that the stored ones lead to.
    static func newestRoot(anchor: [UInt8], store: any MetadataStore, clock: TrustClock) -> RootDocument? {
        guard var roots = try? RootStage(anchor: anchor, clock: clock, keepsChain: false) else { return nil }
        while true {
            let next = RoleName.root.fileName(version: roots.root.document.version + 1)
            guard let bytes = try? store.load("root_history/\(next)"),
                (try? roots.advance(to: bytes)) != nil
            else { return roots.root.document }
        }
    }

    /// A document that enough keys of `quorum` signed, in the shape of its role.
    static func document(
        _ bytes: [UInt8],
        _ role: SealiftRole,
        _ quorum: Quorum
    ) throws(TrustError) -> TargetsDocument {
        let verified = try Untrusted<TargetsDocument>(bytes).verified(by: quorum)
        try SealiftShapes.check(role, document: verified.document)
        return verified.document
    }

    /// What the release role of `model` signed, as stored.
    private func release(of model: ModelName) throws(TrustError) -> TargetsDocument {
        try stored(.release(model), of: model)
    }

    /// A role of `model` that its team delegates to.
    private func stored(_ role: SealiftRole, of model: ModelName) throws(TrustError) -> TargetsDocument {
        let team = SealiftRole.namespace(model.namespace).roleName
        let administrators = try stored(.targets, try root.quorum(for: .targets))
        let owners = try stored(
            .namespace(model.namespace),
            try administrators.quorum(for: team, named: .targets)
        )
        return try stored(role, try owners.quorum(for: role.roleName, named: team))
    }

    /// What is signed of `model`, as stored; holds are not in it.
    ///
    /// - Returns: `nil` where that does not say which versions are released, and what became of them.
    func chain(of model: ModelName, denials: [Denial]) -> ModelChain? {
        let path = LiveDocument.targetPath(model: model)
        guard let release = try? release(of: model), let live = try? stored(.live(model), of: model),
            let file = live.targets[TargetPath(path)], let digest = file.sha256,
            let bytes = (try? store.load(TargetContents.name(of: digest))) ?? nil, file.describes(bytes),
            let document = try? LiveDocument(canonical: bytes, at: path)
        else { return nil }
        var chain = ModelChain(model: model, live: document, denials: denials)
        chain.add(release)
        return chain
    }

    /// The versions that the release role of `model` lists.
    func versions(of model: ModelName) throws(TrustError) -> [ModelVersion] {
        try release(of: model).targets.keys.compactMap { path in
            ModelManifest.version(at: path.description, of: model)
        }
    }

    private func stored(_ role: SealiftRole, _ quorum: Quorum) throws(TrustError) -> TargetsDocument {
        guard let bytes = (try? store.load(role.roleName.fileName)) ?? nil else {
            throw .missing(role: role.roleName)
        }
        return try Self.document(bytes, role, quorum)
    }

    /// Holds the manifest of a version to what the release role signed.
    ///
    /// - Throws: `SyncError` of kind `refused`, with both digests when they differ.
    func check(_ identity: VersionIdentity) throws(SyncError) {
        let name = "\(identity.model) \(identity.version)"
        let path = ModelManifest.targetPath(model: identity.model, version: identity.version)
        let release: TargetsDocument
        do throws(TrustError) { release = try self.release(of: identity.model) } catch {
            throw SyncError(
                code: error.code,
                "\(name): the signed metadata on this device does not tell what was signed (\(error)); run "
                    + "`sealift sync` to get it again"
            )
        }
        let signed = release.targets[TargetPath(path)]?.sha256
        guard signed != identity.manifest else { return }
        let expected = signed.map { "\($0)" } ?? "no manifest of this version"
        throw SyncError(
            code: .damaged,
            "\(name) is not what was signed: its release role, version \(release.version), lists \(expected), but "
                + "the manifest on this device has SHA-256 \(identity.manifest); run `sealift sync` to get "
                + "what was signed"
        )
    }
}

extension SyncedDevice {
    /// Reads every byte of the active generation again and compares it with the signed manifests.
    ///
    /// Each manifest is held to the release role that lists it, and that role,
    /// by the metadata in `trust/`, to the root of trust. Whoever can write the
    /// directory can write that metadata and the note of the root too, so proof
    /// against such a hand needs the root from elsewhere. Blocks for as long as
    /// all that takes.
    ///
    /// - Parameter root: The file of the root of trust; `nil` is the one that the directory began with.
    /// - Returns: The number of bytes read.
    /// - Throws: `SyncError` of kind `refused`, naming the first file or version that differs.
    public func verify(root: String? = nil) throws(SyncError) -> UInt64 {
        let active = try onDisk { () throws(GenerationError) in try device.activeGeneration() }
        guard let active else { throw SyncError(GenerationError.nothingActive(directory: device.path)) }
        let store = FolderMetadataStore(directory: device.trustPath)
        let roles = try StoredRoles(
            anchor: try anchor(root, store),
            store: store,
            clock: TrustClock(policy: .sealift, local: clock())
        )
        for model in active.record.models { try roles.check(model.identity) }
        return try onDisk { () throws(GenerationError) in
            var read: UInt64 = 0
            for model in active.record.models { read += try active.model(model.identity.model).verify() }
            return read
        }
    }

    /// The root to begin with: the given one, the one that the directory began with, or the newest that is stored.
    func anchor(_ file: String?, _ store: FolderMetadataStore) throws(SyncError) -> [UInt8] {
        if let file { return try PinnedRoot.bytes(ofFile: file) }
        let pinned = PinnedRoot.load(from: device)
        if let pinned, let first = (try? store.load(pinned.historyName)) ?? nil,
            SHA256.digest(of: first) == pinned.sha256
        {
            return first
        }
        guard let newest = (try? store.load(RoleName.root.fileName)) ?? nil else {
            throw SyncError(
                code: .metadata,
                "\(device.trustPath) holds no root of trust, so nobody can tell what was signed; give --root FILE, "
                    + "or run `sealift sync` to get the signed metadata again"
            )
        }
        return newest
    }
}
