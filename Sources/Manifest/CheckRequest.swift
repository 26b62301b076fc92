package import CanonicalJSON
package import Names

/// `sealift/check-request@1`: what one process asks another to try a model with.
///
/// It goes from a process to the child that it starts, and never over a
/// network; the child answers with a `CheckAnswer`.
package struct CheckRequest: CanonicalDocument {
    /// What to do with what the model gives.
    package enum Wish: String, Sendable, CaseIterable {
        /// Compare it with what is expected.
        case compare

        /// Tell it, so that somebody may expect it from now on.
        case record
    }

    package static let documentType = DocumentType.checkRequest

    /// As many golden vectors as a manifest has room for, and the place of each file that they may name.
    package static let maximumLength = 32 << 20

    /// The runtime's library, an absolute path on this machine.
    package var runtime: String

    /// The model's main file, an absolute path; what else the model names lies beside it.
    package var entry: String
    package var interface: Interface

    /// As a manifest has them; to be recorded also without outputs.
    package var checks: [JSONValue]

    /// Where the files lie that the vectors name, absolute paths.
    package var files: [FilePath: String]
    package var wish: Wish

    /// The process that waits for the answer; a child that has another parent was left alone.
    package var parent: Int64

    package init(
        runtime: String,
        entry: String,
        interface: Interface,
        checks: [JSONValue],
        files: [FilePath: String] = [:],
        wish: Wish = .compare,
        parent: Int64
    ) {
        self.runtime = runtime
        self.entry = entry
        self.interface = interface
        self.checks = checks
        self.files = files
        self.wish = wish
        self.parent = parent
    }

    package init(json: JSONValue) throws(ManifestError) {
        var reader = try Self.reader(json)
        runtime = try reader.absolutePath("runtime")
        entry = try reader.absolutePath("entry")
        interface = try Interface(try reader.value("interface"), at: reader.place.member("interface"))
        checks = try reader.array("checks").map { $0.value }
        wish = try reader.parsed("wish", "compare or record") { Wish(rawValue: $0) }
        parent = try reader.integer("parent", in: 1...Int64(Int32.max))
        files = [:]
        for (value, place) in try reader.array("files") {
            var inner = try MemberReader(value, at: place)
            let path = try inner.parsed("path", "a safe relative path in NFC") { FilePath($0) }
            let location = try inner.absolutePath("location")
            try inner.finish()
            guard files.updateValue(location, forKey: path) == nil else {
                throw place.member("path").invalid("a path that stands once", "\(path)")
            }
        }
        try reader.finish()
    }

    package var json: JSONValue {
        let places = files.sorted { $0.key < $1.key }.map { file in
            JSONValue.members(["path": .text(file.key.description), "location": .text(file.value)])
        }
        return .members([
            "type": .text(Self.documentType.rawValue), "runtime": .text(runtime), "entry": .text(entry),
            "interface": interface.json, "checks": .array(checks), "files": .array(places),
            "wish": .text(wish.rawValue), "parent": .integer(parent),
        ])
    }
}
