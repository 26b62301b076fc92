import Durable
import Names
import Support

/// The part of the README that a newcomer types from.
struct Readme {
    private let lines: [Substring]

    /// The project's folder.
    static let project: String = {
        // Where the sources lie behind a link, the README lies beside what the link leads to.
        let folder = Durable.parent(of: "\(#filePath)")
        let real = (try? Durable.destination(ofLink: Durable.parent(of: folder))).flatMap { $0 }
        return Durable.parent(of: real ?? Durable.parent(of: folder))
    }()

    /// Takes the section under `heading`.
    init(_ heading: String) throws {
        let bytes = try Durable.readFile(Self.project + "/README.md", maximum: .mebibytes(1))
        let all = String(decoding: bytes, as: UTF8.self).split(
            separator: "\n",
            omittingEmptySubsequences: false
        )
        guard let start = all.firstIndex(of: "## \(heading)") else {
            throw Trouble("the README has no section ‘\(heading)’")
        }
        lines = Array(all[(start + 1)...].prefix { !$0.hasPrefix("## ") })
    }

    /// The lines of each fenced block of a language, without empty ones.
    func blocks(_ language: String) -> [[String]] {
        var blocks: [[String]] = []
        var isInside = false
        for line in lines {
            if isInside && line == "```" {
                isInside = false
            } else if isInside {
                if !line.isEmpty { blocks[blocks.count - 1].append(String(line)) }
            } else if line == "```\(language)" {
                isInside = true
                blocks.append([])
            }
        }
        return blocks
    }

    /// The code in the running text and in tables that begins with `words`.
    func spans(_ words: String) -> [String] {
        lines.flatMap { line in
            line.split(separator: "`", omittingEmptySubsequences: false).enumerated()
                .filter { $0.offset % 2 == 1 && $0.element.hasPrefix(words) }.map { String($0.element) }
        }
    }

    /// The commands in tables.
    var tableCommands: [String] {
        lines.filter { $0.hasPrefix("|") }.flatMap { $0.split(separator: "`") }
            .filter { $0.hasPrefix("sealift ") }.map(String.init)
    }
}
