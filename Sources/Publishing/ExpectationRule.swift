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
        if let stranger = breaks.first(where: { name in !entries.contains { $0.app == name } }) {
            let known = entries.map(\.app.description).joined(separator: ", ")
            throw .unpublishable(
                "--breaks \(stranger): no such app registered an expectation for \(manifest.model); registered are "
                    + (known.isEmpty ? "none" : known)
            )
        }
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
        let entries = try await client.expectations(of: model)
        let rule = ExpectationRule(entries: entries, breaks: breaks)
        var before: ModelManifest?
        if !entries.isEmpty,
            let version = AppImpact.versionBefore(
                manifest.version,
                on: channel,
                in: try state.live(of: model),
                released: Array(state.released(of: model).keys)
            )
        {
            before = try await view.manifest(of: model, version, on: state)
        }
        for note in try rule.check(manifest, after: before) { notice(note) }
    }

    /// The same for every version that a change lists on a channel.
    func check(
        _ draft: RegistryDraft,
        of model: ModelName,
        on state: RegistryState
    ) async throws(PublishingError) {
        guard draft.contents[LiveDocument.targetPath(model: model)] != nil else { return }
        let entered = try draft.live(of: model).entered(since: try state.live(of: model))
        for (channel, version) in entered where state.released(of: model)[version] != nil {
            let manifest = try await view.manifest(of: model, version, on: state)
            try await check(manifest, entering: channel, on: state)
        }
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
