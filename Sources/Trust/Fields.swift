import CanonicalJSON
import Names

/// The members of one JSON object in a role's document, read one by one.
///
/// Members nobody asks for are left alone: TUF 1.0.34, 4.1, lets other tools
/// add their own, and they stay in the signed bytes.
struct Fields {
    let object: JSONObject
    let role: RoleName
    private let place: String

    init(_ value: JSONValue?, role: RoleName, place: String) throws(TrustError) {
        guard let object = value?.object else {
            throw .malformed(role: role, reason: "`\(place)` is not an object")
        }
        self.object = object
        self.role = role
        self.place = place
    }

    func malformed(_ key: String, _ expected: String) -> TrustError {
        .malformed(role: role, reason: "`\(key)` in `\(place)` is not \(expected)")
    }

    func fields(_ key: String) throws(TrustError) -> Fields {
        try Fields(object[key], role: role, place: key)
    }

    func text(_ key: String) throws(TrustError) -> String {
        guard let text = object[key]?.string else { throw malformed(key, "text") }
        return text
    }

    func texts(_ key: String) throws(TrustError) -> [String] {
        guard let elements = object[key]?.array else { throw malformed(key, "a list") }
        var texts: [String] = []
        for element in elements {
            guard let text = element.string else { throw malformed(key, "a list of text") }
            texts.append(text)
        }
        return texts
    }

    func integer(_ key: String, from least: Int64) throws(TrustError) -> Int64 {
        guard let integer = object[key]?.integer, integer >= least else {
            throw malformed(key, "an integer of at least \(least)")
        }
        return integer
    }

    func bool(_ key: String) throws(TrustError) -> Bool {
        guard let bool = object[key]?.bool else { throw malformed(key, "true or false") }
        return bool
    }

    func time(_ key: String) throws(TrustError) -> UnixTime {
        guard let time = UnixTime(try text(key)) else {
            throw malformed(key, "a time of the form YYYY-MM-DDTHH:MM:SSZ")
        }
        return time
    }

    /// Digests by algorithm, at least one.
    func digests(_ key: String) throws(TrustError) -> [String: [UInt8]] {
        let fields = try fields(key)
        var digests: [String: [UInt8]] = [:]
        for member in fields.object.members {
            guard case .string(let hex) = member.value, let digest = Hex.bytes(hex.utf8), !digest.isEmpty,
                digests.updateValue(digest, forKey: member.key.string) == nil
            else { throw malformed(key, "digests in lower-case hex") }
        }
        guard !digests.isEmpty else { throw malformed(key, "at least one digest") }
        return digests
    }
}

/// What every signed document carries (TUF 1.0.34, 4.1 and 4.2.1).
struct CommonFields {
    let version: Int64
    let expires: UnixTime
    let issued: UnixTime?

    /// Checks `_type` and `spec_version` on the way.
    init(_ fields: Fields) throws(TrustError) {
        let expected = fields.role.documentType
        let found = try fields.text("_type")
        guard found == expected else { throw .wrongType(role: fields.role, expected: expected, found: found) }
        let specification = try fields.text("spec_version")
        let numbers = specification.split(separator: ".", omittingEmptySubsequences: false)
        let isVersion = numbers.allSatisfy {
            !$0.isEmpty && $0.utf8.allSatisfy { (0x30...0x39).contains($0) }
        }
        guard (2...3).contains(numbers.count), isVersion else {
            throw fields.malformed("spec_version", "a version")
        }
        guard numbers[0] == "1" else {
            throw .unsupportedSpecification(role: fields.role, found: specification)
        }
        version = try fields.integer("version", from: 1)
        expires = try fields.time("expires")
        issued = fields.object["issued"]?.string.flatMap { UnixTime($0) }
    }

    /// The start of `signed` for a document that is being written.
    static func signed(
        _ type: String,
        version: Int64,
        expires: UnixTime,
        issued: UnixTime? = nil
    ) -> JSONObject {
        var object = JSONObject()
        object["_type"] = .text(type)
        object["spec_version"] = .text("1.0.34")
        object["version"] = .integer(version)
        object["expires"] = .text(expires.description)
        object["issued"] = issued.map { .text($0.description) }
        return object
    }
}
