package import CanonicalJSON
package import Names

/// `sealift/reading@1`: what a process that was asked to read a variant answers.
///
/// Whoever asked takes it as it takes bytes from outside: only in canonical
/// form, only with the members below, and at most as long as a manifest, since
/// what is longer could not be in one.
package struct Reading: CanonicalDocument {
    package static let documentType = DocumentType.reading

    /// What the files say.
    package struct Facts: Equatable, Sendable {
        package var entry: FilePath
        package var format: ModelFormat
        package var interface: Interface
        package var requires: Requirements

        /// The specification version that the file itself states, where `requires` is computed from what it uses.
        package var statedVersion: Int64?

        /// Folders of the model in which there is no file.
        package var folders: [FilePath] = []

        package init(entry: FilePath, format: ModelFormat, interface: Interface, requires: Requirements) {
            self.entry = entry
            self.format = format
            self.interface = interface
            self.requires = requires
        }

        /// Whether a manifest that says `signed` tells no less than the file does.
        ///
        /// What is computed grows with what readers know: a manifest that was
        /// signed before says the file's own version, and one that is signed
        /// later may say more. Neither is a contradiction, while less than
        /// the file states would send it where it cannot run.
        package func isMet(bySpecification signed: Int64?) -> Bool {
            guard let statedVersion else { return signed == requires.specificationVersion }
            guard let signed else { return false }
            return signed >= statedVersion
        }
    }

    package enum Outcome: Equatable, Sendable {
        case read(Facts)

        /// The files are not taken; why, for people.
        case refused(String)

        /// The system could not give the bytes, for people.
        case unreadable(String)
    }

    /// Bytes of a reason.
    package static let longestReason = 4_096

    package var outcome: Outcome

    package init(_ outcome: Outcome) { self.outcome = outcome }

    package init(json: JSONValue) throws(ManifestError) {
        var reader = try Self.reader(json)
        let refused = try reader.optionalReason("refused", upTo: Self.longestReason)
        let unreadable = try reader.optionalReason("unreadable", upTo: Self.longestReason)
        let facts = try reader.optionalReader("read").map { (inner) throws(ManifestError) in try Facts(inner)
        }
        try reader.finish()
        switch (facts, refused, unreadable) {
        case (let facts?, nil, nil): outcome = .read(facts)
        case (nil, let reason?, nil): outcome = .refused(reason)
        case (nil, nil, let reason?): outcome = .unreadable(reason)
        default: throw reader.place.invalid("exactly one of `read`, `refused` and `unreadable`", json)
        }
    }

    package var json: JSONValue {
        var object = JSONObject()
        object["type"] = .text(Self.documentType.rawValue)
        switch outcome {
        case .read(let facts): object["read"] = facts.json
        case .refused(let reason): object["refused"] = .reason(reason, upTo: Self.longestReason)
        case .unreadable(let reason): object["unreadable"] = .reason(reason, upTo: Self.longestReason)
        }
        return .object(object)
    }
}

extension Reading.Facts {
    init(_ reader: MemberReader) throws(ManifestError) {
        var reader = reader
        entry = try reader.parsed("entry", "a safe relative path in NFC") { FilePath($0) }
        format = try reader.parsed("format", "a format that version 1 knows") { ModelFormat(rawValue: $0) }
        interface = try Interface(try reader.value("interface"), at: reader.place.member("interface"))
        requires = try Requirements(try reader.value("requires"), at: reader.place.member("requires"))
        statedVersion = try reader.optionalInteger("stated_version", in: 0...Int64(Int32.max))
        folders = try reader.optionalPaths("folders")
        guard folders.count <= Limits.filesInVariant else {
            let expected = "at most \(Limits.filesInVariant) folders"
            throw reader.place.member("folders").invalid(expected, "\(folders.count)")
        }
        try reader.finish()
    }

    var json: JSONValue {
        var object = JSONObject()
        object["entry"] = .text(entry.description)
        object["format"] = .text(format.rawValue)
        object["interface"] = interface.json
        object["requires"] = requires.json
        object.set("stated_version", statedVersion.map(JSONValue.integer))
        object.set("folders", nonEmpty: folders.map { .text($0.description) })
        return .object(object)
    }
}
