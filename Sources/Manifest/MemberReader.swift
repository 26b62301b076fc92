import CanonicalJSON
import Names

/// Where in which document a value stands, for messages: `variants[0].files[3].path`.
struct Place {
    let document: DocumentType
    let path: String

    init(_ document: DocumentType, _ path: String = "") {
        self.document = document
        self.path = path
    }

    func member(_ key: String) -> Place {
        let key = Shown.short(key)
        return Place(document, path.isEmpty ? key : "\(path).\(key)")
    }

    func element(_ index: Int) -> Place { Place(document, "\(path)[\(index)]") }

    func invalid(_ expected: String, _ found: String) -> ManifestError {
        .invalid(
            document,
            member: path.isEmpty ? "document" : path,
            expected: expected,
            found: Shown.short(found)
        )
    }

    func invalid(_ expected: String, _ found: JSONValue) -> ManifestError {
        invalid(expected, String(decoding: found.compactJSON.prefix(400), as: UTF8.self))
    }
}

/// Takes the members of one object, each once; what is left at the end is refused.
struct MemberReader {
    let place: Place
    private var left: JSONObject

    init(_ value: JSONValue, at place: Place) throws(ManifestError) {
        guard let object = value.object else { throw place.invalid("an object", value) }
        self.place = place
        left = object
    }

    mutating func optional(_ key: String) -> JSONValue? {
        defer { left[key] = nil }
        return left[key]
    }

    mutating func value(_ key: String) throws(ManifestError) -> JSONValue {
        guard let value = optional(key) else {
            throw .missing(place.document, member: place.member(key).path)
        }
        return value
    }

    mutating func text(_ key: String) throws(ManifestError) -> String {
        try text(of: try value(key), key)
    }

    mutating func optionalText(_ key: String) throws(ManifestError) -> String? {
        guard let value = optional(key) else { return nil }
        return try text(of: value, key)
    }

    private func text(of value: JSONValue, _ key: String) throws(ManifestError) -> String {
        guard let text = value.string else { throw place.member(key).invalid("text", value) }
        return text
    }

    /// Text that `parse` turns into a value, or refuses by `nil`.
    mutating func parsed<Value>(
        _ key: String,
        _ expected: String,
        _ parse: (String) -> Value?
    ) throws(ManifestError) -> Value {
        let found = try value(key)
        guard let text = found.string, let result = parse(text) else {
            throw place.member(key).invalid(expected, found)
        }
        return result
    }

    mutating func optionalParsed<Value>(
        _ key: String,
        _ expected: String,
        _ parse: (String) -> Value?
    ) throws(ManifestError) -> Value? {
        guard left[key] != nil else { return nil }
        return try parsed(key, expected, parse)
    }

    mutating func integer(_ key: String, in range: ClosedRange<Int64>) throws(ManifestError) -> Int64 {
        let found = try value(key)
        guard let number = found.integer, range.contains(number) else {
            let expected = "an integer from \(range.lowerBound) to \(range.upperBound)"
            throw place.member(key).invalid(expected, found)
        }
        return number
    }

    mutating func optionalInteger(_ key: String, in range: ClosedRange<Int64>) throws(ManifestError) -> Int64?
    {
        guard left[key] != nil else { return nil }
        return try integer(key, in: range)
    }

    mutating func bool(_ key: String) throws(ManifestError) -> Bool {
        let found = try value(key)
        guard let bool = found.bool else { throw place.member(key).invalid("true or false", found) }
        return bool
    }

    mutating func array(_ key: String) throws(ManifestError) -> [(value: JSONValue, place: Place)] {
        try elements(of: try value(key), key)
    }

    /// The elements of an array; none when the member is absent, which is the only way to say none.
    mutating func optionalArray(_ key: String) throws(ManifestError) -> [(value: JSONValue, place: Place)] {
        guard let found = optional(key) else { return [] }
        let elements = try elements(of: found, key)
        guard !elements.isEmpty else {
            throw place.member(key).invalid("absent when it has no elements", found)
        }
        return elements
    }

    /// Paths; none where the member is absent.
    mutating func optionalPaths(_ key: String) throws(ManifestError) -> [FilePath] {
        var paths: [FilePath] = []
        for (value, place) in try optionalArray(key) {
            guard let path = value.string.flatMap({ FilePath($0) }) else {
                throw place.invalid("a safe relative path in NFC", value)
            }
            paths.append(path)
        }
        return paths
    }

    private func elements(
        of value: JSONValue,
        _ key: String
    ) throws(ManifestError) -> [(value: JSONValue, place: Place)] {
        let place = place.member(key)
        guard let array = value.array else { throw place.invalid("an array", value) }
        return array.enumerated().map { (value: $0.element, place: place.element($0.offset)) }
    }

    /// The members of an object that is a map from names to values.
    mutating func map(_ key: String) throws(ManifestError) -> [(key: String, value: JSONValue, place: Place)]
    {
        let place = place.member(key)
        let found = try value(key)
        guard let object = found.object else { throw place.invalid("an object", found) }
        return object.members.map {
            (key: $0.key.string, value: $0.value, place: place.member($0.key.string))
        }
    }

    mutating func reader(_ key: String) throws(ManifestError) -> MemberReader {
        try MemberReader(try value(key), at: place.member(key))
    }

    mutating func optionalReader(_ key: String) throws(ManifestError) -> MemberReader? {
        guard let found = optional(key) else { return nil }
        return try MemberReader(found, at: place.member(key))
    }

    /// An object that is carried as it stands.
    mutating func optionalObject(_ key: String) throws(ManifestError) -> JSONValue? {
        guard let found = optional(key) else { return nil }
        guard found.object != nil else { throw place.member(key).invalid("an object", found) }
        return found
    }

    /// Refuses members that nobody took.
    func finish() throws(ManifestError) {
        guard let first = left.keys.first else { return }
        throw .unknown(place.document, member: place.member(first).path)
    }
}

extension MemberReader {
    mutating func digest(_ key: String) throws(ManifestError) -> Digest {
        try parsed(key, "64 lower-case hexadecimal digits") { Digest(hex: $0) }
    }

    mutating func time(_ key: String) throws(ManifestError) -> UnixTime {
        try parsed(key, "a time as YYYY-MM-DDTHH:MM:SSZ") { UnixTime($0) }
    }

    mutating func model(_ key: String) throws(ManifestError) -> ModelName {
        try parsed(key, "NAMESPACE/MODEL") { ModelName($0) }
    }

    mutating func version(_ key: String) throws(ManifestError) -> ModelVersion {
        try parsed(key, "a semantic version without build metadata") { ModelVersion($0) }
    }

    /// A length in bytes, at most what a JSON integer of ours can say.
    mutating func length(_ key: String, upTo limit: ByteCount = Limits.file) throws(ManifestError) -> UInt64 {
        UInt64(try integer(key, in: 0...Int64(clamping: limit.rawValue)))
    }
}

extension JSONObject {
    /// Sets `key` when there is a value.
    mutating func set(_ key: String, _ value: JSONValue?) {
        guard let value else { return }
        self[key] = value
    }

    mutating func set(_ key: String, text: String?) { set(key, text.map(JSONValue.text)) }

    /// Sets `key` when there are elements; an empty list is written by leaving it out.
    mutating func set(_ key: String, nonEmpty elements: [JSONValue]) {
        set(key, elements.isEmpty ? nil : .array(elements))
    }
}

extension JSONValue {
    /// An integer of ours: lengths and counts, all far below 2^53.
    static func count(_ value: UInt64) -> JSONValue { .integer(Int64(clamping: value)) }
}
