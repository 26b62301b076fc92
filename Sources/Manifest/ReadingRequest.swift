package import CanonicalJSON
package import Names

/// `sealift/reading-request@1`: what one process asks another to read.
///
/// The files of one variant and where each lies on the disk. It goes from a
/// process to the child that it starts, and never over a network; the child
/// answers with a `Reading`.
package struct ReadingRequest: CanonicalDocument {
    /// One file of the variant.
    package struct File: Equatable, Sendable {
        package var path: FilePath
        package var length: UInt64

        /// An absolute path on this machine.
        package var location: String

        package init(path: FilePath, length: UInt64, location: String) {
            self.path = path
            self.length = length
            self.location = location
        }
    }

    package static let documentType = DocumentType.readingRequest

    /// As many locations as a variant may have files, each as long as a path may be.
    package static let maximumLength = 32 << 20

    package var format: ModelFormat
    package var entry: FilePath
    package var files: [File]

    /// The process that waits for the answer; a child that has another parent was left alone.
    package var parent: Int64

    package init(format: ModelFormat, entry: FilePath, files: [File], parent: Int64) {
        self.format = format
        self.entry = entry
        self.files = files
        self.parent = parent
    }

    package init(json: JSONValue) throws(ManifestError) {
        var reader = try Self.reader(json)
        format = try reader.parsed("format", "a format that version 1 knows") { ModelFormat(rawValue: $0) }
        entry = try reader.parsed("entry", "a safe relative path in NFC") { FilePath($0) }
        parent = try reader.integer("parent", in: 1...Int64(Int32.max))
        files = []
        for (value, place) in try reader.array("files") { files.append(try File(value, at: place)) }
        guard (1...Limits.filesInVariant).contains(files.count) else {
            let expected = "1 to \(Limits.filesInVariant) files"
            throw reader.place.member("files").invalid(expected, "\(files.count)")
        }
        try reader.finish()
    }

    package var json: JSONValue {
        .members([
            "type": .text(Self.documentType.rawValue), "format": .text(format.rawValue),
            "entry": .text(entry.description), "files": .array(files.map(\.json)),
            "parent": .integer(parent),
        ])
    }
}

extension ReadingRequest.File {
    init(_ value: JSONValue, at place: Place) throws(ManifestError) {
        var reader = try MemberReader(value, at: place)
        path = try reader.parsed("path", "a safe relative path in NFC") { FilePath($0) }
        length = try reader.length("length")
        location = try reader.absolutePath("location")
        try reader.finish()
    }

    var json: JSONValue {
        .members(["path": .text(path.description), "length": .count(length), "location": .text(location)])
    }
}
