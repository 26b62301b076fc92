import CanonicalJSON
import Names

extension FuzzTarget {
    static let json = [
        FuzzTarget("json") { bytes in
            let value = try JSONParser.parse(bytes, maximumLength: bytes.count)
            let compact = value.compactJSON
            let again = try must("compact JSON is JSON") {
                try JSONParser.parse(compact, maximumLength: compact.count)
            }
            try hold(again == value, "compact JSON says the same")
            try hold(again.compactJSON == compact, "compact JSON is its own compact form")
            try hold(again.olpcCanonical == value.olpcCanonical, "the canonical form is that of the value")
            try hold(value.rfc8785 ?? compact == compact, "the two forms of one value are the same bytes")
            try hold(compact.count <= bytes.count * 6, "no form is far longer than the text")
            try hold(rebuilt(value) == value, "a value made of the same members is the same")
            try hold(
                rebuilt(value).olpcCanonical == value.olpcCanonical,
                "what is read from the text's own bytes is what would be written"
            )
        }
    ]

    /// The value without any tie to the text that it came from.
    private static func rebuilt(_ value: JSONValue) -> JSONValue {
        if let elements = value.array { return .array(elements.map(rebuilt)) }
        guard let object = value.object else { return value }
        var copy = JSONObject()
        for member in object.members { _ = copy.add(member.key, rebuilt(member.value)) }
        return .object(copy)
    }
}
