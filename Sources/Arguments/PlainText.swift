/// Text for a terminal or a log, out of words that others wrote.
///
/// Names, reasons and answers come from files, registries and servers. A
/// control character among them would move the cursor, colour the screen or
/// forge a second line, and a character that turns the direction of writing
/// would show something else than what stands there. One that is not seen at
/// all would make two names look like one.
package enum PlainText {
    /// One line: every such character, line ends too, becomes its code point, as in `\u{1B}`.
    package static func line(_ text: String) -> String { escaped(text) { isHostile($0) } }

    /// Several lines: like ``line(_:)``, but a line feed stays.
    package static func lines(_ text: String) -> String { escaped(text) { $0 != "\n" && isHostile($0) } }

    private static func escaped(_ text: String, _ isEscaped: (Unicode.Scalar) -> Bool) -> String {
        guard text.unicodeScalars.contains(where: isEscaped) else { return text }
        var result = ""
        for scalar in text.unicodeScalars {
            if isEscaped(scalar) {
                result += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    private static func isHostile(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        // C0 and C1 controls; line and paragraph separators.
        case 0..<0x20, 0x7F..<0xA0, 0x2028, 0x2029: true
        case ..<0x80: false
        // Marks, embeddings, overrides and isolates of direction, and all that has no width.
        default: scalar.properties.isDefaultIgnorableCodePoint
        }
    }
}
