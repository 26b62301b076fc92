import CanonicalJSON
package import Names

/// A blob by its address and length.
package struct BlobReference: Equatable, Hashable, Sendable {
    package var sha256: Digest
    package var length: UInt64

    package init(sha256: Digest, length: UInt64) {
        self.sha256 = sha256
        self.length = length
    }
}

/// The signed reference to a file's block list.
package struct BlockListReference: Equatable, Hashable, Sendable {
    /// Bytes a block.
    package var size: UInt64
    package var list: BlobReference

    package init(size: UInt64, list: BlobReference) {
        self.size = size
        self.list = list
    }
}

/// One file of a variant.
package struct ManifestFile: Equatable, Hashable, Sendable {
    package var path: FilePath
    package var length: UInt64
    package var sha256: Digest

    /// Present exactly for files of 64 KiB and more.
    package var blocks: BlockListReference?

    package init(path: FilePath, length: UInt64, sha256: Digest, blocks: BlockListReference?) {
        self.path = path
        self.length = length
        self.sha256 = sha256
        self.blocks = blocks
    }
}

extension ManifestFile {
    init(_ value: JSONValue, at place: Place) throws(ManifestError) {
        var reader = try MemberReader(value, at: place)
        path = try reader.parsed("path", "a safe relative path in NFC") { FilePath($0) }
        length = try reader.length("length")
        sha256 = try reader.digest("sha256")
        blocks = nil
        if var inner = try reader.optionalReader("blocks") {
            let size = try inner.length("size")
            blocks = BlockListReference(size: size, list: try BlobReference(&inner, "list"))
            try inner.finish()
        }
        try reader.finish()
        try checkBlocks(at: place)
    }

    /// The block size and the list's length must be those that follow from the file's length.
    private func checkBlocks(at place: Place) throws(ManifestError) {
        let place = place.member("blocks")
        guard let plan = BlockPlan.for(length: length) else {
            guard blocks == nil else { throw place.invalid("absent for a file under 64 KiB", "present") }
            return
        }
        guard let blocks else { throw .missing(place.document, member: place.path) }
        guard blocks.size == plan.blockSize else {
            throw place.member("size").invalid("\(plan.blockSize) for this length", "\(blocks.size)")
        }
        guard blocks.list.length == plan.listLength else {
            let expected = "\(plan.listLength), 32 for each of \(plan.blockCount) blocks"
            throw place.member("list.length").invalid(expected, "\(blocks.list.length)")
        }
    }

    var json: JSONValue {
        var object = JSONObject()
        object["path"] = .text(path.description)
        object["length"] = .count(length)
        object["sha256"] = .text(sha256.hex)
        if let blocks {
            object["blocks"] = .members(["size": .count(blocks.size), "list": blocks.list.json])
        }
        return .object(object)
    }
}

extension BlobReference {
    init(_ reader: inout MemberReader, _ key: String) throws(ManifestError) {
        var inner = try reader.reader(key)
        sha256 = try inner.digest("sha256")
        length = try inner.length("length")
        try inner.finish()
    }

    var json: JSONValue { .members(["length": .count(length), "sha256": .text(sha256.hex)]) }
}
