package import CanonicalJSON
package import Names

/// `GET /api/v1/owners`: whose a role is, by role, in words for people.
package struct OwnerList: APIDocument {
    package let owners: [String: OwnerName]

    package init(owners: [String: OwnerName]) { self.owners = owners }

    package init(_ json: JSONValue) throws(APIError) { owners = try json.owners("owners") }

    package var json: JSONValue { .members(["owners": .owners(owners)]) }
}

extension JSONValue {
    static func owners(_ owners: [String: OwnerName]) -> JSONValue {
        var object = JSONObject()
        for (role, name) in owners { object[role] = .text(name.description) }
        return .object(object)
    }

    func owners(_ name: String) throws(APIError) -> [String: OwnerName] {
        guard let object = self[name]?.object else { throw .badMember(name: name, expected: "an object") }
        var owners: [String: OwnerName] = [:]
        for member in object.members {
            guard let owner = member.value.string.flatMap({ OwnerName($0) }) else {
                throw .badMember(name: name, expected: "names of one line and at most 256 bytes")
            }
            owners[member.key.string] = owner
        }
        return owners
    }
}
