import CanonicalJSON
import Names
import Trust

/// What a metadata file says of itself, before or without its signatures.
///
/// For two uses only: the version that a posted file claims, so that a stale
/// one is answered by a conflict before it is judged, and files that this
/// registry verified when it stored them.
enum Claim {
    static func version(of bytes: [UInt8], role: RoleName) throws(TrustError) -> Int64 {
        guard let version = try signed(in: bytes, role: role)["version"]?.integer, version > 0 else {
            throw .malformed(role: role, reason: "`version` is not a positive integer")
        }
        return version
    }

    static func expiry(of bytes: [UInt8], role: RoleName) throws(TrustError) -> UnixTime {
        guard let expires = try signed(in: bytes, role: role)["expires"]?.string.flatMap({ UnixTime($0) })
        else {
            throw .malformed(role: role, reason: "`expires` is not a time")
        }
        return expires
    }

    static func document<Document: SignedDocument>(
        in bytes: [UInt8],
        role: RoleName
    ) throws(TrustError) -> Document {
        try Document(signed: try signed(in: bytes, role: role), role: role)
    }

    private static func signed(in bytes: [UInt8], role: RoleName) throws(TrustError) -> JSONValue {
        let value: JSONValue
        do {
            value = try JSONParser.parse(
                bytes,
                maximumLength: Int(role.maximumLength.rawValue),
                maximumDepth: 64
            )
        } catch {
            throw .malformed(role: role, reason: "\(error)")
        }
        guard let signed = value["signed"] else { throw .malformed(role: role, reason: "no member `signed`") }
        return signed
    }
}
