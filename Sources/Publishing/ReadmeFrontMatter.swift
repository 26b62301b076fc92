import CanonicalJSON

/// What a model's README says above its text, as model hubs write it: YAML between two lines of `---`.
///
/// Only what such files really have is read: `key: value`, lists in lines
/// (`- item`) or in brackets, quotes around values. Anything else is skipped;
/// a person reads the draft before it counts.
struct ReadmeFrontMatter {
    private(set) var texts: [String: String] = [:]
    private(set) var lists: [String: [String]] = [:]

    /// - Returns: `nil` when the text does not begin with front matter.
    init?(_ readme: String) {
        var lines = readme.split(separator: "\n", maxSplits: 1_000, omittingEmptySubsequences: false)[...]
        guard lines.popFirst().map({ Self.trimmed($0) }) == "---" else { return nil }
        var key: String?
        while let line = lines.popFirst() {
            let text = Self.trimmed(line)
            if text == "---" { return }
            if text.hasPrefix("- "), let key {
                lists[key, default: []].append(Self.unquoted(text.dropFirst(2)))
                continue
            }
            guard line.first != " ", line.first != "#", let colon = text.firstIndex(of: ":") else { continue }
            let name = String(text[..<colon])
            let value = Self.trimmed(text[text.index(after: colon)...])
            key = name
            if value.isEmpty { continue }
            if value.hasPrefix("["), value.hasSuffix("]") {
                lists[name] = value.dropFirst().dropLast().split(separator: ",").map { Self.unquoted($0) }
            } else {
                texts[name] = Self.unquoted(value)
            }
        }
        return nil
    }

    /// The values of a key, whichever way they are written.
    func values(of key: String) -> [String] { lists[key] ?? texts[key].map { [$0] } ?? [] }

    private static func trimmed(_ text: some StringProtocol) -> String {
        let blank: (Character) -> Bool = { $0 == " " || $0 == "\t" || $0 == "\r" || $0 == "\r\n" }
        return String(text.drop(while: blank).reversed().drop(while: blank).reversed())
    }

    private static func unquoted(_ text: some StringProtocol) -> String {
        let text = trimmed(text)
        guard text.count >= 2, let first = text.first, first == text.last, first == "\"" || first == "'"
        else {
            return text
        }
        return String(text.dropFirst().dropLast())
    }
}
