import Manifest
import Names
import RegistryAPI
import Trust

/// Whether a version serves every app that registered its needs.
struct ExpectationRule {
    let entries: [ExpectationEntry]

    /// Apps that may break, by name.
    let breaks: [AppName]

    /// Judges a version.
    ///
    /// An app that could not live with the version before either loses nothing,
    /// so it stops nobody.
    ///
    /// - Parameters:
    ///   - manifest: Of the version.
    ///   - before: What apps have had until now.
    /// - Returns: What a person should know, a line for each app that cannot use it.
    /// - Throws: `PublishingError.breaking` for an app that is broken and not named, `.unpublishable` for one
    ///   that is named and unknown.
    func check(
        _ manifest: ModelManifest,
        after before: ModelManifest?
    ) throws(PublishingError) -> [String] {
        try checkNames(for: manifest.model)
        var unnamed: [(app: AppName, reasons: [String])] = []
        var notes: [String] = []
        for entry in entries {
            guard let expectation = try? Expectation(json: entry.document) else { continue }
            switch AppImpact(of: manifest, on: expectation, after: before) {
            case .serves: break
            case .breaks(let reasons) where breaks.contains(entry.app):
                notes.append("breaks \(entry.app), as you said: \(reasons.first ?? "")")
            case .breaks(let reasons): unnamed.append((entry.app, reasons))
            case .doesNotServe(let reasons):
                let known = before.map { ", and could not use \($0.version) either" } ?? ""
                notes.append("\(entry.app) cannot use \(manifest.version)\(known): \(reasons.first ?? "")")
            }
        }
        guard let first = unnamed.first else { return notes }
        let rows = unnamed.flatMap { broken in
            ["\(broken.app):"] + broken.reasons.prefix(4).map { "  \($0)" }
        }
        throw .breaking(
            "\(manifest.model) \(manifest.version) breaks apps that registered what they need; publish what they can "
                + "use, or name each with --breaks, as --breaks \(first.app)",
            rows: rows
        )
    }
}

extension ExpectationRule {
    /// - Throws: `PublishingError.unpublishable` for an app that may break and is not registered.
    func checkNames(for model: ModelName) throws(PublishingError) {
        guard let stranger = breaks.first(where: { name in !entries.contains { $0.app == name } }) else {
            return
        }
        let known = entries.map(\.app.description).joined(separator: ", ")
        throw .unpublishable(
            "--breaks \(stranger): no such app registered an expectation for \(model); registered are "
                + (known.isEmpty ? "none" : known)
        )
    }

    /// Judges what a channel offers no more.
    ///
    /// - Returns: What a person should know, a line for each app that has nothing left there.
    /// - Throws: `PublishingError.breaking` for such an app that is not named, unless all that it had was recalled.
    func check(
        _ losses: [AppLosses.Loss],
        of model: ModelName,
        on channel: ChannelName
    ) throws(PublishingError) -> [String] {
        let unnamed = losses.filter { !$0.isRecalled && !breaks.contains($0.app) }
        guard let first = unnamed.first else {
            return losses.map { loss in
                let why = loss.isRecalled ? "" : ", as you said"
                return
                    "\(channel) then offers nothing that \(loss.app) can use; it could use \(loss.version)\(why)"
            }
        }
        throw .breaking(
            "\(channel) of \(model) then offers nothing that apps can use which registered what they need; first put a "
                + "version there that serves them, or name each with --breaks, as --breaks \(first.app)",
            rows: unnamed.map { "\($0.app): can use \($0.version), and nothing else there" }
        )
    }
}

/// Asks which apps need what of a model, before a version is published or put into use.
struct AppGate {
    let client: RegistryClient
    let view: VerifiedRegistry

    /// Apps that may break, by name.
    let breaks: [AppName]

    /// Told what a person should know.
    let notice: @Sendable (String) -> Void

    /// Refuses what would break an app that nobody named.
    ///
    /// A version that its channel lists already comes nowhere, whatever its share of devices becomes.
    ///
    /// - Parameters:
    ///   - manifest: Of the version.
    ///   - channel: Where it comes into use; `nil` for one that is only released.
    ///   - state: What the version is added to.
    /// - Throws: `PublishingError.breaking`, and what keeps the registry from being asked.
    func check(
        _ manifest: ModelManifest,
        entering channel: ChannelName?,
        on state: RegistryState
    ) async throws(PublishingError) {
        let model = manifest.model
        let rule = ExpectationRule(entries: try await client.expectations(of: model), breaks: breaks)
        let channels = try state.live(of: model).channels
        let listed = channel.flatMap { channels[$0] }?.versions ?? []
        guard !listed.contains(where: { $0.version == manifest.version }) else {
            return try rule.checkNames(for: model)
        }
        let offer = Offer(released: state.released(of: model), contents: [:])
        try await check(manifest, entering: channel, by: rule, offer, on: state)
    }

