/// The value of one key of a README's front matter, as far as it is understood with certainty.
///
/// A small part of YAML 1.2: plain and quoted scalars, and lists of them in
/// lines or in brackets. All else (anchors, tags, block scalars, maps, escapes,
/// texts over several lines) has rules of its own that a guess would get wrong.
enum FrontMatterValue: Equatable {
    case absent
    case text(String)
    case list([String])
    case notUnderstood

    /// - Parameters:
    ///   - inline: What stands behind the colon.
    ///   - lines: The lines below that belong to the key, without blank ones and comments.
    init(_ inline: String, _ lines: [String]) {
        let inline = Self.trimmed(inline[...])
        if inline.isEmpty || inline.hasPrefix("#") {
            self = Self.list(inLines: lines)
        } else if !lines.isEmpty {
            self = .notUnderstood
        } else if inline.hasPrefix("[") {
            self = Self.list(inBrackets: inline)
        } else {
            self = Self.scalar(inline).map { $0.map(FrontMatterValue.text) ?? .absent } ?? .notUnderstood
        }
    }

    private static func list(inLines lines: [String]) -> FrontMatterValue {
        guard let first = lines.first else { return .absent }
        let indent = first.prefix { $0 == " " }
        var items: [String] = []
        for line in lines {
            guard line.prefix(while: { $0 == " " }) == indent else { return .notUnderstood }
            let item = line.dropFirst(indent.count)
            guard item.hasPrefix("- "), case let text?? = scalar(trimmed(item.dropFirst(2))) else {
                return .notUnderstood
            }
            items.append(text)
        }
        return .list(items)
    }

    private static func list(inBrackets text: String) -> FrontMatterValue {
        var rest = text.dropFirst()
        var items: [String] = []
        while true {
            rest = rest.drop { $0 == " " }
            if rest.first == "]" { break }
            let item: Substring
            if let quote = rest.first, quote == "\"" || quote == "'" {
                guard let end = rest.dropFirst().firstIndex(of: quote) else { return .notUnderstood }
                item = rest[...end]
            } else {
                item = rest.prefix { $0 != "," && $0 != "]" }
            }
            guard !item.contains("#"), case let text?? = scalar(trimmed(item)) else { return .notUnderstood }
            items.append(text)
            rest = rest[item.endIndex...].drop { $0 == " " }
            if rest.first == "," {
                rest = rest.dropFirst()
            } else if rest.first != "]" {
                return .notUnderstood
            }
        }
        return isComment(rest.dropFirst()) ? .list(items) : .notUnderstood
    }

    /// A plain or quoted scalar that is text.
    ///
    /// - Returns: `nil` when it is not understood, and `.some(nil)` for null.
    private static func scalar(_ text: String) -> String?? {
        guard let first = text.first else { return nil }
        if first == "\"" || first == "'" {
            guard let end = text.dropFirst().firstIndex(of: first) else { return nil }
            let inner = text[text.index(after: text.startIndex)..<end]
            let rest = text[text.index(after: end)...]
            // A quote twice, and everything behind a backslash, stand for something else.
            guard isComment(rest), first == "'" || !inner.contains("\\") else { return nil }
            return .some(String(inner))
        }
        guard !"&*!|>%@`{}[],?-:#".contains(first) else { return nil }
        let plain = trimmed(text.firstRange(of: " #").map { text[..<$0.lowerBound] } ?? text[...])
        let hasOther = plain.contains { "{}[]\"&*!|>%@`\\".contains($0) } || plain.hasSuffix(":")
        guard !hasOther, plain.firstRange(of: ": ") == nil, plain.firstRange(of: ", ") == nil else {
            return nil
        }
        let lowered = plain.lowercased()
        if lowered == "null" || lowered == "~" { return .some(nil) }
        guard !["true", "false", "yes", "no", "on", "off", "y", "n"].contains(lowered),
            plain.contains(where: \.isLetter), !isNumber(plain)
        else { return nil }
        return .some(plain)
    }

    /// A number, an infinity or a time, which are no texts.
    private static func isNumber(_ text: String) -> Bool {
        text.hasPrefix(".")
            || (text.contains(where: \.isNumber)
                && text.allSatisfy { "0123456789+-._:eExXoOtTzZ".contains($0) })
    }

    private static func isComment(_ rest: Substring) -> Bool {
        let isSpaced = rest.first == " "
        let rest = rest.drop { $0 == " " }
        return rest.isEmpty || (isSpaced && rest.first == "#")
    }

    private static func trimmed(_ text: Substring) -> String {
        String(text.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }
}
