package import CanonicalJSON
package import Names

/// What a parent document says about a file below it (TUF 1.0.34, 4.4).
package struct MetaFile: Sendable, Equatable {
    package var version: Int64
    package var length: UInt64?
    package var hashes: [String: [UInt8]]

    package init(version: Int64, length: UInt64? = nil, hashes: [String: [UInt8]] = [:]) {
        self.version = version
        self.length = length
        self.hashes = hashes
    }

    init(_ value: JSONValue, role: RoleName) throws(TrustError) {
        let fields = try Fields(value, role: role, place: "meta")
        version = try fields.integer("version", from: 1)
        length = fields.object["length"] == nil ? nil : UInt64(try fields.integer("length", from: 0))
        hashes = fields.object["hashes"] == nil ? [:] : try fields.digests("hashes")
    }

    var json: JSONValue {
        var object = JSONObject()
        object["version"] = .integer(version)
        object["length"] = length.map { .integer(Int64(clamping: $0)) }
        if !hashes.isEmpty { object["hashes"] = Digests.json(hashes) }
        return .object(object)
    }

    /// Checks the bytes served for `role` before anything parses them.
    func check(_ bytes: [UInt8], role: RoleName) throws(TrustError) {
        if let length, length != UInt64(bytes.count) {
            throw .lengthMismatch(role: role, expected: length, found: UInt64(bytes.count))
        }
        try Digests.check(hashes, bytes, role: role)
    }
}

/// The newest snapshot, by version, and signed often: how a client learns that nothing is withheld (TUF 1.0.34, 4.6).
package struct TimestampDocument: SignedDocument, Equatable {
    package var version: Int64
    package var expires: UnixTime
    package var issued: UnixTime?
    package var snapshot: MetaFile

    package init(version: Int64, expires: UnixTime, issued: UnixTime?, snapshot: MetaFile) {
        self.version = version
        self.expires = expires
        self.issued = issued
        self.snapshot = snapshot
    }

    package init(signed: JSONValue, role: RoleName) throws(TrustError) {
        let fields = try Fields(signed, role: role, place: "signed")
        let common = try CommonFields(fields)
        version = common.version
        expires = common.expires
        issued = common.issued
        let meta = try fields.fields("meta").object
        guard let file = meta["snapshot.json"], meta.members.count == 1 else {
            throw fields.malformed("meta", "exactly one entry, snapshot.json")
        }
        snapshot = try MetaFile(file, role: role)
    }

    package var signed: JSONValue {
        var object = CommonFields.signed("timestamp", version: version, expires: expires, issued: issued)
        object["meta"] = .members(["snapshot.json": snapshot.json])
        return .object(object)
    }
}

/// The version of every targets role at one moment, so that they cannot be mixed (TUF 1.0.34, 4.4).
package struct SnapshotDocument: SignedDocument, Equatable {
    package var version: Int64
    package var expires: UnixTime
    package var issued: UnixTime?
    package var roles: [RoleName: MetaFile]

    package init(version: Int64, expires: UnixTime, issued: UnixTime?, roles: [RoleName: MetaFile]) {
        self.version = version
        self.expires = expires
        self.issued = issued
        self.roles = roles
    }

    package init(signed: JSONValue, role: RoleName) throws(TrustError) {
        let fields = try Fields(signed, role: role, place: "signed")
        let common = try CommonFields(fields)
        version = common.version
        expires = common.expires
        issued = common.issued
        roles = [:]
        for member in try fields.fields("meta").object.members {
            let suffix = Array(".json".utf8)
            guard member.key.utf8.count > suffix.count, member.key.utf8.suffix(suffix.count) == suffix[...]
            else {
                throw fields.malformed("meta", "a list of ROLE.json: \(member.key.string)")
            }
            let name = String(decoding: member.key.utf8.dropLast(suffix.count), as: UTF8.self)
            roles[RoleName(name)] = try MetaFile(member.value, role: role)
        }
        guard roles[.targets] != nil else { throw fields.malformed("meta", "a list with targets.json") }
    }

    package var signed: JSONValue {
        var object = CommonFields.signed("snapshot", version: version, expires: expires, issued: issued)
        var meta = JSONObject()
        for (role, file) in roles.sorted(by: { $0.key < $1.key }) { meta["\(role).json"] = file.json }
        object["meta"] = .object(meta)
        return .object(object)
    }
}
