import CanonicalJSON
import Durable
import Manifest
import Names

/// What a model's README says above its text, as model hubs write it: YAML between two lines of `---`.
///
/// Only what such files really have is read: `key: value`, lists in lines
/// (`- item`) or in brackets, quotes around values. Anything else is skipped;
/// a person reads the draft before it counts.
struct ReadmeFrontMatter {
    private(set) var texts: [String: String] = [:]
    private(set) var lists: [String: [String]] = [:]

    /// - Returns: `nil` when the text does not begin with front matter.
    init?(_ readme: String) {
        var lines = readme.split(separator: "\n", maxSplits: 1_000, omittingEmptySubsequences: false)[...]
        guard lines.popFirst().map({ Self.trimmed($0) }) == "---" else { return nil }
        var key: String?
        while let line = lines.popFirst() {
            let text = Self.trimmed(line)
            if text == "---" { return }
            if text.hasPrefix("- "), let key {
                lists[key, default: []].append(Self.unquoted(text.dropFirst(2)))
                continue
            }
            guard line.first != " ", line.first != "#", let colon = text.firstIndex(of: ":") else { continue }
            let name = String(text[..<colon])
            let value = Self.trimmed(text[text.index(after: colon)...])
            key = name
            if value.isEmpty { continue }
            if value.hasPrefix("["), value.hasSuffix("]") {
                lists[name] = value.dropFirst().dropLast().split(separator: ",").map { Self.unquoted($0) }
            } else {
                texts[name] = Self.unquoted(value)
            }
        }
        return nil
    }

    /// The values of a key, whichever way they are written.
    func values(of key: String) -> [String] { lists[key] ?? texts[key].map { [$0] } ?? [] }

    private static func trimmed(_ text: some StringProtocol) -> String {
        let blank: (Character) -> Bool = { $0 == " " || $0 == "\t" || $0 == "\r" || $0 == "\r\n" }
        return String(text.drop(while: blank).reversed().drop(while: blank).reversed())
    }

    private static func unquoted(_ text: some StringProtocol) -> String {
        let text = trimmed(text)
        guard text.count >= 2, let first = text.first, first == text.last, first == "\"" || first == "'"
        else {
            return text
        }
        return String(text.dropFirst().dropLast())
    }
}

extension ReadmeFrontMatter {
    /// Reads `README.md` of a folder's files.
    ///
    /// - Returns: `nil` when there is none, or it has no front matter.
    /// - Throws: `PublishingError.file` when it cannot be read.
    init?(in files: [ModelFolder.File]) throws(PublishingError) {
        guard let readme = files.first(where: { "\($0.path)" == "README.md" }) else { return nil }
        let bytes: [UInt8]
        do { bytes = try Durable.readFile(readme.location, maximum: .mebibytes(4)) } catch {
            throw .file(error)
        }
        self.init(String(decoding: bytes, as: UTF8.self))
    }

    /// Puts licence and origin where nobody has said them yet.
    func fill(_ description: inout ModelDescription) {
        if description.license == nil {
            description.license = license
            description.licenseURL = description.licenseURL ?? texts["license_link"]
        }
        guard description.provenance == nil else { return }
        var provenance = JSONObject()
        for key in ["base_model", "datasets", "language", "library_name", "pipeline_tag", "tags"] {
            let values = values(of: key)
            guard let first = values.first else { continue }
            provenance[key] = values.count == 1 ? .text(first) : .array(values.map { .text($0) })
        }
        if !provenance.isEmpty { description.provenance = .object(provenance) }
    }

    /// SPDX writes identifiers in upper case that hubs write in lower case.
    private var license: String? {
        guard let name = values(of: "license").first else { return nil }
        if name == "other" { return texts["license_name"] ?? name }
        return Self.identifiers.first { $0.lowercased() == name } ?? Self.aliases[name] ?? name
    }

    private static let identifiers = [
        "Apache-2.0", "MIT", "BSD-2-Clause", "BSD-3-Clause", "MPL-2.0", "ISC", "Unlicense", "CC0-1.0",
        "CC-BY-4.0", "CC-BY-SA-4.0", "CC-BY-NC-4.0", "CC-BY-NC-SA-4.0", "CC-BY-ND-4.0", "Artistic-2.0",
        "BSL-1.0", "EUPL-1.1", "OFL-1.1", "Zlib",
    ]

    private static let aliases = [
        "gpl-3.0": "GPL-3.0-only", "gpl-2.0": "GPL-2.0-only", "agpl-3.0": "AGPL-3.0-only",
        "lgpl-3.0": "LGPL-3.0-only", "lgpl-2.1": "LGPL-2.1-only",
    ]
}
