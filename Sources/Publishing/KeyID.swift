/// Key IDs as people read and type them: 64 hexadecimal digits, of which enough to tell keys apart suffice.
package enum KeyID {
    /// Digits shown, and fewest digits taken.
    private static let shownDigits = 16
    private static let fewestDigits = 8

    /// The one short form in which every command shows a key ID; ``match(_:among:)`` takes it.
    package static func short(_ id: String) -> String {
        id.utf8.count > shownDigits ? "\(id.prefix(shownDigits))…" : id
    }

    /// The same, with what the key is called here if `names`, by key ID, says so.
    package static func short(_ id: String, naming names: [String: String]) -> String {
        short(id) + (names[id].map { " (\($0))" } ?? "")
    }

    /// The digits of an ID, or of its beginning, as typed or copied; `nil` for any other text.
    package static func digits(_ text: String) -> String? {
        let digits = text.hasSuffix("…") ? String(text.dropLast()) : text
        guard (fewestDigits...64).contains(digits.utf8.count),
            digits.utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) })
        else { return nil }
        return digits
    }

    /// The one ID that begins with `digits`.
    ///
    /// - Returns: `nil` when none does.
    /// - Throws: `PublishingError.usage` when several do.
    static func match(_ digits: String, among ids: some Sequence<String>) throws(PublishingError) -> String? {
        let matches = Set(ids.filter { $0.hasPrefix(digits) })
        guard matches.count < 2 else {
            throw .usage(
                "‘\(digits)’ begins the IDs of \(matches.count) keys; give more digits: "
                    + matches.sorted().joined(separator: ", ")
            )
        }
        return matches.first
    }
}
