/// What an app calls itself towards a registry: `camera-ios`, `Scanner@3.2`.
///
/// Grammar: a letter or digit, then up to 127 of `A-Z a-z 0-9 . _ - @`. It is a
/// name for people and one path segment; nothing is trusted because of it.
package struct AppName: Hashable, Comparable, Sendable, CustomStringConvertible {
    package let description: String

    /// - Returns: `nil` for anything outside the grammar.
    package init?(_ text: some StringProtocol) {
        guard (1...128).contains(text.utf8.count) else { return nil }
        for (index, byte) in text.utf8.enumerated() {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: continue
            case 0x2D, 0x2E, 0x40,
                0x5F where index > 0:
                continue
            default: return nil
            }
        }
        description = String(text)
    }

    package static func < (left: Self, right: Self) -> Bool {
        left.description.utf8.lexicographicallyPrecedes(right.description.utf8)
    }
}
