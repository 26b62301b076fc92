import CanonicalJSON
import Durable
import Manifest
import Names

/// What a model's README says above its text, as model hubs write it: YAML between two lines of `---`.
///
/// What is taken becomes a signed statement, so only what is understood with
/// certainty is taken, and a note says what was not.
struct ReadmeFrontMatter {
    private var values: [String: FrontMatterValue] = [:]

    /// Why nothing at all is taken; `nil` when something may be.
    private let trouble: String?

    private static let licenseKeys = ["license", "license_name", "license_link"]
    private static let originKeys = [
        "base_model", "datasets", "language", "library_name", "pipeline_tag", "tags",
    ]

    /// - Returns: `nil` when the text does not begin with front matter.
    init?(_ readme: [UInt8]) {
        let bytes = readme.starts(with: [0xEF, 0xBB, 0xBF]) ? readme[3...] : readme[...]
        var lines: [[UInt8]] = []
        var isEnded = false
        for line in bytes.split(separator: 0x0A, maxSplits: 1_000, omittingEmptySubsequences: false) {
            var line = Array(line)
            while let last = line.last, last == 0x0D || last == 0x20 { line.removeLast() }
            let isFence = line.elementsEqual(Array("---".utf8))
            guard isFence || !lines.isEmpty else { return nil }
            isEnded = !lines.isEmpty && (isFence || line.elementsEqual(Array("...".utf8)))
            if isEnded { break }
            lines.append(line)
        }
        guard isEnded else {
            trouble = "a line of --- begins it, and none ends what stands above the text"
            return
        }
        do throws(Trouble) {
            values = try Self.values(of: lines.dropFirst())
            trouble = nil
        } catch { trouble = error.reason }
    }

    private struct Trouble: Error { let reason: String }

    private static func values(
        of lines: ArraySlice<[UInt8]>
    ) throws(Trouble) -> [String: FrontMatterValue] {
        var found: [(key: String, inline: String, lines: [String])] = []
        for (index, bytes) in lines.enumerated() {
            let place = "line \(index + 2)"
            guard let line = String(validating: bytes, as: UTF8.self) else {
                throw Trouble(reason: "\(place) is not UTF-8")
            }
            // Breaks of lines to some readers, tabs, and what nobody sees.
            guard
                line.unicodeScalars.allSatisfy({
                    $0.properties.generalCategory != .control && $0 != "\u{2028}" && $0 != "\u{2029}"
                        && $0 != "\u{FEFF}"
                })
            else { throw Trouble(reason: "\(place) has a tab or another control character") }
            let isIndented = line.hasPrefix(" ") || line.hasPrefix("- ") || line == "-"
            let isBlank = line.allSatisfy { $0 == " " }
            if isBlank || line.drop(while: { $0 == " " }).hasPrefix("#") { continue }
            if isIndented, !found.isEmpty {
                found[found.count - 1].lines.append(line)
            } else if let colon = line.firstIndex(of: ":"), Self.isKey(line[..<colon]),
                [nil, " "].contains(line[colon...].dropFirst().first)
            {
                found.append((String(line[..<colon]), String(line[colon...].dropFirst()), []))
            } else {
                throw Trouble(reason: "\(place) is no ‘key: value’")
            }
        }
        var values: [String: FrontMatterValue] = [:]
        for (key, inline, lines) in found {
            // Readers differ on which of two counts.
            let isFirst = values[key] == nil
            values[key] = isFirst ? FrontMatterValue(inline, lines) : .notUnderstood
        }
        return values
    }

    private static func isKey(_ text: Substring) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte & 0xDF) || byte == 0x2D
                    || byte == 0x5F
            }
    }

    /// The values of a key, whichever way they are written.
    func values(of key: String) -> [String] {
        switch values[key] {
        case .text(let text): [text]
        case .list(let items): items
        case .notUnderstood, .absent, nil: []
        }
    }
}

extension ReadmeFrontMatter {
    /// Reads `README.md` of a folder's files.
    ///
    /// - Returns: `nil` when there is none, or it has no front matter.
    /// - Throws: `PublishingError.file` when it cannot be read.
    init?(in files: [ModelFolder.File]) throws(PublishingError) {
        guard let readme = files.first(where: { "\($0.path)" == "README.md" }) else { return nil }
        do { self.init(try Durable.readFile(readme.location, maximum: .mebibytes(4))) } catch {
            throw .file(error)
        }
    }

    /// What was not understood, and so not taken, where nobody else has said it.
    func notes(beside description: ModelDescription) -> [String] {
        if let trouble { return ["README.md: \(trouble), so nothing of its front matter is taken"] }
        let wanted =
            (description.license == nil ? Self.licenseKeys : [])
            + (description.provenance == nil ? Self.originKeys : [])
        var notes = wanted.filter { values[$0] == .notUnderstood }.map { key in
            "README.md: `\(key)` is not taken: only one plain or quoted value, or a list of such, is understood"
        }
        if description.provenance == nil, let metrics = values["model-index"], metrics != .absent {
            notes.append(
                "README.md: `model-index`, which has evaluation metrics, is not taken; say them in the card, `provenance`"
            )
        }
        if description.license == nil, case .failure(let trouble)? = license {
            notes.append("README.md: no licence is taken: \(trouble.reason); say it in the card, `license`")
        }
        return notes
    }

    /// Puts licence and origin where nobody has said them yet.
    func fill(_ description: inout ModelDescription) {
        if description.license == nil, case .success(let license)? = license {
            description.license = license
            description.licenseURL = description.licenseURL ?? values(of: "license_link").first
        }
        guard description.provenance == nil else { return }
        var provenance = JSONObject()
        for key in Self.originKeys {
            let values = values(of: key)
            guard let first = values.first else { continue }
            provenance[key] = values.count == 1 ? .text(first) : .array(values.map { .text($0) })
        }
        if !provenance.isEmpty { description.provenance = .object(provenance) }
    }

    /// Whether a licence is named, understood or not, or could be by what was not understood.
    var saysLicense: Bool { trouble != nil || (values["license"].map { $0 != .absent } ?? false) }

    /// The licence; `nil` where none is named.
    private var license: Result<String, StatedLicense.Trouble>? {
        let names = values(of: "license")
        guard !names.isEmpty else { return nil }
        return StatedLicense.expression(names, named: values(of: "license_name").first, "license_name")
    }
}
