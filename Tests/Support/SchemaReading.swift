package import CanonicalJSON

/// As much of JSON Schema (draft 2020-12) as ours use; a keyword that it does not know is an error.
package struct SchemaReading {
    let root: JSONValue

    private let matches = Matches()

    package init(root: JSONValue) { self.root = root }

    /// Whether texts match patterns, each asked once, because expressions are slow to make.
    private final class Matches {
        private var known: [String: Bool] = [:]

        func areThere(_ pattern: String, _ text: String) -> Bool {
            let key = "\(pattern) \(text)"
            if let answer = known[key] { return answer }
            let answer = (try? Regex(pattern)).map { text.firstMatch(of: $0) != nil } ?? false
            known[key] = answer
            return answer
        }
    }

    private static let annotations: Set = ["$schema", "title", "description", "$defs"]

    /// What in `value` is not as the schema says; `nil` when all is.
    package func fault(_ value: JSONValue) -> String? { fault(value, root, at: "") }

    private func fault(_ value: JSONValue, _ schema: JSONValue, at path: String) -> String? {
        for member in schema.object?.members ?? [] where !Self.annotations.contains(member.key.string) {
            if let fault = fault(value, member.key.string, member.value, schema, path) { return fault }
        }
        return nil
    }

    private func fault(
        _ value: JSONValue,
        _ keyword: String,
        _ rule: JSONValue,
        _ schema: JSONValue,
        _ path: String
    ) -> String? {
        func no(_ isGood: Bool) -> String? { isGood ? nil : "\(path): \(keyword)" }
        switch keyword {
        case "$ref":
            let name = rule.string?.split(separator: "/").last.map(String.init) ?? ""
            guard let target = root["$defs"]?[name] else { return "no definition \(name)" }
            return fault(value, target, at: path)
        case "type":
            let types = rule.array?.compactMap(\.string) ?? [rule.string ?? ""]
            return no(types.contains(Self.type(of: value)))
        case "const": return no(value == rule)
        case "enum": return no(rule.array?.contains(value) == true)
        case "minimum": return no(value.integer.map { $0 >= rule.integer ?? 0 } ?? true)
        case "minLength": return no(value.string.map { Int64($0.utf8.count) >= rule.integer ?? 0 } ?? true)
        case "maximum": return no(value.integer.map { $0 <= rule.integer ?? 0 } ?? true)
        case "maxLength": return no(value.string.map { Int64($0.utf8.count) <= rule.integer ?? 0 } ?? true)
        case "propertyNames":
            for key in value.object?.keys ?? [] {
                if let fault = fault(.text(key), rule, at: "\(path).\(key)") { return fault }
            }
            return nil
        case "minItems": return no(value.array.map { Int64($0.count) >= rule.integer ?? 0 } ?? true)
        case "maxItems": return no(value.array.map { Int64($0.count) <= rule.integer ?? 0 } ?? true)
        case "minProperties":
            return no(value.object.map { Int64($0.keys.count) >= rule.integer ?? 0 } ?? true)
        case "maxProperties":
            return no(value.object.map { Int64($0.keys.count) <= rule.integer ?? 0 } ?? true)
        case "uniqueItems":
            let array = value.array ?? []
            return no(!array.indices.contains { index in array[..<index].contains(array[index]) })
        case "pattern":
            guard let text = value.string, let pattern = rule.string else { return nil }
            return no(matches.areThere(pattern, text))
        case "required":
            return no((rule.array ?? []).allSatisfy { value.object == nil || value[$0.string ?? ""] != nil })
        case "items":
            for (index, element) in (value.array ?? []).enumerated() {
                if let fault = fault(element, rule, at: "\(path)[\(index)]") { return fault }
            }
            return nil
        case "anyOf":
            return no((rule.array ?? []).contains { fault(value, $0, at: path) == nil })
        case "not": return no(fault(value, rule, at: path) != nil)
        case "properties":
            for member in value.object?.members ?? [] {
                guard let rule = rule[member.key.string] else { continue }
                if let fault = fault(member.value, rule, at: "\(path).\(member.key.string)") { return fault }
            }
            return nil
        case "additionalProperties":
            for member in value.object?.members ?? [] where schema["properties"]?[member.key.string] == nil {
                guard rule != .bool(false) else { return "\(path).\(member.key.string): \(keyword)" }
                if let fault = fault(member.value, rule, at: "\(path).\(member.key.string)") { return fault }
            }
            return nil
        default: return "\(path): keyword \(keyword) is not known"
        }
    }

    private static func type(of value: JSONValue) -> String {
        switch value {
        case .null: "null"
        case .bool: "boolean"
        case .integer: "integer"
        case .string: "string"
        case .array: "array"
        case .object: "object"
        default: "number"
        }
    }
}
