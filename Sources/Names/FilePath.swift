@_spi(_Unicode) import Swift

/// A file's place inside its variant, relative, with `/` between segments.
///
/// 1 to 16 segments of 1 to 255 bytes each, UTF-8 in NFC. It cannot name a
/// place outside its own directory, nor one that another system reads
/// differently: no empty segment, `.`, `..`, control character, backslash,
/// colon, trailing dot or space, or Windows device name.
package struct FilePath: Hashable, Sendable, Comparable, CustomStringConvertible {
    package let description: String

    /// - Returns: `nil` when any rule above is broken.
    package init?(_ text: some StringProtocol) {
        let path = String(text)
        let segments = path.utf8.split(separator: 0x2F, omittingEmptySubsequences: false)
        guard (1...16).contains(segments.count), segments.allSatisfy({ Self.isSafe(Array($0)) }),
            path.utf8.elementsEqual(path._nfc.flatMap { Array(String($0).utf8) })
        else { return nil }
        description = path
    }

    /// The path that a text in another normal form would be in NFC.
    ///
    /// - Returns: `nil` for one that is in NFC already, and for one that breaks another rule.
    package init?(composing text: String) {
        var composed = ""
        for scalar in text._nfc { composed.unicodeScalars.append(scalar) }
        guard !composed.utf8.elementsEqual(text.utf8) else { return nil }
        self.init(composed)
    }

    package var segments: [String] { description.split(separator: "/").map(String.init) }

    package static func < (left: Self, right: Self) -> Bool {
        left.description.utf8.lexicographicallyPrecedes(right.description.utf8)
    }

    package static func == (left: Self, right: Self) -> Bool {
        left.description.utf8.elementsEqual(right.description.utf8)
    }

    package func hash(into hasher: inout Hasher) { for byte in description.utf8 { hasher.combine(byte) } }

    private static func isSafe(_ segment: [UInt8]) -> Bool {
        guard (1...255).contains(segment.count), segment != [0x2E], segment != [0x2E, 0x2E],
            let last = segment.last, last != 0x2E, last != 0x20
        else { return false }
        let text = String(decoding: segment, as: UTF8.self)
        let isPlain = text.unicodeScalars.allSatisfy { scalar in
            let isControl = scalar.properties.generalCategory == .control
            return !isControl && scalar != "\\" && scalar != ":" && scalar != "\u{2028}"
                && scalar != "\u{2029}"
        }
        return isPlain && !isDeviceName(segment)
    }

    /// `CON`, `NUL`, `COM1` and their kind, with or without an extension, in any case.
    private static func isDeviceName(_ segment: [UInt8]) -> Bool {
        let stem = segment.prefix { $0 != 0x2E }.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
        let name = String(decoding: stem, as: UTF8.self)
        if ["con", "prn", "aux", "nul"].contains(name) { return true }
        return stem.count == 4 && (name.hasPrefix("com") || name.hasPrefix("lpt"))
            && (0x30...0x39).contains(stem[3])
    }
}
