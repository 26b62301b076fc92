/// The name of an input, an output, a symbol or a function, exactly as the model file has it.
///
/// 1 to 1,024 bytes of UTF-8 without control characters; never folded, and
/// compared byte for byte, because that is how runtimes look names up.
package struct FeatureName: Hashable, Comparable, Sendable, CustomStringConvertible {
    package let description: String

    /// Of ASCII alone, where no two different names mean the same text.
    private let isPlain: Bool

    /// - Returns: `nil` for an empty name, one over 1,024 bytes, or one with a control character.
    package init?(_ text: some StringProtocol) {
        guard (1...1_024).contains(text.utf8.count) else { return nil }
        isPlain = text.utf8.allSatisfy { $0 < 0x80 }
        // Most names are ASCII, and files have millions: the tables of Unicode are asked about the others alone.
        let hasControl =
            isPlain
            ? text.utf8.contains { $0 < 0x20 || $0 == 0x7F }
            : text.unicodeScalars.contains { $0.properties.generalCategory == .control }
        guard !hasControl else { return nil }
        description = String(text)
    }

    /// What two names must not share, since people could not tell them apart.
    ///
    /// As texts, unlike as names, two are equal when they are the same in NFC.
    package var lookAlikeKey: String { description }

    package static func == (left: Self, right: Self) -> Bool {
        // As texts, at memory's speed; two that mean the same may still have other bytes.
        left.description == right.description
            && (left.isPlain && right.isPlain || left.description.utf8.elementsEqual(right.description.utf8))
    }

    /// Names of the same bytes are the same text.
    package func hash(into hasher: inout Hasher) { hasher.combine(description) }

    package static func < (left: Self, right: Self) -> Bool {
        left.description.utf8.lexicographicallyPrecedes(right.description.utf8)
    }
}
