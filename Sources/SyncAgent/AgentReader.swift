import CanonicalJSON
import Names

/// Takes the members of one object of a configuration; a misspelt key would silently not work, so it is refused.
struct AgentReader {
    /// Where the object stands: `models[0]`; empty for the document.
    let path: String
    private let object: JSONObject

    /// - Parameters:
    ///   - value: What must be an object.
    ///   - path: Where it stands, for messages.
    ///   - known: Every key that it may have.
    /// - Throws: `SyncError` of kind `usage`, naming a key that is not known.
    init(_ value: JSONValue, at path: String, known: [String]) throws(SyncError) {
        guard let object = value.object else {
            throw Self.fault(path.isEmpty ? "the document" : path, expected: "an object", value)
        }
        self.path = path
        self.object = object
        if let unknown = object.keys.first(where: { !known.contains($0) }) {
            throw SyncError(
                code: .configuration,
                "there is no key ‘\(place(unknown))’; known \(path.isEmpty ? "there" : "in \(path)") are "
                    + known.joined(separator: ", ")
            )
        }
    }

    func place(_ key: String) -> String { path.isEmpty ? key : "\(path).\(key)" }

    func value(_ key: String) -> JSONValue? { object[key] }

    func text(_ key: String) throws(SyncError) -> String? {
        guard let value = object[key] else { return nil }
        guard let text = Self.text(value), !text.isEmpty else { throw fault(key, "text", value) }
        return text
    }

    /// The text of a value; `nil` also for one with a NUL, where the system would end it.
    private static func text(_ value: JSONValue) -> String? {
        value.string.flatMap { $0.utf8.contains(0) ? nil : $0 }
    }

    func flag(_ key: String) throws(SyncError) -> Bool? {
        guard let value = object[key] else { return nil }
        guard case .bool(let flag) = value else { throw fault(key, "true or false", value) }
        return flag
    }

    /// An object of texts.
    func textsByName(_ key: String) throws(SyncError) -> [String: String] {
        guard let value = object[key] else { return [:] }
        guard let object = value.object else { throw fault(key, "an object", value) }
        var texts: [String: String] = [:]
        for name in object.keys {
            guard let value = object[name] else { continue }
            guard let text = Self.text(value) else { throw fault("\(key).\(name)", "text", value) }
            texts[name] = text
        }
        return texts
    }

    func integer(_ key: String, in range: ClosedRange<Int64>) throws(SyncError) -> Int64? {
        guard let value = object[key] else { return nil }
        guard let number = value.integer, range.contains(number) else {
            throw fault(key, "a number from \(range.lowerBound) to \(range.upperBound)", value)
        }
        return number
    }

    /// The elements of a list, with the place of each.
    func list(_ key: String) throws(SyncError) -> [(value: JSONValue, path: String)] {
        guard let value = object[key] else { return [] }
        guard let array = value.array else { throw fault(key, "a list", value) }
        return array.enumerated().map { (value: $0.element, path: "\(place(key))[\($0.offset)]") }
    }

    func texts(_ key: String) throws(SyncError) -> [String] {
        var texts: [String] = []
        for (value, path) in try list(key) {
            guard let text = Self.text(value), !text.isEmpty else {
                throw Self.fault(path, expected: "text", value)
            }
            texts.append(text)
        }
        return texts
    }

    func fault(_ key: String, _ expected: String, _ found: JSONValue) -> SyncError {
        Self.fault(place(key), expected: expected, found)
    }

    static func fault(_ place: String, expected: String, _ found: JSONValue) -> SyncError {
        let text = String(decoding: found.compactJSON.prefix(80), as: UTF8.self)
        return SyncError(code: .configuration, "‘\(place)’: expected \(expected), found \(text)")
    }
}
