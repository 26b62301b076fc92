import Generations
import Manifest
import Names
import Transfer
import Trust

/// The registry's verified chain in one sync, and the documents that hang from it.
struct RegistryChain: Sendable {
    private var updater: MetadataUpdater
    let contents: TargetContents

    private let mirrors: Mirrors

    /// Where files come from, those that failed lately last.
    var locations: [RepositoryLocation] { mirrors.inOrder }

    /// The digests of the targets that were used.
    private(set) var used: Set<Digest> = []

    /// When the first role that was used expires.
    private(set) var freshUntil: UnixTime

    /// What a person should know.
    private(set) var warnings: [String] = []

    /// Every denial that is known.
    var ledger: DenialLedger

    init(
        _ updater: MetadataUpdater,
        contents: TargetContents,
        mirrors: Mirrors,
        ledger: DenialLedger
    ) {
        self.updater = updater
        self.ledger = ledger
        if let targets = updater.targets?.document {
            self.ledger.accept(targets.deny, of: .targets, version: targets.version, by: .chain)
        }
        self.contents = contents
        self.mirrors = mirrors
        freshUntil = updater.freshUntil ?? updater.now
    }

    /// The later of this machine's clock and every signed time.
    var now: UnixTime { updater.now }

    var clockFloor: UnixTime? { updater.clockFloor }

    /// Whether an update brought more than a new date: another root, or another list of roles.
    func isBehind(_ update: MetadataUpdater) -> Bool {
        updater.root?.bytes != update.root?.bytes || updater.snapshot?.bytes != update.snapshot?.bytes
    }

    /// What the administrators ask of every device; the defaults when they signed none.
    mutating func settings() async throws(SyncError) -> SettingsDocument {
        let path = TargetPath(SettingsDocument.targetPath)
        guard let file = updater.targets?.document.targets[path] else { return SettingsDocument() }
        let bytes = try await content(of: path, file)
        do { return try SettingsDocument(canonical: bytes) } catch {
            throw SyncError(error, path.description)
        }
    }

    func denial(of identity: VersionIdentity) -> Denial? { ledger.denial(of: identity) }

    /// The roles that can take versions of a model away; what brings new ones may come later, or never.
    ///
    /// - Throws: `UpdateError` when a role cannot be had or trusted.
    mutating func roles(of model: ModelName) async throws(UpdateError) -> ModelRoles? {
        let role = SealiftRole.namespace(model.namespace)
        guard let team = try await updater.role(role) else { return nil }
        ledger.accept(team.document.deny, of: role.roleName, version: team.document.version, by: .chain)
        let live = try await updater.role(.live(model))
        for role in [team, live] {
            if let role { freshUntil = min(freshUntil, role.document.expires) }
        }
        return ModelRoles(live: live?.document, release: nil)
    }

    /// The role that lists the versions of a model.
    ///
    /// - Throws: `UpdateError` when it cannot be had or trusted.
    mutating func release(of model: ModelName) async throws(UpdateError) -> TargetsDocument? {
        let role = try await updater.role(.release(model))
        if let role { freshUntil = min(freshUntil, role.document.expires) }
        return role?.document
    }

    /// What takes versions of a model away: denials, and the document that `live.json` is.
    mutating func withdrawals(
        of model: ModelName,
        _ roles: ModelRoles
    ) async throws(SyncError) -> ModelChain {
        var chain = ModelChain(model: model, denials: ledger.denials(of: model))
        let path = LiveDocument.targetPath(model: model)
        if let file = roles.live?.targets[TargetPath(path)] {
            let bytes = try await content(of: TargetPath(path), file)
            do { chain.live = try LiveDocument(canonical: bytes, at: path) } catch {
                throw SyncError(error, "\(path), version \(roles.live?.version ?? 0) of its role")
            }
        }
        return chain
    }

    /// Adds what the registry holds back, or why nobody knows.
    mutating func addHolds(to chain: inout ModelChain) async {
        do throws(SyncError) { chain.holds = try await holds(on: chain.model) } catch {
            chain.withheld = error
            warnings.append(error.message)
        }
    }

    /// The manifest of a version that the release role signed.
    mutating func manifest(
        of version: ModelVersion,
        _ model: ModelName,
        _ roles: ModelRoles
    ) async throws(SyncError) -> [UInt8] {
        let path = ModelManifest.targetPath(model: model, version: version)
        guard let file = roles.release?.targets[TargetPath(path)] else {
            throw SyncError(.refused, "\(path) is not signed by the release role")
        }
        return try await content(of: TargetPath(path), file)
    }

    /// A hold is the registry's brake: where it has expired, or there is none, a sync goes on and says so.
    ///
    /// - Throws: `SyncError`, when it is signed and nobody gives it: then nobody knows what is held.
    private mutating func holds(on model: ModelName) async throws(SyncError) -> [Digest: Hold] {
        let path = HoldDocument.targetPath(model: model)
        let file: TargetFile?
        do throws(UpdateError) {
            file = try await updater.role(.hold)?.document.targets[TargetPath(path)]
        } catch {
            guard error.isExpiry else { throw Self.withheld(model, SyncError(error, "sealift~hold")) }
            warnings.append("no hold applies to \(model): \(error)")
            return [:]
        }
        guard let file else { return [:] }
        let bytes: [UInt8]
        do throws(SyncError) { bytes = try await content(of: TargetPath(path), file) } catch {
            throw Self.withheld(model, error)
        }
        let document: HoldDocument
        do { document = try HoldDocument(canonical: bytes, at: path) } catch {
            warnings.append("no hold applies to \(model): \(error)")
            return [:]
        }
        let effect = document.effect(at: now)
        for ignored in effect.ignored {
            warnings.append("a hold on \(ignored.hold.manifest) is ignored: \(ignored.reason)")
        }
        return effect.holds
    }

    /// What is signed about holds did not come, or something else came: an outage, whoever is behind it.
    private static func withheld(_ model: ModelName, _ error: SyncError) -> SyncError {
        // A clock or a device that is in disorder is told as it is.
        guard ![ErrorCode.clock, .cancelled].contains(error.errorCode) else { return error }
        return SyncError(
            code: .missingAtServer,
            "\(model): no version is newly taken, because what the registry holds back did not come: "
                + "\(error.message). Try again, or another mirror"
        )
    }

    private mutating func content(of path: TargetPath, _ file: TargetFile) async throws(SyncError) -> [UInt8]
    {
        if let digest = file.sha256 { used.insert(digest) }
        return try await contents.bytes(of: path, file)
    }
}

/// The verified roles of one model; those that are not there yet are `nil`.
struct ModelRoles: Sendable {
    let live: TargetsDocument?
    var release: TargetsDocument?
}
