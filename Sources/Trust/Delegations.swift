import CanonicalJSON
import Names
import Signing

/// One role that a targets role delegates to, and the paths it may speak for (TUF 1.0.34, 4.5).
package struct Delegation: Sendable, Equatable {
    package var name: String
    package var roleKeys: RoleKeys

    /// Patterns of ``TargetPath/matches(_:)``.
    package var paths: [String]

    /// What the hexadecimal SHA-256 of a path may begin with, in the place of `paths`.
    package let hashPrefixes: [String]?

    /// Whether the search ends with this role for the paths it matches.
    package var terminating: Bool

    package var role: RoleName { .delegated(name) }

    package init(name: String, keyIDs: [String], threshold: Int, paths: [String], terminating: Bool) {
        self.name = name
        roleKeys = RoleKeys(keyIDs: keyIDs, threshold: threshold)
        self.paths = paths
        hashPrefixes = nil
        self.terminating = terminating
    }

    init(_ value: JSONValue, role: RoleName) throws(TrustError) {
        let fields = try Fields(value, role: role, place: "delegations.roles")
        name = try fields.text("name")
        guard !name.isEmpty, case .delegated = RoleName(name) else {
            throw fields.malformed("name", "the name of a delegated role")
        }
        roleKeys = try RoleKeys(fields)
        terminating = try fields.bool("terminating")
        switch (fields.object["paths"] != nil, fields.object["path_hash_prefixes"] != nil) {
        case (true, false):
            paths = try fields.texts("paths")
            hashPrefixes = nil
        case (false, true):
            paths = []
            hashPrefixes = try fields.texts("path_hash_prefixes")
        default: throw fields.malformed("paths", "there, or not alone")
        }
    }

    /// Whether the role may speak for `path`.
    package func covers(_ path: TargetPath) -> Bool {
        guard let hashPrefixes else { return paths.contains { path.matches($0) } }
        let digest = SHA256.digest(of: Array(path.description.utf8)).hex
        return hashPrefixes.contains { digest.utf8.starts(with: $0.utf8) }
    }

    var json: JSONValue {
        var object = JSONObject()
        object["name"] = .text(name)
        roleKeys.write(into: &object)
        if let hashPrefixes {
            object["path_hash_prefixes"] = .array(hashPrefixes.map { .text($0) })
        } else {
            object["paths"] = .array(paths.map { .text($0) })
        }
        object["terminating"] = .bool(terminating)
        return .object(object)
    }
}

/// The roles that a targets role delegates to, in the order of the search, and their keys.
package struct Delegations: Sendable, Equatable {
    package var keys: [String: KeyObject]
    package var roles: [Delegation]

    /// Hashed bins, in the place of `roles`.
    package let succinct: SuccinctRoles?

    package init(keys: [KeyObject], roles: [Delegation]) {
        self.keys = Dictionary(keys.map { ($0.id, $0) }) { first, _ in first }
        self.roles = roles
        succinct = nil
    }

    init(_ fields: Fields) throws(TrustError) {
        keys = try KeyObject.keys(try fields.fields("keys"))
        roles = []
        switch (fields.object["roles"], fields.object["succinct_roles"] != nil) {
        case (nil, true): succinct = try SuccinctRoles(try fields.fields("succinct_roles"))
        case (let listed?, false):
            succinct = nil
            guard let listed = listed.array else { throw fields.malformed("roles", "a list") }
            for value in listed { roles.append(try Delegation(value, role: fields.role)) }
            guard Set(roles.map(\.role)).count == roles.count else {
                throw fields.malformed("roles", "a list without repetition")
            }
        default: throw fields.malformed("roles", "there, or not alone")
        }
    }

    package subscript(role: RoleName) -> Delegation? { roles.first { $0.role == role } }

    /// The roles to search for `path`, in order, and whether the search ends with the last of them.
    func roles(for path: TargetPath) -> (roles: [RoleName], isLast: Bool) {
        if let succinct { return ([succinct.role(for: path)], true) }
        var found: [RoleName] = []
        for delegation in roles where delegation.covers(path) {
            found.append(delegation.role)
            if delegation.terminating { return (found, true) }
        }
        return (found, false)
    }

    var json: JSONValue {
        var object = JSONObject()
        object["keys"] = KeyObject.signed(keys)
        if let succinct {
            object["succinct_roles"] = succinct.json
        } else {
            object["roles"] = .array(roles.map(\.json))
        }
        return .object(object)
    }
}

extension TargetsDocument {
    /// Who must sign the delegated `role`.
    ///
    /// - Throws: `TrustError.notDelegated` when this document does not delegate to it.
    package func quorum(for role: RoleName, named parent: RoleName) throws(TrustError) -> Quorum {
        guard let delegations else { throw .notDelegated(role: role, by: parent) }
        let roleKeys =
            if let succinct = delegations.succinct {
                succinct.contains(role) ? succinct.roleKeys : nil
            } else {
                delegations[role]?.roleKeys
            }
        guard let roleKeys else { throw .notDelegated(role: role, by: parent) }
        return Quorum(role: role, keys: delegations.keys, roleKeys: roleKeys)
    }
}
