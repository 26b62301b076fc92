package import CanonicalJSON
import Names
package import Signing

/// A public key as root and targets roles list it (TUF 1.0.34, 4.2.2).
package struct KeyObject: Sendable, Equatable {
    /// The object as received: members nobody knows are part of its ID.
    package let value: JSONValue

    /// `nil` for a type of key that this program cannot use, or a malformed one.
    ///
    /// Such a key is skipped rather than its file refused, so that new types of
    /// key can be listed beside the old.
    package let publicKey: PublicKey?

    package init(_ key: PublicKey) {
        value = .members([
            "keytype": .text(key.keytype),
            "scheme": .text(key.scheme),
            "keyval": .members(["public": .text(key.publicText)]),
        ])
        publicKey = key
    }

    init(_ value: JSONValue, role: RoleName) throws(TrustError) {
        let fields = try Fields(value, role: role, place: "keys")
        self.value = value
        let (keytype, scheme) = (try fields.text("keytype"), try fields.text("scheme"))
        let text = try fields.fields("keyval").object["public"]?.string ?? ""
        do throws(SigningError) {
            publicKey = try PublicKey.read(keytype: keytype, scheme: scheme, publicText: text)
        } catch {
            throw .unverifiable(role: role, reason: "\(error)")
        }
    }

    /// The SHA-256 of the canonical object (TUF 1.0.34, 4.2.3).
    package var id: String { SHA256.digest(of: value.olpcCanonical).hex }

    /// Whether `id` is the key's own: its digest, or the digest without members that TUF does not define.
    ///
    /// The second because tools add such members to keys that are listed
    /// already. Neither lets one key count as two: a threshold counts keys.
    private func answers(to id: JSONText) -> Bool {
        if id == JSONText(self.id) { return true }
        guard let object = value.object else { return false }
        var defined = JSONObject()
        for member in ["keytype", "scheme", "keyval"] { defined[member] = object[member] }
        return id == JSONText(SHA256.digest(of: JSONValue.object(defined).olpcCanonical).hex)
    }

    /// Reads a `keys` member, and refuses one that gives a key a name not its own.
    static func keys(_ fields: Fields) throws(TrustError) -> [String: KeyObject] {
        var keys: [String: KeyObject] = [:]
        for member in fields.object.members {
            let key = try KeyObject(member.value, role: fields.role)
            guard key.answers(to: member.key) else {
                throw .keyIDMismatch(role: fields.role, keyID: member.key.string, computed: key.id)
            }
            keys[member.key.string] = key
        }
        return keys
    }

    static func signed(_ keys: [String: KeyObject]) -> JSONValue {
        var object = JSONObject()
        for (id, key) in keys.sorted(by: { $0.key < $1.key }) { object[id] = key.value }
        return .object(object)
    }
}

/// Whose signatures a role needs: `keyids` and `threshold` (TUF 1.0.34, 4.3).
package struct RoleKeys: Sendable, Equatable {
    package var keyIDs: [String]
    package var threshold: Int

    package init(keyIDs: [String], threshold: Int) {
        self.keyIDs = keyIDs
        self.threshold = threshold
    }

    init(_ fields: Fields) throws(TrustError) {
        keyIDs = try fields.texts("keyids")
        threshold = Int(try fields.integer("threshold", from: 1))
        guard Set(keyIDs.map(JSONText.init)).count == keyIDs.count else {
            throw fields.malformed("keyids", "a list without repetition")
        }
    }

    func write(into object: inout JSONObject) {
        object["keyids"] = .array(keyIDs.map { .text($0) })
        object["threshold"] = .integer(Int64(threshold))
    }
}
