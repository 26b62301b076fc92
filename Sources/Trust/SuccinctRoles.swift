import CanonicalJSON
import Names
import Signing

/// Hashed bins in short: 2^bits delegated roles with the same keys, each for an equal share of the paths (TAP 15).
package struct SuccinctRoles: Sendable, Equatable {
    package let roleKeys: RoleKeys

    /// 1 to 32: how many bits of a path's digest name its bin.
    package let bitLength: Int
    package let namePrefix: String

    package init(keyIDs: [String], threshold: Int, bitLength: Int, namePrefix: String) {
        precondition((1...32).contains(bitLength), "bins are named by 1 to 32 bits")
        roleKeys = RoleKeys(keyIDs: keyIDs, threshold: threshold)
        self.bitLength = bitLength
        self.namePrefix = namePrefix
    }

    init(_ fields: Fields) throws(TrustError) {
        roleKeys = try RoleKeys(fields)
        let bits = try fields.integer("bit_length", from: 1)
        guard bits <= 32 else { throw fields.malformed("bit_length", "1 to 32") }
        bitLength = Int(bits)
        namePrefix = try fields.text("name_prefix")
        guard !namePrefix.isEmpty else { throw fields.malformed("name_prefix", "a name") }
    }

    /// The bin that may list `path`.
    package func role(for path: TargetPath) -> RoleName {
        let digest = SHA256.digest(of: Array(path.description.utf8)).bytes
        let first = digest.prefix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        return role(first >> UInt32(32 - bitLength))
    }

    /// Whether `role` is one of the bins.
    package func contains(_ role: RoleName) -> Bool {
        let suffix = role.description.split(separator: "-", omittingEmptySubsequences: false).last ?? ""
        guard suffix.utf8.count <= 8, let bin = UInt32(suffix, radix: 16) else { return false }
        return UInt64(bin) < 1 << UInt64(bitLength) && self.role(bin) == role
    }

    private func role(_ bin: UInt32) -> RoleName {
        let width = (bitLength + 3) / 4
        let digits = String(bin, radix: 16)
        let padding = String(repeating: "0", count: max(0, width - digits.utf8.count))
        return .delegated("\(namePrefix)-\(padding)\(digits)")
    }

    var json: JSONValue {
        var object = JSONObject()
        roleKeys.write(into: &object)
        object["bit_length"] = .integer(Int64(bitLength))
        object["name_prefix"] = .text(namePrefix)
        return .object(object)
    }
}
