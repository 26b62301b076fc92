import CanonicalJSON
import Names

/// One role that a targets role delegates to, and the paths it may speak for (TUF 1.0.34, 4.5).
package struct Delegation: Sendable, Equatable {
    package var name: String
    package var roleKeys: RoleKeys

    /// Patterns of ``TargetPath/matches(_:)``.
    package var paths: [String]

    /// Whether the search ends with this role for the paths it matches.
    package var terminating: Bool

    /// Whether the role is scoped by digest prefixes, which Sealift does not follow yet.
    package let usesHashPrefixes: Bool

    package var role: RoleName { .delegated(name) }

    package init(name: String, keyIDs: [String], threshold: Int, paths: [String], terminating: Bool) {
        self.name = name
        roleKeys = RoleKeys(keyIDs: keyIDs, threshold: threshold)
        self.paths = paths
        self.terminating = terminating
        usesHashPrefixes = false
    }

    init(_ value: JSONValue, role: RoleName) throws(TrustError) {
        let fields = try Fields(value, role: role, place: "delegations.roles")
        name = try fields.text("name")
        guard !name.isEmpty, case .delegated = RoleName(name) else {
            throw fields.malformed("name", "the name of a delegated role")
        }
        roleKeys = try RoleKeys(fields)
        terminating = try fields.bool("terminating")
        usesHashPrefixes = fields.object["path_hash_prefixes"] != nil
        guard usesHashPrefixes != (fields.object["paths"] != nil) else {
            throw fields.malformed("paths", "there, or not alone")
        }
        paths = usesHashPrefixes ? [] : try fields.texts("paths")
    }

    var json: JSONValue {
        var object = JSONObject()
        object["name"] = .text(name)
        roleKeys.write(into: &object)
        object["paths"] = .array(paths.map { .text($0) })
        object["terminating"] = .bool(terminating)
        return .object(object)
    }
}

/// The roles that a targets role delegates to, in the order of the search, and their keys.
package struct Delegations: Sendable, Equatable {
    package var keys: [String: KeyObject]
    package var roles: [Delegation]

    /// Whether these are succinct hashed bins (TAP 15), which Sealift does not follow yet.
    package let isSuccinct: Bool

    package init(keys: [KeyObject], roles: [Delegation]) {
        self.keys = Dictionary(keys.map { ($0.id, $0) }) { first, _ in first }
        self.roles = roles
        isSuccinct = false
    }

    init(_ fields: Fields) throws(TrustError) {
        keys = try KeyObject.keys(try fields.fields("keys"))
        isSuccinct = fields.object["succinct_roles"] != nil
        roles = []
        guard isSuccinct != (fields.object["roles"] != nil) else {
            throw fields.malformed("roles", "there, or not alone")
        }
        guard !isSuccinct else { return }
        guard let listed = fields.object["roles"]?.array else { throw fields.malformed("roles", "a list") }
        for value in listed { roles.append(try Delegation(value, role: fields.role)) }
        guard Set(roles.map(\.role)).count == roles.count else {
            throw fields.malformed("roles", "a list without repetition")
        }
    }

    package subscript(role: RoleName) -> Delegation? { roles.first { $0.role == role } }

    var json: JSONValue {
        .members(["keys": KeyObject.signed(keys), "roles": .array(roles.map(\.json))])
    }
}

extension TargetsDocument {
    /// Who must sign the delegated `role`.
    ///
    /// - Throws: `TrustError.notDelegated` when this document does not delegate to it.
    package func quorum(for role: RoleName, named parent: RoleName) throws(TrustError) -> Quorum {
        guard let delegations, let delegation = delegations[role] else {
            throw .notDelegated(role: role, by: parent)
        }
        return Quorum(role: role, keys: delegations.keys, roleKeys: delegation.roleKeys)
    }
}
