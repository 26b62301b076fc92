import Names

/// Files of a folder that somebody leaves out of what is published.
///
/// A pattern names files and folders, a folder with all that is in it. `*` is
/// any characters of a name and `?` one of them, `**` any characters of a
/// path. A pattern without a slash is about names, at any depth; one with a
/// slash about the path from the folder that is published. Bytes count, also
/// upper and lower case.
package struct FileExclusions: Sendable, Equatable {
    private struct Pattern: Sendable, Equatable {
        let text: String
        let bytes: [UInt8]

        /// Whether it is about paths, not names.
        let isPath: Bool
    }

    private var patterns: [Pattern] = []

    /// Nothing is left out.
    package init() {}

    /// Reads patterns as somebody wrote them.
    ///
    /// - Throws: `PublishingError.usage` for one that could name no file of a folder.
    package init(_ texts: [String]) throws(PublishingError) {
        for text in texts {
            var bytes = Array(text.utf8)
            if bytes.starts(with: Array("./".utf8)) { bytes.removeFirst(2) }
            while bytes.last == Self.slash { bytes.removeLast() }
            guard !bytes.isEmpty, bytes.first != Self.slash, bytes.count <= 4_096 else {
                throw .usage(
                    "--exclude ‘\(Shown.short(text))’ can name no file: give names or paths inside the folder, such as "
                        + "‘onnx’, ‘*.bin’ or ‘onnx/*_q4.onnx’"
                )
            }
            patterns.append(Pattern(text: text, bytes: bytes, isPath: bytes.contains(Self.slash)))
        }
    }

    /// What somebody wrote, in the same order.
    var texts: [String] { patterns.map(\.text) }

    /// The patterns that name a file or folder.
    ///
    /// - Parameter place: Its path from the folder that is published.
    /// - Returns: As somebody wrote them; none where it is not left out.
    func matching(_ place: String) -> Set<String> {
        guard !patterns.isEmpty else { return [] }
        let path = Array(place.utf8)
        let name = path.split(separator: Self.slash).last.map { Array($0) } ?? path
        return Set(patterns.filter { Self.matches($0.bytes, $0.isPath ? path : name) }.map(\.text))
    }

    private static let slash = UInt8(ascii: "/")
    private static let star = UInt8(ascii: "*")
    private static let one = UInt8(ascii: "?")

    /// Which beginnings of the text each beginning of the pattern can be: never more steps than the product of both.
    private static func matches(_ pattern: [UInt8], _ text: [UInt8]) -> Bool {
        var reached = Array(repeating: false, count: text.count + 1)
        reached[0] = true
        var place = 0
        while place < pattern.count {
            let isStar = pattern[place] == star
            let isDouble = isStar && place + 1 < pattern.count && pattern[place + 1] == star
            var next = Array(repeating: false, count: text.count + 1)
            if isStar {
                for end in reached.indices {
                    let isLonger = end > 0 && next[end - 1] && (isDouble || text[end - 1] != slash)
                    next[end] = reached[end] || isLonger
                }
            } else {
                for end in reached.indices.dropFirst() where reached[end - 1] {
                    let byte = text[end - 1]
                    next[end] = pattern[place] == byte || (pattern[place] == one && byte != slash)
                }
            }
            reached = next
            place += isDouble ? 2 : 1
        }
        return reached[text.count]
    }
}
