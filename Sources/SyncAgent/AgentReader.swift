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
        guard let text = value.string, !text.isEmpty else { throw fault(key, "text", value) }
        return text
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
            guard let text = value.string, !text.isEmpty else {
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

/// Finds the key that stands twice in one object, because two readers could take either.
struct RepeatedKey {
    private enum Level {
        case object(path: String, keys: Set<JSONText>)
        case array(path: String, index: Int)
    }

    /// - Returns: The path of the first such key; `nil` when there is none, or this is not JSON.
    static func path(in bytes: [UInt8]) -> String? {
        var levels: [Level] = []
        var place = ""
        var index = 0
        var expectsKey = false
        while index < bytes.count {
            let byte = bytes[index]
            switch byte {
            case UInt8(ascii: "{"):
                levels.append(.object(path: place, keys: []))
                expectsKey = true
            case UInt8(ascii: "["):
                levels.append(.array(path: place, index: 0))
                place += "[0]"
                expectsKey = false
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                _ = levels.popLast()
                expectsKey = false
            case UInt8(ascii: ","):
                if case .array(let path, let number)? = levels.last {
                    levels[levels.count - 1] = .array(path: path, index: number + 1)
                    place = "\(path)[\(number + 1)]"
                } else {
                    expectsKey = true
                }
            case UInt8(ascii: "\""):
                let start = index
                index += 1
                while index < bytes.count, bytes[index] != UInt8(ascii: "\"") {
                    index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1
                }
                guard index < bytes.count else { return nil }
                guard expectsKey, case .object(let path, var keys)? = levels.last else { break }
                let source = Array(bytes[start...index])
                guard case .string(let key)? = try? JSONParser.parse(source, maximumLength: source.count)
                else { return nil }
                place = path.isEmpty ? key.string : "\(path).\(key.string)"
                guard keys.insert(key).inserted else { return place }
                levels[levels.count - 1] = .object(path: path, keys: keys)
                expectsKey = false
            default: break
            }
            index += 1
        }
        return nil
    }
}
