import HTTPServer
import Manifest
import Names
import Registry
import Signing

/// The page at `/`: models, versions and channels, as the registry itself sees them.
extension RegistryService {
    private static let style = """
        body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}
        table{border-collapse:collapse}td,th{text-align:left;padding:.2rem 1rem .2rem 0;vertical-align:top}
        code{font-size:.85em}.note{border-left:4px solid #888;padding-left:1rem}
        """

    func overviewPage() throws -> HTTPResponse {
        let models = try registry.overview()
        var page = """
            <!doctype html>
            <html lang="en"><head><meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <title>Sealift registry</title><style>\(Self.style)</style></head><body>
            <h1>Sealift registry</h1>
            <p class="note">This is the operator's view, not evidence. What is genuine and current is decided by
            <code>sealift sync</code> and <code>sealift history</code>, which verify every signature.</p>

            """
        page += models.isEmpty ? "<p>No model has been published yet.</p>\n" : ""
        for model in models { page += Self.section(model) }
        page += "</body></html>\n"
        return HTTPResponse(
            status: 200,
            fields: [
                "Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-cache",
                "Content-Security-Policy": Self.policy, "X-Content-Type-Options": "nosniff",
                "X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer",
            ],
            body: .bytes(Array(page.utf8))
        )
    }

    /// No script, no request to anywhere, no frame; only the style above.
    private static let policy: String = {
        let digest = Base64.text(SHA256.digest(of: Array(style.utf8)).bytes)
        return "default-src 'none'; style-src 'sha256-\(digest)'; base-uri 'none'; form-action 'none'; "
            + "frame-ancestors 'none'"
    }()

    private static func section(_ overview: ModelOverview) -> String {
        var text = "<h2>\(escaped("\(overview.model)"))</h2>\n<table><tr><th>Version</th><th>Channels</th>"
        text += "<th>State</th><th>Manifest</th></tr>\n"
        for version in overview.versions {
            let channels = (overview.live?.channels ?? [:]).filter { entry in
                entry.value.versions.contains { $0.version == version.version }
            }
            let names = channels.keys.sorted().map(\.description).joined(separator: ", ")
            let state = overview.live?.state(of: version.version)
                .map { "\($0.kind.rawValue): \($0.reason)" }
            text += "<tr><td>\(escaped("\(version.version)"))</td><td>\(escaped(names))</td>"
            text +=
                "<td>\(escaped(state ?? ""))</td><td><code>\(escaped(version.manifest.hex))</code></td></tr>\n"
        }
        return text + "</table>\n"
    }

    static func escaped(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "'": escaped += "&#39;"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
