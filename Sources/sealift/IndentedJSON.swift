import CanonicalJSON

extension JSONValue {
    /// The same document as people fill it in: two spaces a level, and in one line what fits there.
    var indented: [UInt8] { Array(text(indent: 0, isWhole: true).utf8) }

    private static let width = 88

    private func text(indent: Int, isWhole: Bool = false) -> String {
        let flat = flat
        guard isWhole || indent + flat.count > Self.width else { return flat }
        let inner = indent + 2
        let lines: [String]
        let signs: (String, String)
        if let object, object.count > 0 {
            signs = ("{", "}")
            lines = object.members.map { "\(JSONValue.string($0.key).flat): \($0.value.text(indent: inner))" }
        } else if let array, !array.isEmpty {
            signs = ("[", "]")
            lines = array.map { $0.text(indent: inner) }
        } else {
            return flat
        }
        let padding = String(repeating: " ", count: inner)
        let end = String(repeating: " ", count: indent) + signs.1
        return signs.0 + "\n" + lines.map { padding + $0 }.joined(separator: ",\n") + "\n" + end
    }

    /// In one line, with spaces between.
    private var flat: String {
        if let object {
            let members = object.members.map { "\(JSONValue.string($0.key).flat): \($0.value.flat)" }
            return "{" + members.joined(separator: ", ") + "}"
        }
        if let array { return "[" + array.map(\.flat).joined(separator: ", ") + "]" }
        return String(decoding: compactJSON, as: UTF8.self)
    }
}
