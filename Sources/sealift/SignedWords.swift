import Arguments
import CanonicalJSON
import Manifest
import Names

/// What a manifest says beside the interface, for people: words, files with their digests, and checks.
enum SignedWords {
    static func lines(of manifest: ModelManifest) -> [String] {
        let words = manifest.description
        let texts: [(String, String?)] = [
            ("summary", words.summary), ("license", words.license ?? "none is stated"),
            ("license url", words.licenseURL), ("intended use", words.intendedUse),
            ("limitations", words.limitations), ("notes", words.notes),
        ]
        var lines = ["signed with it, \(manifest.created)"]
        lines += texts.compactMap { name, text in text.map { "  \(name): \(PlainText.line($0))" } }
        for member in words.provenance?.object?.members ?? [] {
            let value = member.value.string ?? String(decoding: member.value.compactJSON, as: UTF8.self)
            lines.append("  origin, \(PlainText.line(member.key.string)): \(PlainText.line(value))")
        }
        let count = manifest.checks.count
        let checks = count == 0 ? "none" : "\(count), run before it is active and when it is loaded"
        lines.append("  checks: \(checks)")
        let rows = manifest.variants.flatMap { variant in
            variant.files.map { file in
                ["\(variant.name)", "\(file.path)", "\(ByteCount(rawValue: file.length))", "\(file.sha256)"]
            }
        }
        for variant in manifest.variants {
            for folder in variant.folders { lines.append("  empty folder, \(variant.name): \(folder)") }
        }
        return lines + TextTable.lines(["variant", "file", "length", "sha256"], rows)
    }
}
