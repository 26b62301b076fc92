package import Names

/// A role file as the registry holds it.
package struct RoleFile: Sendable, Equatable {
    /// As in the snapshot, without `.json`: `targets`, `vision~detector`; also `root` and `snapshot`.
    package let role: String
    package let version: Int64
    package let bytes: [UInt8]
    package let sha256: Digest

    package init(role: String, version: Int64, bytes: [UInt8], sha256: Digest) {
        self.role = role
        self.version = version
        self.bytes = bytes
        self.sha256 = sha256
    }
}

/// A timestamp: what devices poll.
package struct TimestampFile: Sendable, Equatable {
    package let version: Int64

    /// The version of the snapshot that it shows.
    package let snapshot: Int64
    package let bytes: [UInt8]
    package let sha256: Digest
    package let issued: UnixTime

    package init(version: Int64, snapshot: Int64, bytes: [UInt8], sha256: Digest, issued: UnixTime) {
        self.version = version
        self.snapshot = snapshot
        self.bytes = bytes
        self.sha256 = sha256
        self.issued = issued
    }
}

/// A document that a role lists.
package struct TargetDocument: Sendable, Equatable {
    package let path: String
    package let sha256: Digest
    package let bytes: [UInt8]

    package init(path: String, sha256: Digest, bytes: [UInt8]) {
        self.path = path
        self.sha256 = sha256
        self.bytes = bytes
    }
}

/// A log entry in its place.
package struct LogRow: Sendable, Equatable {
    /// From 0, without gaps.
    package let index: Int64
    package let entry: [UInt8]

    /// RFC 6962, 2.1: SHA-256 of a zero byte and the entry.
    package let leafHash: Digest
    package let role: String
    package let version: Int64

    package init(index: Int64, entry: [UInt8], leafHash: Digest, role: String, version: Int64) {
        self.index = index
        self.entry = entry
        self.leafHash = leafHash
        self.role = role
        self.version = version
    }
}

/// A version that was published, and the one manifest that it stands for.
package struct PublishedVersion: Sendable, Equatable {
    package let model: ModelName
    package let version: ModelVersion
    package let manifest: Digest

    package init(model: ModelName, version: ModelVersion, manifest: Digest) {
        self.model = model
        self.version = version
        self.manifest = manifest
    }
}

/// All that one commit adds, written together or not at all.
package struct Revision: Sendable, Equatable {
    /// The version of the snapshot that it ends with; also the commit's number.
    package let snapshot: Int64
    package let time: UnixTime

    /// Whose commit it is, for the record; `nil` for what the registry renews by itself.
    package var author: String?

    /// In log order, the snapshot last.
    package var files: [RoleFile] = []

    /// One for each file, in the same order.
    package var log: [LogRow] = []
    package var documents: [TargetDocument] = []
    package var versions: [PublishedVersion] = []

    /// The blobs that each new manifest needs.
    package var blobs: [Digest: Set<Digest>] = [:]

    /// Display names by role; no part of the log.
    package var owners: [String: OwnerName] = [:]

    /// Apps that it breaks, each named by who committed it.
    package var broken: [BrokenExpectation] = []

    package init(snapshot: Int64, time: UnixTime) {
        self.snapshot = snapshot
        self.time = time
    }
}
