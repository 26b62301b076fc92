import CanonicalJSON
import Durable
package import Manifest
import Names
import Signing

/// A card with everything filled in that a folder says, for a person to complete.
package enum CardDraft {
    /// Drafts a card.
    ///
    /// - Parameters:
    ///   - path: A file or a folder; of a folder the README's front matter is read.
    ///   - variant: What the readers found there.
    /// - Returns: A card whose empty texts are to be filled in or taken out.
    /// - Throws: `PublishingError` for a file that cannot be read.
    package static func card(for path: String, _ variant: InspectedVariant) throws(PublishingError) -> Card {
        var card = Card()
        card.description.summary = ""
        card.description.license = ""
        card.description.intendedUse = ""
        card.description.limitations = ""
        let bytes = variant.length
        let need = MemoryNeed(resident: bytes, peak: 2 * bytes, measured: "estimated from the files")
        card.variants[variant.name] = Card.VariantNotes(compute: [.cpu], memory: need)
        let folder = try ModelFolder(path)
        for file in folder.files where "\(file.path)" == "README.md" {
            try fill(&card, from: file.location)
        }
        return card
    }

    private static func fill(_ card: inout Card, from readme: String) throws(PublishingError) {
        let bytes: [UInt8]
        do { bytes = try Durable.readFile(readme, maximum: .mebibytes(4)) } catch { throw .file(error) }
        guard let matter = ReadmeFrontMatter(String(decoding: bytes, as: UTF8.self)) else { return }
        card.description.license = license(matter) ?? ""
        card.description.licenseURL = matter.texts["license_link"]
        var provenance = JSONObject()
        for key in ["base_model", "datasets", "language", "library_name", "pipeline_tag", "tags"] {
            let values = matter.values(of: key)
            guard let first = values.first else { continue }
            provenance[key] = values.count == 1 ? .text(first) : .array(values.map { .text($0) })
        }
        if !provenance.members.isEmpty { card.description.provenance = .object(provenance) }
    }

    /// SPDX writes identifiers in upper case where hubs write them in lower case.
    private static func license(_ matter: ReadmeFrontMatter) -> String? {
        guard let name = matter.values(of: "license").first else { return nil }
        let known = [
            "apache-2.0": "Apache-2.0", "mit": "MIT", "bsd-3-clause": "BSD-3-Clause",
            "bsd-2-clause":
                "BSD-2-Clause", "gpl-3.0": "GPL-3.0-only", "agpl-3.0": "AGPL-3.0-only",
            "lgpl-3.0":
                "LGPL-3.0-only", "mpl-2.0": "MPL-2.0", "cc-by-4.0": "CC-BY-4.0",
            "cc-by-sa-4.0":
                "CC-BY-SA-4.0", "cc-by-nc-4.0": "CC-BY-NC-4.0", "cc0-1.0": "CC0-1.0",
            "unlicense": "Unlicense",
            "isc": "ISC", "openrail": "OpenRAIL",
        ]
        if name == "other" { return matter.texts["license_name"] ?? "other" }
        return known[name] ?? name
    }
}
