/// A licence as SPDX writes it: `MIT`, `Apache-2.0 OR MIT`, `GPL-2.0-only WITH Classpath-exception-2.0`.
///
///     expression = term *(("AND" | "OR") term)
///     term       = "(" expression ")" | license ["WITH" name]
///     license    = name ["+"] | ["DocumentRef-" name ":"] "LicenseRef-" name
///     name       = 1*(letter | digit | "-" | ".")
///
/// SPDX 2.3, annex D. Whether a name is on SPDX's list is not asked: the list
/// grows, and a word that is on none of them is still no sentence of prose.
/// Names are one name in any case, and those that are known here are written
/// as SPDX writes them.
package struct LicenseExpression: Equatable, Sendable, CustomStringConvertible {
    package let description: String

    /// Names that are not known here, as they were written.
    package let unknownNames: [String]

    private static let operators = ["AND", "OR", "WITH"]

    /// - Returns: `nil` for text that is no such expression.
    package init?(_ text: String) {
        guard text.utf8.count <= 1_024 else { return nil }
        var words = Self.words(text)[...]
        let all = words
        guard Self.takeExpression(&words, depth: 0), words.isEmpty else { return nil }
        var shown = ""
        var unknown: [String] = []
        for (index, word) in all.enumerated() {
            let isException = index > 0 && all[index - 1] == "WITH"
            let isName = !isException && Self.isLicense(word)
            let known = isName ? LicenseNames.spelling(of: word) : word
            if isName, known == nil, !word.contains("LicenseRef-") { unknown.append(word) }
            let isClosed = shown.isEmpty || shown.hasSuffix("(") || word == ")"
            shown += (isClosed ? "" : " ") + (known ?? word)
        }
        description = shown
        unknownNames = unknown
    }

    /// Whether the text is one name, without operators.
    package static func isName(_ text: some StringProtocol) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte & 0xDF) || byte == 0x2D
                    || byte == 0x2E
            }
    }

    private static func words(_ text: String) -> [String] {
        var words: [String] = []
        for part in text.split(separator: " ") {
            var word = ""
            for character in part {
                if character == "(" || character == ")" {
                    if !word.isEmpty { words.append(word) }
                    words.append(String(character))
                    word = ""
                } else {
                    word.append(character)
                }
            }
            if !word.isEmpty { words.append(word) }
        }
        return words
    }

    private static func takeExpression(_ words: inout ArraySlice<String>, depth: Int) -> Bool {
        guard depth < 16, takeTerm(&words, depth) else { return false }
        while let word = words.first, word == "AND" || word == "OR" {
            words.removeFirst()
            guard takeTerm(&words, depth) else { return false }
        }
        return true
    }

    private static func takeTerm(_ words: inout ArraySlice<String>, _ depth: Int) -> Bool {
        guard let word = words.popFirst() else { return false }
        if word == "(" { return takeExpression(&words, depth: depth + 1) && words.popFirst() == ")" }
        guard isLicense(word) else { return false }
        guard words.first == "WITH" else { return true }
        words.removeFirst()
        return words.popFirst().map { isName($0) && !isOperator($0) } ?? false
    }

    private static func isLicense(_ word: String) -> Bool {
        if isOperator(word) { return false }
        let halves = word.split(separator: ":", omittingEmptySubsequences: false)
        guard let last = halves.last, halves.count <= 2 else { return false }
        if last.hasPrefix("LicenseRef-") {
            let document = halves.count == 1 ? "DocumentRef-x" : halves[0]
            return isName(last.dropFirst(11)) && document.hasPrefix("DocumentRef-")
                && isName(document.dropFirst(12))
        }
        return halves.count == 1 && isName(last.hasSuffix("+") ? last.dropLast() : last)
    }

    /// In any case: `mit or apache` is prose.
    private static func isOperator(_ word: String) -> Bool { operators.contains(word.uppercased()) }
}
