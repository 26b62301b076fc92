import CanonicalJSON
package import Names

/// One line of the log: that a role file or a snapshot was published.
///
/// `{changes, kind, length, role, sha256, time, type: "sealift/entry@1", version}`
/// in RFC 8785 form. It binds (role, version) to one digest for ever. No
/// personal data: who signed stands in the file itself.
package struct LogEntry: Sendable, Equatable {
    package enum Kind: String, Sendable, CaseIterable {
        case root, targets, namespace, release, live, hold, snapshot
    }

    package let kind: Kind

    /// The metadata role, for example `vision~detector`.
    package let role: String
    package let version: Int64

    /// The digest of the file as served.
    package let sha256: Digest
    package let length: UInt64

    /// For people; history is worked out from the role files themselves.
    package let changes: [String]
    package let time: UnixTime

    package init(
        kind: Kind,
        role: String,
        version: Int64,
        sha256: Digest,
        length: UInt64,
        changes: [String],
        time: UnixTime
    ) {
        self.kind = kind
        self.role = role
        self.version = version
        self.sha256 = sha256
        self.length = length
        self.changes = changes
        self.time = time
    }

    /// Decodes an entry, refusing any but the canonical bytes.
    ///
    /// - Throws: `TransparencyError` that names what is wrong.
    package init(canonical bytes: [UInt8]) throws(TransparencyError) {
        guard bytes.count <= Int(Limits.logEntry.rawValue) else {
            throw .entryTooLong(found: bytes.count, limit: Limits.logEntry)
        }
        let value: JSONValue
        do {
            value = try JSONParser.parse(bytes, maximumLength: bytes.count)
        } catch {
            throw .malformedEntry(reason: error.description)
        }
        guard value.rfc8785 == bytes else { throw .notCanonical }
        let members = ["changes", "kind", "length", "role", "sha256", "time", "type", "version"]
        guard value.object?.keys == members, value["type"]?.string == "sealift/entry@1" else {
            throw .malformedEntry(reason: "not the members of sealift/entry@1")
        }
        guard let kind = value["kind"]?.string.flatMap({ Kind(rawValue: $0) }),
            let role = value["role"]?.string, !role.isEmpty,
            let version = value["version"]?.integer, version >= 1,
            let sha256 = value["sha256"]?.string.flatMap({ Digest(hex: $0) }),
            let length = value["length"]?.integer, length >= 0,
            let changes = value["changes"]?.array,
            let time = value["time"]?.string.flatMap({ UnixTime($0) })
        else { throw .malformedEntry(reason: "a member of the wrong kind") }
        let texts = changes.compactMap(\.string)
        guard texts.count == changes.count else {
            throw .malformedEntry(reason: "`changes` is not a list of text")
        }
        self.init(
            kind: kind,
            role: role,
            version: version,
            sha256: sha256,
            length: UInt64(length),
            changes: texts,
            time: time
        )
    }

    /// The entry as it stands in the log.
    ///
    /// - Throws: `TransparencyError.entryTooLong` when `changes` says too much,
    ///   `.malformedEntry` for a number that RFC 8785 cannot carry.
    package func canonical() throws(TransparencyError) -> [UInt8] {
        let value = JSONValue.members([
            "type": .text("sealift/entry@1"),
            "kind": .text(kind.rawValue),
            "role": .text(role),
            "version": .integer(version),
            "sha256": .text(sha256.hex),
            "length": .integer(Int64(clamping: length)),
            "changes": .array(changes.map { .text($0) }),
            "time": .text(time.description),
        ])
        guard let bytes = value.rfc8785 else { throw .malformedEntry(reason: "a number beyond 2^53 - 1") }
        guard bytes.count <= Int(Limits.logEntry.rawValue) else {
            throw .entryTooLong(found: bytes.count, limit: Limits.logEntry)
        }
        return bytes
    }
}
