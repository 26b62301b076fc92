import CanonicalJSON
import Names
import Signing

/// Digests by algorithm name, as METAFILES and TARGETS list them.
enum Digests {
    /// Every listed digest must match; an algorithm nobody here computes never does.
    static func check(_ hashes: [String: [UInt8]], _ bytes: [UInt8], role: RoleName) throws(TrustError) {
        for (algorithm, expected) in hashes.sorted(by: { $0.key < $1.key }) {
            let found: [UInt8]? =
                switch algorithm {
                case "sha256": SHA256.digest(of: bytes).bytes
                case "sha512": SHA512.digest(of: bytes)
                default: nil
                }
            guard let found, found == expected else {
                throw .digestMismatch(role: role, algorithm: algorithm)
            }
        }
    }

    static func json(_ hashes: [String: [UInt8]]) -> JSONValue {
        var object = JSONObject()
        for (algorithm, digest) in hashes { object[algorithm] = .text(Hex.text(digest)) }
        return .object(object)
    }
}
