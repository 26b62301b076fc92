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
        // A text of its own kind from here on: files have millions of names.
        let text = String(text)
        let bytes = text.utf8
        guard (1...1_024).contains(bytes.count) else { return nil }
        isPlain = bytes.allSatisfy { $0 < 0x80 }
        // Most names are ASCII: the tables of Unicode are asked about the others alone.
        let hasControl =
            isPlain
            ? bytes.contains { $0 < 0x20 || $0 == 0x7F }
            : text.unicodeScalars.contains { $0.properties.generalCategory == .control }
        guard !hasControl else { return nil }
        description = text
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
        // The order of ASCII as texts is that of its bytes, and the library compares texts at memory's speed.
        if left.isPlain && right.isPlain { return left.description < right.description }
        let (mine, theirs) = (left.description.utf8.span, right.description.utf8.span)
        for index in 0..<min(mine.count, theirs.count) where mine[index] != theirs[index] {
            return mine[index] < theirs[index]
        }
        return mine.count < theirs.count
    }
}

extension FeatureName {
    /// A name of a model as the key of an object in a canonical document, whose keys are ASCII.
    ///
    /// Every byte that is not ASCII, and `%` itself, stands as in a URL: `%`
    /// and two upper-case hexadecimal digits. So each name has one key, and no
    /// two names have the same. Where a name is a value it stands as it is.
    package static func key(of name: String) -> String {
        guard !name.utf8.allSatisfy({ $0 < 0x80 && $0 != UInt8(ascii: "%") }) else { return name }
        let digits = Array("0123456789ABCDEF".utf8)
        var key: [UInt8] = []
        for byte in name.utf8 {
            if byte < 0x80, byte != UInt8(ascii: "%") {
                key.append(byte)
            } else {
                key += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: key, as: UTF8.self)
    }

    /// ``key(of:)`` of this one.
    package var key: String { Self.key(of: description) }

    /// Whether a text is ``key(of:)`` of some name.
    package static func isKey(_ text: String) -> Bool {
        guard text.utf8.count <= 3 * 1_024, text.utf8.allSatisfy({ $0 < 0x80 }) else { return false }
        var name: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                name.append(byte)
                continue
            }
            let digits = rest.prefix(2)
            guard digits.count == 2, let escaped = UInt8(String(Substring(digits)), radix: 16) else {
                return false
            }
            name.append(escaped)
            rest = rest.dropFirst(2)
        }
        // What is written another way, or is no text, comes out as another key.
        return String(validating: name, as: UTF8.self).flatMap { FeatureName($0) }?.key == text
    }

    /// The key of the one of `names` that a person means: the one that is written so, or whose key it is.
    ///
    /// - Returns: `nil` when it is none of them; where there are no names, the text itself as a key.
    static func key(meaning text: String, among names: [FeatureName]) -> String? {
        if names.isEmpty { return isKey(text) ? text : key(of: text) }
        let meant =
            names.first { $0.description.utf8.elementsEqual(text.utf8) } ?? names.first { $0.key == text }
        return meant?.key
    }
}
