import CanonicalJSON

/// What requests to a process of one's own, and its answers, have in common.
extension MemberReader {
    /// A path on this machine.
    mutating func absolutePath(_ key: String) throws(ManifestError) -> String {
        try parsed(key, "an absolute path") { $0.hasPrefix("/") ? $0 : nil }
    }

    /// Why something was not done, for people.
    mutating func optionalReason(_ key: String, upTo longest: Int) throws(ManifestError) -> String? {
        try optionalParsed(key, "text of at most \(longest) bytes") { $0.utf8.count <= longest ? $0 : nil }
    }
}

extension JSONValue {
    /// A reason; of one that is longer than a reader takes, the beginning.
    static func reason(_ text: String, upTo longest: Int) -> JSONValue {
        guard text.utf8.count > longest else { return .text(text) }
        return .text(String(decoding: text.utf8.prefix(longest / 2), as: UTF8.self) + "…")
    }
}
