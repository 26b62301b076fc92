import Blocking
import Manifest
package import Names
import RegistryAPI
import Signing
import Trust

/// Extracts, checks, digests once, uploads, signs and commits.
package struct Publisher {
    private let client: RegistryClient
    private var view: VerifiedRegistry
    private let keys: KeyRing
    private let now: UnixTime
    private let notice: @Sendable (String) -> Void

    /// - Parameters:
    ///   - client: The registry's write side.
    ///   - view: Its verified read side.
    ///   - keys: Who can sign the model's roles here.
    ///   - now: The local time.
    ///   - notice: Told each step, for people.
    package init(
        client: RegistryClient,
        view: VerifiedRegistry,
        keys: KeyRing,
        now: UnixTime,
        notice: @escaping @Sendable (String) -> Void
    ) {
        self.client = client
        self.view = view
        self.keys = keys
        self.now = now
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
        var source = try await VersionSource.read(request.variants, card: request.card)
        for name in source.leftOut { notice("left out: \(name)") }
        for note in source.notes(beside: request.card) { notice(note) }
        let checks = CheckAuthoring(request, notice: notice)
        try await checks.add(to: &source)
        let checked = try await checks.run(on: source)
        var uploaded: UInt64?
        for attempt in 0..<Contention.rebases {
            await Contention.stepAside(attempt)
            try await view.refresh()
            let state = try await view.state(of: .model(request.model))
            let drafted = try await draft(request, source, on: state)
            let change = try change(for: drafted, request, on: state)
            if !change.isEmpty {
                let gate = AppGate(client: client, view: view, breaks: request.breaks, notice: notice)
                try await gate.check(drafted.manifest, entering: request.channel, on: state)
            }
            let ending = try state.ending(
                before: now.adding(seconds: EndingRole.margin),
                after: change.isEmpty ? nil : change.proposal()
            )
            guard request.aim != .dryRun, !change.isEmpty else {
                var result = try report(drafted, source, on: change)
                result.ending = ending
                result.checked = checked
                return result
            }
            let (signed, missing) = try await sign(change, request.aim)
            if uploaded == nil { uploaded = try await upload(source) }
            var result = report(drafted, source, uploaded: uploaded ?? 0)
            result.proposal = signed
            result.missing = missing
            result.ending = ending
            result.checked = checked
            guard request.aim == .commit else { return result }
            var commit = signed.request
            commit.breaks = request.breaks
            do {
                result.commit = try await client.commit(commit)
                return result
            } catch {
                guard case .problem(let problem, _) = error, problem.code == .conflict else { throw error }
                if attempt == 0 { notice("somebody else published meanwhile; building on the new state") }
            }
        }
        throw .overtaken(times: Contention.rebases, what: "\(request.model)")
    }

    /// The manifest: the one that is published already if it says the same, else a new one.
    private func draft(
        _ request: PublishRequest,
        _ source: VersionSource,
        on state: RegistryState
    ) async throws(PublishingError) -> Draft {
        let version: ModelVersion
        if let asked = request.version {
            version = asked
        } else {
            let rule = VersionRule(request.model, in: state.roles[.release(request.model)]?.document)
            if let latest = rule.predecessor(of: nil),
                let same = try await published(latest, request, source, on: state), same.isUnchanged
            {
                return same.draft
            }
            version = try await nextVersion(rule, request, source, on: state)
        }
        if let published = try await published(version, request, source, on: state) {
            guard published.isUnchanged else {
                throw .unpublishable(
                    "\(request.model) \(version) is published already, with other content; a version never changes, "
                        + "so choose the next one"
                )
            }
            return published.draft
        }
        let manifest = try source.manifest(
            of: request.model,
            version: version,
            created: now,
            card: request.card
        )
        try await checkStep(manifest, on: state)
        do {
            return Draft(manifest: manifest, bytes: try manifest.encoded(), isPublished: false)
        } catch { throw .unpublishable("\(request.model) \(version): \(error)") }
    }

    /// A version that is published already, and whether these files and words are what it says.
    ///
    /// - Returns: `nil` when there is none.
    private func published(
        _ version: ModelVersion,
        _ request: PublishRequest,
        _ source: VersionSource,
        on state: RegistryState
    ) async throws(PublishingError) -> (draft: Draft, isUnchanged: Bool)? {
        let path = ModelManifest.targetPath(model: request.model, version: version)
        let release = state.roles[.release(request.model)]?.document
        guard let bytes = try await view.content(of: path, in: release) else { return nil }
        guard let published = try? ModelManifest(canonical: bytes, at: path) else {
            throw .unpublishable("the registry's \(path) is not a manifest that this program can read")
        }
        let same = try source.manifest(
            of: request.model,
            version: version,
            created: published.created,
            card: request.card
        )
        return (Draft(manifest: published, bytes: bytes, isPublished: true), same == published)
    }

    /// The smallest version that may come next, by what changed since the greatest release.
    private func nextVersion(
        _ rule: VersionRule,
        _ request: PublishRequest,
        _ source: VersionSource,
        on state: RegistryState
    ) async throws(PublishingError) -> ModelVersion {
        guard let latest = rule.predecessor(of: nil) else { return rule.next(after: nil) }
        let manifest = try source.manifest(
            of: request.model,
            version: latest,
            created: now,
            card: request.card
        )
        let changes = try await changes(to: manifest, since: latest, on: state)
        for change in changes.decisive { notice("since \(latest), \(change)") }
        return rule.next(after: (latest, changes))
    }

    /// Refuses a version whose number says less than what changed.
    private func checkStep(_ manifest: ModelManifest, on state: RegistryState) async throws(PublishingError) {
        let rule = VersionRule(manifest.model, in: state.roles[.release(manifest.model)]?.document)
        let version = manifest.version
        if let base = rule.predecessor(of: version) {
            try rule.check(version, after: (base, try await changes(to: manifest, since: base, on: state)))
        } else {
            try rule.check(version, after: nil)
        }
        guard let next = rule.successor(of: version) else { return }
        let published = try await view.manifest(of: manifest.model, next, on: state)
        try rule.check(version, before: (next, ContractChanges(from: manifest, to: published)))
    }

    private func changes(
        to manifest: ModelManifest,
        since version: ModelVersion,
        on state: RegistryState
    ) async throws(PublishingError) -> ContractChanges {
        ContractChanges(from: try await view.manifest(of: manifest.model, version, on: state), to: manifest)
    }

    /// What has to be signed; empty when everything asked for is so already.
    private func change(
        for draft: Draft,
        _ request: PublishRequest,
        on state: RegistryState
    ) throws(PublishingError) -> RegistryDraft {
        var change = try RegistryDraft(on: state, now: now)
        if !change.hasModel(request.model) { try change.introduce(request.model, by: keys.publicKeys) }
        if !draft.isPublished {
            let note = "\(request.model) \(draft.manifest.version) is released"
            try change.list(draft.manifest.targetPath, draft.bytes, in: .release(request.model), note)
        }
        guard let channel = request.channel else { return change }
        let version = ListedVersion(version: draft.manifest.version, manifest: draft.digest)
        try change.add(version, to: channel, of: request.model, rollout: request.rollout)
        return change
    }

    private func sign(
        _ change: RegistryDraft,
        _ aim: Ceremony.Aim
    ) async throws(PublishingError) -> (Proposal, [MissingSignatures]) {
        let keys = keys
        var complete = try change.proposal()
        if aim == .collect { try await view.complete(&complete, on: change.base) }
        let proposal = complete
        let signed = try await BlockingPool.shared.run { () throws(PublishingError) -> Proposal in
            var signed = proposal
            try keys.sign(&signed)
            return signed
        }
        let missing = try signed.missing(on: change.base)
        guard aim == .commit else {
            try Rehearsal.checkContents(signed, on: change.base, now: now)
            return (signed, missing)
        }
        guard missing.isEmpty else {
            throw .unsigned(missing.map { $0.words(naming: keys.names) }, option: keys.option)
        }
        try Rehearsal.check(signed, on: change.base, now: now)
        return (signed, [])
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

    /// What a dry run says, or a call that asks for what is so already.
    private func report(
        _ draft: Draft,
        _ source: VersionSource,
        on change: RegistryDraft
    ) throws(PublishingError) -> PublishReport {
        var result = report(draft, source, uploaded: 0)
        guard !change.isEmpty else { return result }
        let proposal = try change.proposal()
        try Rehearsal.checkContents(proposal, on: change.base, now: now)
        try keys.check(proposal)
        result.proposal = proposal
        result.missing = try proposal.missing(on: change.base).compactMap { $0.after(signing: keys.keyIDs) }
        return result
    }

    private func report(
        _ draft: Draft,
        _ source: VersionSource,
        uploaded: UInt64
    ) -> PublishReport {
        PublishReport(
            manifest: draft.manifest,
            digest: draft.digest,
            uploaded: uploaded,
            total: source.blobs.reduce(0) { $0 + $1.length },
            leftOut: source.leftOut
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
