package import CanonicalJSON
package import Names
import Signing

/// A file that a targets role vouches for (TUF 1.0.34, 4.5).
package struct TargetFile: Sendable, Equatable {
    package var length: UInt64
    package var hashes: [String: [UInt8]]
    package var custom: JSONValue?

    package init(length: UInt64, hashes: [String: [UInt8]], custom: JSONValue? = nil) {
        self.length = length
        self.hashes = hashes
        self.custom = custom
    }

    /// Describes `content`, as Sealift lists files: length and SHA-256.
    package init(of content: [UInt8]) {
        self.init(length: UInt64(content.count), hashes: ["sha256": SHA256.digest(of: content).bytes])
    }

    init(_ value: JSONValue, role: RoleName) throws(TrustError) {
        let fields = try Fields(value, role: role, place: "targets")
        length = UInt64(try fields.integer("length", from: 0))
        hashes = try fields.digests("hashes")
        custom = fields.object["custom"]
    }

    private static let lengthKey = JSONText("length")
    private static let hashesKey = JSONText("hashes")

    /// Throws what ``init(_:role:)`` would, and makes nothing of what is plainly right.
    ///
    /// - Throws: `TrustError.malformed`.
    static func check(_ value: JSONValue, role: RoleName) throws(TrustError) {
        if case .object(let file) = value, case .integer(let length)? = file[lengthKey], length >= 0,
            case .object(let hashes)? = file[hashesKey], !hashes.isEmpty,
            hashes.allMembers(satisfy: { name, value in
                guard case .string(let digits) = value, !digits.utf8.isEmpty else { return false }
                // Two names of ASCII that differ, differ as text too.
                return Hex.isBytes(digits.utf8) && name.utf8.allSatisfy { $0 < 0x80 }
            })
        {
            return
        }
        _ = try TargetFile(value, role: role)
    }

    package var sha256: Digest? { hashes["sha256"].flatMap { Digest(bytes: $0) } }

    /// Whether `content` is this file: its length and every listed digest.
    package func describes(_ content: [UInt8]) -> Bool {
        guard length == UInt64(content.count) else { return false }
        do {
            try Digests.check(hashes, content, role: .targets)
            return true
        } catch {
            return false
        }
    }

    var json: JSONValue {
        var object = JSONObject()
        object["length"] = .integer(Int64(clamping: length))
        object["hashes"] = Digests.json(hashes)
        object["custom"] = custom
        return .object(object)
    }
}

/// Files, and the roles that speak for further ones (TUF 1.0.34, 4.5): the top-level targets role and every delegated one.
package struct TargetsDocument: SignedDocument, Equatable {
    package var version: Int64
    package var expires: UnixTime
    package var issued: UnixTime?
    package var targets: TargetList
    package var delegations: Delegations?

    /// The administrators' or the team's recall: Sealift's own member.
    package var deny: [Denial]

    /// Whether a member `deny` is there that Sealift cannot read.
    package let hasMalformedDeny: Bool

    package init(
        version: Int64,
        expires: UnixTime,
        issued: UnixTime? = nil,
        targets: [TargetPath: TargetFile],
        delegations: Delegations? = nil,
        deny: [Denial] = []
    ) {
        self.version = version
        self.expires = expires
        self.issued = issued
        self.targets = TargetList(targets)
        self.delegations = delegations
        self.deny = deny
        hasMalformedDeny = false
    }

    package init(signed: JSONValue, role: RoleName) throws(TrustError) {
        let fields = try Fields(signed, role: role, place: "signed")
        let common = try CommonFields(fields)
        version = common.version
        expires = common.expires
        issued = common.issued
        targets = try TargetList(try fields.fields("targets").object, role: role)
        delegations =
            fields.object["delegations"] == nil ? nil : try Delegations(try fields.fields("delegations"))
        let denials = fields.object["deny"].map { value in value.array.map { $0.map { Denial($0) } } ?? [nil]
        }
        deny = denials?.compactMap { $0 } ?? []
        hasMalformedDeny = denials?.contains { $0 == nil } ?? false
    }

    package var signed: JSONValue {
        var object = CommonFields.signed("targets", version: version, expires: expires, issued: issued)
        object["targets"] = .object(targets.json)
        object["delegations"] = delegations?.json
        if !deny.isEmpty { object["deny"] = .array(deny.map(\.json)) }
        return .object(object)
    }
}
