import CanonicalJSON

/// The one document that `--json` puts on standard output: compact, keys sorted, stable.
struct JSONReport {
    let bytes: [UInt8]

    init(_ members: KeyValuePairs<String, JSONValue>) { bytes = JSONValue.members(members).compactJSON }
}

extension JSONValue {
    /// `null` for a text that is not there.
    static func text(orNull text: String?) -> JSONValue { text.map { .text($0) } ?? .null }
}
