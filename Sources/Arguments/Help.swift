/// Help text, made from the declarations.
package enum Help {
    /// The page of one command.
    package static func page(for spec: CommandSpec) -> String {
        var lines = ["sealift \(spec.name): \(spec.summary).", ""]
        lines.append("  " + usage(of: spec))
        if !spec.discussion.isEmpty { lines += [""] + wrapped(spec.discussion, width: 78) }
        lines += ["", "Example:", "  \(spec.example)"]
        if !spec.options.isEmpty {
            lines += ["", "Options:"]
            lines += table(spec.options.map { (left: label(of: $0), right: help(of: $0)) })
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// The list of all commands.
    package static func overview(of specs: [CommandSpec], version: String) -> String {
        var lines = [
            "sealift \(version): models from the people who train them to the devices that run them,",
            "provably genuine, current, compatible and whole.", "", "  sealift COMMAND [OPTIONS]", "",
            "Commands:",
        ]
        lines += table(specs.map { (left: $0.name, right: $0.summary) })
        lines += ["", "‘sealift COMMAND --help’ shows options and an example."]
        return lines.joined(separator: "\n") + "\n"
    }

    /// The commands whose names begin with one word, such as `channel`.
    package static func group(_ name: String, of specs: [CommandSpec]) -> String {
        var lines = ["sealift \(name): the commands of this name.", ""]
        lines += table(specs.map { (left: $0.name, right: $0.summary) })
        lines += ["", "‘sealift \(specs.first?.name ?? name) --help’ shows options and an example."]
        return lines.joined(separator: "\n") + "\n"
    }

    private static func usage(of spec: CommandSpec) -> String {
        let positions = spec.positions.map {
            ($0.isRequired ? $0.name : "[\($0.name)]") + ($0.isRepeated ? "…" : "")
        }
        let options = spec.options.isEmpty ? [] : ["[OPTIONS]"]
        return (["sealift", spec.name] + positions + options).joined(separator: " ")
    }

    private static func label(of option: OptionSpec) -> String {
        "--\(option.name)" + (option.value.map { " \($0)" } ?? "")
    }

    private static func help(of option: OptionSpec) -> String {
        var text = option.help
        if option.isRepeatable { text += " (repeatable)" }
        if let variable = option.environment { text += " [\(variable)]" }
        return text
    }

    private static func table(_ rows: [(left: String, right: String)]) -> [String] {
        let width = min(28, rows.map(\.left.count).max() ?? 0)
        return rows.flatMap { row -> [String] in
            let text = wrapped(row.right, width: 74 - width)
            let padding = String(repeating: " ", count: width + 4)
            let fits = row.left.count <= width
            let first = "  " + row.left + String(repeating: " ", count: max(2, width + 2 - row.left.count))
            let head = fits ? [first + (text.first ?? "")] : ["  " + row.left, padding + (text.first ?? "")]
            return head + text.dropFirst().map { padding + $0 }
        }
    }

    private static func wrapped(_ text: String, width: Int) -> [String] {
        var lines: [String] = []
        var line = ""
        for word in text.split(separator: " ") {
            if !line.isEmpty && line.count + 1 + word.count > width {
                lines.append(line)
                line = ""
            }
            line += (line.isEmpty ? "" : " ") + word
        }
        return line.isEmpty ? lines : lines + [line]
    }
}
