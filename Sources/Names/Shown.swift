/// Text from outside as a message shows it: not longer than a person reads.
package enum Shown {
    /// At most 80 characters, with `…` for the rest.
    package static func short(_ text: some StringProtocol) -> String {
        // By bytes first, since a character may be as long as it likes.
        let start =
            text.utf8.count <= 320 ? String(text) : String(decoding: text.utf8.prefix(320), as: UTF8.self)
        let isWhole = start.utf8.count == text.utf8.count && start.count <= 80
        return isWhole ? start : "\(start.prefix(80))…"
    }

    /// The first eight, each short.
    package static func list(_ texts: [String]) -> String {
        texts.prefix(8).map { short($0) }.joined(separator: ", ") + (texts.count > 8 ? ", …" : "")
    }
}

/// Numbers of things in sentences.
package enum Counted {
    /// `1 signature`, `2 signatures`.
    package static func words(_ count: Int, _ thing: String) -> String {
        "\(count) \(thing)\(count == 1 ? "" : "s")"
    }
}
