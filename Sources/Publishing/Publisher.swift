package import Manifest
package import Names
package import RegistryAPI
package import Signing
import Trust

/// What somebody asked to be published.
package struct PublishRequest: Sendable {
    package var model: ModelName

    /// `nil` takes the smallest version that may come next.
    package var version: ModelVersion?
    package var variants: [VariantSource]
    package var card: Card?

    /// Where the version goes into use; `nil` only releases it.
    package var channel: ChannelName?

    /// Ten-thousandths of the devices.
    package var rollout = Listing.fullRollout
    package var isDryRun = false

    package init(model: ModelName, version: ModelVersion?, variants: [VariantSource]) {
        self.model = model
        self.version = version
        self.variants = variants
    }
}

/// What became of it.
package struct PublishReport: Sendable {
    package let manifest: ModelManifest
    package let digest: Digest

    /// Bytes that went to the registry; what it had already is not sent.
    package let uploaded: UInt64
    package let total: UInt64

    /// `nil` for a dry run, and when the registry had all of it already.
    package let commit: CommitResponse?
    package let skipped: [String]
}

/// Extracts, checks, digests once, uploads, signs and commits.
package struct Publisher {
    private let client: RegistryClient
    private var view: VerifiedRegistry
    private let signer: any Signer
    private let now: UnixTime
    private let lifetime: Int64
    private let notice: @Sendable (String) -> Void

    /// - Parameters:
    ///   - client: The registry's write side.
    ///   - view: Its verified read side.
    ///   - signer: The key that may sign the model's roles.
    ///   - now: The local time.
    ///   - lifetime: Seconds that new signatures hold.
    ///   - notice: Told each step, for people.
    package init(
        client: RegistryClient,
        view: VerifiedRegistry,
        signer: any Signer,
        now: UnixTime,
        lifetime: Int64,
        notice: @escaping @Sendable (String) -> Void
    ) {
        self.client = client
        self.view = view
        self.signer = signer
        self.now = now
        self.lifetime = lifetime
        self.notice = notice
    }

    /// Makes one version out of files and publishes it.
    ///
    /// Publishing again what is published already does nothing and succeeds, so
    /// that a call whose answer was lost can be repeated.
    ///
    /// - Returns: What was published, or would be.
    /// - Throws: `PublishingError`; nothing is then published.
    package mutating func publish(_ request: PublishRequest) async throws(PublishingError) -> PublishReport {
        let source = try await VersionSource.read(request.variants, card: request.card)
        for name in source.skipped { notice("left out: \(name)") }
        var uploaded: UInt64?
        for _ in 0..<Self.rebases {
            try await view.refresh()
            let roles = try await view.roles(of: request.model)
            let drafted = try await draft(request, source, on: roles)
            let change = try await change(for: drafted, request, on: roles)
            guard !request.isDryRun, let change else {
                return report(drafted, source, uploaded: uploaded ?? 0, commit: nil)
            }
            let commit = try change.signed(
                on: roles,
                targets: try view.targets(),
                by: signer,
                now: now,
                lifetime: lifetime
            )
            if uploaded == nil { uploaded = try await upload(source) }
            do {
                let response = try await client.commit(commit)
                return report(drafted, source, uploaded: uploaded ?? 0, commit: response)
            } catch {
                guard case .problem(let problem, _) = error, problem.code == .conflict else { throw error }
                notice("somebody else published meanwhile; building on the new state")
            }
        }
        throw .unpublishable(
            "\(request.model) was published by others \(Self.rebases) times meanwhile; try again when it is quieter"
        )
    }

    /// How often a commit is built anew on a state that moved.
    private static let rebases = 5

    /// The manifest: the one that is published already if it says the same, else a new one.
    private func draft(
        _ request: PublishRequest,
        _ source: VersionSource,
        on roles: ModelRoles
    ) async throws(PublishingError) -> Draft {
        let version: ModelVersion
        if let asked = request.version {
            version = asked
        } else {
            version = try await nextVersion(request, source, on: roles)
        }
        let manifest = try source.manifest(
            of: request.model,
            version: version,
            created: now,
            card: request.card
        )
        let path = manifest.targetPath
        if let bytes = try await view.content(of: path, in: roles.release) {
            guard let published = try? ModelManifest(canonical: bytes, at: path) else {
                throw .unpublishable("the registry's \(path) is not a manifest that this program can read")
            }
            var same = manifest
            same.created = published.created
            guard same == published else {
                throw .unpublishable(
                    "\(request.model) \(version) is published already, with other content; a version never changes, "
                        + "so choose the next one"
                )
            }
            return Draft(manifest: published, bytes: bytes, isPublished: true)
        }
        do {
            return Draft(manifest: manifest, bytes: try manifest.encoded(), isPublished: false)
        } catch { throw .unpublishable("\(request.model) \(version): \(error)") }
    }

    /// 1.0.0 for the first; then a patch above the greatest release, while the interface is the same.
    private func nextVersion(
        _ request: PublishRequest,
        _ source: VersionSource,
        on roles: ModelRoles
    ) async throws(PublishingError) -> ModelVersion {
        let prefix = "\(request.model)/"
        let released = (roles.release?.targets.keys ?? [:].keys).compactMap { path -> ModelVersion? in
            guard path.description.hasPrefix(prefix), path.description.hasSuffix(".json") else { return nil }
            return ModelVersion(path.description.dropFirst(prefix.count).dropLast(5))
        }
        guard let latest = released.filter({ !$0.isPrerelease }).max() else {
            return ModelVersion(major: 1, minor: 0, patch: 0)
        }
        let path = ModelManifest.targetPath(model: request.model, version: latest)
        guard let bytes = try await view.content(of: path, in: roles.release),
            let manifest = try? ModelManifest(canonical: bytes, at: path)
        else { throw .unpublishable("the registry's \(path) cannot be read, so ‘next’ cannot be computed") }
        let next = ModelVersion(major: latest.major, minor: latest.minor, patch: latest.patch + 1)
        let drafted = try source.manifest(of: request.model, version: next, created: now, card: request.card)
        guard drafted.interface == manifest.interface else {
            throw .unpublishable(
                "the interface differs from that of \(latest), so ‘--version next’ cannot choose; say the version "
                    + "yourself: a major one if apps must change, else a minor one"
            )
        }
        return next
    }

    /// What has to be signed; `nil` when everything asked for is so already.
    private func change(
        for draft: Draft,
        _ request: PublishRequest,
        on roles: ModelRoles
    ) async throws(PublishingError) -> RoleChange? {
        var change = RoleChange(model: request.model)
        if !draft.isPublished { change.manifest = (draft.manifest.targetPath, draft.bytes) }
        if let channel = request.channel {
            let live = try await view.live(of: request.model, in: roles.live)
            do {
                let version = ListedVersion(version: draft.manifest.version, manifest: draft.digest)
                let edited = try live.adding(version, to: channel, rollout: request.rollout)
                if edited != live { change.live = try edited.encoded() }
            } catch { throw .unpublishable("\(error)") }
        }
        return change.manifest == nil && change.live == nil ? nil : change
    }

    private func upload(_ source: VersionSource) async throws(PublishingError) -> UInt64 {
        let missing = try await client.missing(among: source.blobs.map(\.sha256))
        var sent: UInt64 = 0
        for file in source.files where missing.contains(file.entry.sha256) {
            notice("uploading \(file.entry.path), \(ByteCount(rawValue: file.entry.length))")
            try await client.upload(file.entry.sha256, file: file.location, length: file.entry.length)
            sent += file.entry.length
        }
        for file in source.files {
            guard let list = file.blockList, let reference = file.entry.blocks?.list,
                missing.contains(reference.sha256)
            else { continue }
            try await client.upload(reference.sha256, bytes: list)
            sent += reference.length
        }
        return sent
    }

    private func report(
        _ draft: Draft,
        _ source: VersionSource,
        uploaded: UInt64,
        commit: CommitResponse?
    ) -> PublishReport {
        PublishReport(
            manifest: draft.manifest,
            digest: draft.digest,
            uploaded: uploaded,
            total: source.blobs.reduce(0) { $0 + $1.length },
            commit: commit,
            skipped: source.skipped
        )
    }
}

/// A manifest as it will be, or is, signed.
private struct Draft {
    let manifest: ModelManifest
    let bytes: [UInt8]
    let isPublished: Bool

    var digest: Digest { SHA256.digest(of: bytes) }
}