    private func check(
        _ manifest: ModelManifest,
        entering channel: ChannelName?,
        by rule: ExpectationRule,
        _ offer: Offer,
        on state: RegistryState
    ) async throws(PublishingError) {
        let model = manifest.model
        var before: ModelManifest?
        if !rule.entries.isEmpty,
            let version = AppImpact.versionBefore(
                manifest.version,
                on: channel,
                in: try state.live(of: model),
                released: Array(offer.released.keys)
            )
        {
            before = try await self.manifest(of: model, version, offer, on: state)
        }
        for note in try rule.check(manifest, after: before) { notice(note) }
    }

    /// The same for every version that a change lists on a channel, and for what channels then offer no more.
    func check(
        _ draft: RegistryDraft,
        of model: ModelName,
        on state: RegistryState
    ) async throws(PublishingError) {
        guard draft.contents[LiveDocument.targetPath(model: model)] != nil else { return }
        let offer = Offer(released: state.released(of: model), contents: draft.contents)
        try await check(draft.live(of: model), offer, on: state)
    }

    /// The same for every model whose channels a proposal from elsewhere changes, with the versions that it brings.
    func check(_ proposal: Proposal, on state: RegistryState) async throws(PublishingError) {
        let contents = Dictionary(proposal.targets.map { ($0.path, $0.content) }) { first, _ in first }
        let chain = try ProposedChain(proposal, on: state)
        for role in proposal.roles {
            guard case .live(let model) = SealiftRole(role.role),
                let bytes = contents[LiveDocument.targetPath(model: model)]
            else { continue }
            let released = RegistryState.released(of: model, by: chain.document(.release(model)))
            let offer = Offer(released: released, contents: contents)
            try await check(try RegistryState.live(of: model, bytes), offer, on: state)
        }
    }

    /// What there is of a model once a change is made.
    private struct Offer {
        let released: [ModelVersion: Digest]

        /// Documents that the change brings, by path.
        let contents: [String: [UInt8]]
    }

    private func check(
        _ after: LiveDocument,
        _ offer: Offer,
        on state: RegistryState
    ) async throws(PublishingError) {
        let model = after.model
        let before = try state.live(of: model)
        let entered = after.entered(since: before).filter { offer.released[$0.version] != nil }
        let losses = after.losses(since: before)
        guard !entered.isEmpty || !losses.isEmpty || !breaks.isEmpty else { return }
        let rule = ExpectationRule(entries: try await client.expectations(of: model), breaks: breaks)
        try rule.checkNames(for: model)
        for (channel, version) in entered {
            let manifest = try await manifest(of: model, version, offer, on: state)
            try await check(manifest, entering: channel, by: rule, offer, on: state)
        }
        for loss in losses {
            let found = try await self.losses(by: loss, of: model, rule.entries, offer, on: state)
            for note in try rule.check(found, of: model, on: loss.channel) { notice(note) }
        }
    }

    /// The apps that have nothing left on a channel.
    ///
    /// A manifest that this program cannot read counts as none: it must not hold up what takes a version away.
    private func losses(
        by loss: ChannelLoss,
        of model: ModelName,
        _ entries: [ExpectationEntry],
        _ offer: Offer,
        on state: RegistryState
    ) async throws(PublishingError) -> [AppLosses.Loss] {
        let apps = entries.compactMap { entry in
            (try? Expectation(json: entry.document)).map { (name: entry.app, expectation: $0) }
        }
        guard !apps.isEmpty else { return [] }
        var losses = AppLosses(apps)
        for version in loss.lost {
            guard let manifest = try await readable(model, version, offer, on: state) else { continue }
            losses.lose(manifest, isRecalled: loss.recalled.contains(version))
        }
        for version in loss.left where !losses.isEmpty {
            guard let manifest = try await readable(model, version, offer, on: state) else { continue }
            losses.keep(manifest)
        }
        return losses.all
    }

    private func readable(
        _ model: ModelName,
        _ version: ModelVersion,
        _ offer: Offer,
        on state: RegistryState
    ) async throws(PublishingError) -> ModelManifest? {
        do { return try await manifest(of: model, version, offer, on: state) } catch {
            guard case .unpublishable = error else { throw error }
            return nil
        }
    }
}

extension AppGate {
    /// The manifest of a version that the change brings, or that is released.
    private func manifest(
        of model: ModelName,
        _ version: ModelVersion,
        _ offer: Offer,
        on state: RegistryState
    ) async throws(PublishingError) -> ModelManifest {
        let path = ModelManifest.targetPath(model: model, version: version)
        if let bytes = offer.contents[path], let brought = try? ModelManifest(canonical: bytes, at: path) {
            return brought
        }
        return try await view.manifest(of: model, version, on: state)
    }
}

extension VerifiedRegistry {
    /// The signed manifest of a released version.
    ///
    /// - Throws: `PublishingError.unpublishable` when there is none that this program can read.
    func manifest(
        of model: ModelName,
        _ version: ModelVersion,
        on state: RegistryState
    ) async throws(PublishingError) -> ModelManifest {
        let path = ModelManifest.targetPath(model: model, version: version)
        guard let bytes = try await content(of: path, in: state.roles[.release(model)]?.document),
            let released = try? ModelManifest(canonical: bytes, at: path)
        else {
            throw .unpublishable(
                "the registry's \(path) cannot be read, so nobody can say what changed since; update this program"
            )
        }
        return released
    }
}
