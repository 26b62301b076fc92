/// The words of one call, checked against what the command declares.
package struct ParsedArguments: Sendable {
    /// What stood in positions, in order.
    package let positions: [String]
    private let values: [String: [String]]

    /// The variable that an option came from, where it did.
    private var variables: [String: String] = [:]

    /// Whether `--help` stood anywhere; nothing else is then checked.
    package let wantsHelp: Bool

    /// Reads the words after the command's name.
    ///
    /// `--option value` and `--option=value` are the same, but that a value
    /// which begins with `--` can only be given in the second way; `--` ends
    /// the options.
    ///
    /// - Parameters:
    ///   - words: What stood after the command's name.
    ///   - spec: The command's declaration.
    ///   - environment: Looked up for options that name a variable and were not given.
    /// - Throws: `UsageError`, which names the word and what would be right.
    package init(
        _ words: [String],
        for spec: CommandSpec,
        environment: [String: String]
    ) throws(UsageError) {
        var positions: [String] = []
        var values: [String: [String]] = [:]
        var rest = words[...]
        var optionsEnded = false
        wantsHelp = words.prefix { $0 != "--" }.contains { $0 == "--help" || $0 == "-h" }
        guard !wantsHelp else {
            self.positions = []
            self.values = [:]
            return
        }
        while let word = rest.popFirst() {
            if optionsEnded || !word.hasPrefix("-") || word == "-" {
                positions.append(word)
            } else if word == "--" {
                optionsEnded = true
            } else {
                let (option, attached) = try Self.option(word, of: spec)
                let value: String
                switch (option.value, attached) {
                case (nil, nil): value = "true"
                case (nil, .some): throw .takesNoValue(option: option.name)
                case (let placeholder?, let attached?):
                    guard !attached.isEmpty else {
                        throw .missingValue(option: option.name, placeholder: placeholder)
                    }
                    value = attached
                case (let placeholder?, nil):
                    // An empty one is a variable of a script that was never set.
                    guard let next = rest.popFirst(), !next.isEmpty else {
                        throw .missingValue(option: option.name, placeholder: placeholder)
                    }
                    // What looks like an option is one, and this one's value was forgotten.
                    guard !next.hasPrefix("--") else {
                        throw .optionInPlaceOfValue(option: option.name, found: next)
                    }
                    value = next
                }
                if values[option.name] != nil && !option.isRepeatable {
                    throw .givenTwice(option: option.name)
                }
                values[option.name, default: []].append(value)
            }
        }
        for option in spec.options where values[option.name] == nil {
            guard let name = option.environment, let value = environment[name], !value.isEmpty else {
                continue
            }
            values[option.name] = [value]
            variables[option.name] = name
        }
        let required = spec.positions.filter(\.isRequired).count
        guard positions.count >= required else {
            throw .missingPosition(name: spec.positions[positions.count].name, command: spec.name)
        }
        guard positions.count <= spec.positions.count || spec.positions.last?.isRepeated == true else {
            throw .unexpectedPosition(positions[spec.positions.count], command: spec.name)
        }
        if let empty = positions.firstIndex(of: "") {
            throw .missingPosition(name: spec.positions[empty].name, command: spec.name)
        }
        self.positions = positions
        self.values = values
    }

    /// The value of an option that is given at most once.
    package subscript(option: String) -> String? { values[option]?.first }

    /// The values of an option that may be repeated, in order.
    package func all(_ option: String) -> [String] { values[option] ?? [] }

    /// Where an option that was given came from, for people: itself, or a variable of the environment.
    package func origin(of option: String) -> String { variables[option] ?? "--\(option)" }

    package func has(_ flag: String) -> Bool { values[flag] != nil }

    /// The position at `index`, counted from zero.
    package func position(_ index: Int) -> String? { index < positions.count ? positions[index] : nil }

    private static func option(
        _ word: String,
        of spec: CommandSpec
    ) throws(UsageError) -> (option: OptionSpec, attached: String?) {
        let halves = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let name = String(halves[0].drop { $0 == "-" })
        guard halves[0].hasPrefix("--"), let option = spec.options.first(where: { $0.name == name }) else {
            let nearest = spec.options.map(\.name).filter { EditDistance.between($0, name) <= 2 }
            throw .unknownOption(String(halves[0]), command: spec.name, suggestion: nearest.first)
        }
        return (option, halves.count == 2 ? String(halves[1]) : nil)
    }
}

/// How many single-byte changes lie between two words (Levenshtein), for suggestions.
package enum EditDistance {
    package static func between(_ left: String, _ right: String) -> Int {
        let (left, right) = (Array(left.utf8.prefix(64)), Array(right.utf8.prefix(64)))
        var row = Array(0...right.count)
        for (index, byte) in left.enumerated() {
            var diagonal = row[0]
            row[0] = index + 1
            for (column, other) in right.enumerated() {
                let above = row[column + 1]
                row[column + 1] = min(min(above, row[column]) + 1, diagonal + (byte == other ? 0 : 1))
                diagonal = above
            }
        }
        return row[right.count]
    }
}
