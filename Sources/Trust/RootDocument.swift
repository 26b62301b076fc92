package import CanonicalJSON
package import Names

/// The root of trust: the keys of every top-level role (TUF 1.0.34, 4.3).
package struct RootDocument: SignedDocument, Equatable {
    package var version: Int64
    package var expires: UnixTime
    package var consistentSnapshot: Bool
    package var keys: [String: KeyObject]
    package var roles: [RoleName: RoleKeys]

    /// Sealift's own member; `nil` when absent or not well formed.
    package var sealift: SealiftRootPolicy?

    package var issued: UnixTime? { nil }

    package init(
        version: Int64,
        expires: UnixTime,
        consistentSnapshot: Bool = true,
        keys: [KeyObject],
        roles: [RoleName: RoleKeys],
        sealift: SealiftRootPolicy?
    ) {
        self.version = version
        self.expires = expires
        self.consistentSnapshot = consistentSnapshot
        self.keys = Dictionary(keys.map { ($0.id, $0) }) { first, _ in first }
        self.roles = roles
        self.sealift = sealift
    }

    package init(signed: JSONValue, role: RoleName) throws(TrustError) {
        let fields = try Fields(signed, role: role, place: "signed")
        let common = try CommonFields(fields)
        // A root is followed by the very next version, so there must be one.
        guard common.version < .max else { throw fields.malformed("version", "below \(Int64.max)") }
        version = common.version
        expires = common.expires
        consistentSnapshot =
            fields.object["consistent_snapshot"] == nil ? false : try fields.bool("consistent_snapshot")
        keys = try KeyObject.keys(try fields.fields("keys"))
        let listed = try fields.fields("roles")
        roles = [:]
        for name in [RoleName.root, .timestamp, .snapshot, .targets] {
            roles[name] = try RoleKeys(try listed.fields(name.description))
        }
        let known = ["mirrors", "root", "snapshot", "targets", "timestamp"]
        guard listed.object.keys.allSatisfy({ known.contains($0) }) else {
            throw fields.malformed("roles", "the four top-level roles")
        }
        sealift = fields.object["sealift"].flatMap { SealiftRootPolicy($0) }
    }

    package var signed: JSONValue {
        var object = CommonFields.signed("root", version: version, expires: expires)
        object["consistent_snapshot"] = .bool(consistentSnapshot)
        object["keys"] = KeyObject.signed(keys)
        var listed = JSONObject()
        for (name, roleKeys) in roles {
            var entry = JSONObject()
            roleKeys.write(into: &entry)
            listed[name.description] = .object(entry)
        }
        object["roles"] = .object(listed)
        object["sealift"] = sealift?.json
        return .object(object)
    }

    /// Who must sign `role`.
    ///
    /// - Throws: `TrustError.notDelegated` for any but the four top-level roles.
    package func quorum(for role: RoleName) throws(TrustError) -> Quorum {
        guard let roleKeys = roles[role] else { throw .notDelegated(role: role, by: .root) }
        return Quorum(role: role, keys: keys, roleKeys: roleKeys)
    }
}
