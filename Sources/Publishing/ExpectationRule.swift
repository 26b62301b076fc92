import Manifest
import Names
import RegistryAPI

/// Whether a version serves every app that registered its needs.
struct ExpectationRule {
    let entries: [ExpectationEntry]

    /// Apps that may break, by name.
    let breaks: [AppName]

    /// Judges a version.
    ///
    /// - Returns: The apps that it breaks by name, with the reasons.
    /// - Throws: `PublishingError.breaking` for an app that is broken and not named, `.unpublishable` for one
    ///   that is named and unknown.
    func check(_ manifest: ModelManifest) throws(PublishingError) -> [(app: AppName, reasons: [String])] {
        if let stranger = breaks.first(where: { name in !entries.contains { $0.app == name } }) {
            let known = entries.map(\.app.description).joined(separator: ", ")
            throw .unpublishable(
                "--breaks \(stranger): no such app registered an expectation for \(manifest.model); registered are "
                    + (known.isEmpty ? "none" : known)
            )
        }
        var broken: [(app: AppName, reasons: [String])] = []
        for entry in entries {
            guard let expectation = try? Expectation(json: entry.document) else { continue }
            let verdict = Compatibility.verdict(expectation, manifest)
            if !verdict.allowsUse { broken.append((entry.app, verdict.reasons)) }
        }
        let unnamed = broken.filter { !breaks.contains($0.app) }
        guard let first = unnamed.first else { return broken }
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
