package import CanonicalJSON
package import Names

/// `POST /api/v1/blobs/have` asks which of these the registry still needs.
package struct HaveRequest: APIDocument {
    /// Digests asked about in one request; more is a refused request.
    package static let mostDigests = 10_000

    package let digests: [Digest]

    package init(digests: [Digest]) { self.digests = digests }

    package init(_ json: JSONValue) throws(APIError) {
        digests = try json.digests("digests")
        guard digests.count <= Self.mostDigests else {
            throw .badMember(name: "digests", expected: "at most \(Self.mostDigests) digests")
        }
    }

    package var json: JSONValue { .members(["digests": .array(digests.map { .text($0.hex) })]) }
}

/// The blobs to upload before the commit; all others are kept for the publisher for a while.
package struct HaveResponse: APIDocument {
    package let missing: [Digest]

    package init(missing: [Digest]) { self.missing = missing }

    package init(_ json: JSONValue) throws(APIError) { missing = try json.digests("missing") }

    package var json: JSONValue { .members(["missing": .array(missing.map { .text($0.hex) })]) }
}

/// What `PUT /api/v1/blobs/sha256/<hex>` left stored.
package struct BlobResponse: APIDocument {
    package let digest: Digest
    package let length: UInt64

    package init(digest: Digest, length: UInt64) {
        self.digest = digest
        self.length = length
    }

    package init(_ json: JSONValue) throws(APIError) {
        guard let digest = Digest(hex: try json.text("digest")) else {
            throw .badMember(name: "digest", expected: "a SHA-256 digest")
        }
        guard let length = UInt64(exactly: try json.number("length")) else {
            throw .badMember(name: "length", expected: "a number of bytes")
        }
        self.init(digest: digest, length: length)
    }

    package var json: JSONValue {
        .members(["digest": .text(digest.hex), "length": .integer(Int64(clamping: length))])
    }
}
