import Names

/// A call that no command understands; always exit code 2.
package enum UsageError: Error, Equatable, Sendable {
    case unknownCommand(String, suggestion: String?)
    case unknownOption(String, command: String, suggestion: String?)
    case missingValue(option: String, placeholder: String)

    /// Where a value should stand, stands what looks like the next option.
    case optionInPlaceOfValue(option: String, found: String)
    case takesNoValue(option: String)
    case givenTwice(option: String)
    case missingPosition(name: String, command: String)
    case unexpectedPosition(String, command: String)

    /// A value of the wrong shape: what was wanted, and what stood there.
    case badValue(String, of: String, expected: String)

    /// Anything else, in a sentence that says what to do.
    case refused(String)
}

extension UsageError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .unknownCommand(let name, let suggestion):
            "there is no command ‘\(Shown.short(name))’\(Self.hint(suggestion)); ‘sealift --help’ lists them"
        case .unknownOption(let option, let command, let suggestion):
            "‘\(command)’ has no option ‘\(Shown.short(option))’\(Self.hint(suggestion.map { "--" + $0 }));"
                + " ‘sealift \(command) --help’ lists them"
        case .missingValue(let option, let placeholder):
            "--\(option) needs a value: --\(option) \(placeholder)"
        case .optionInPlaceOfValue(let option, let found):
            "--\(option) needs a value, found ‘\(Shown.short(found))’; a value that begins with two dashes is given "
                + "as --\(option)=VALUE"
        case .takesNoValue(let option): "--\(option) takes no value"
        case .givenTwice(let option): "--\(option) may be given once only"
        case .missingPosition(let name, let command):
            "‘\(command)’ needs \(name); ‘sealift \(command) --help’ shows an example"
        case .unexpectedPosition(let word, let command):
            "‘\(command)’ does not expect ‘\(Shown.short(word))’; ‘sealift \(command) --help’ shows an example"
        case .badValue(let value, let name, let expected):
            "\(name): expected \(expected), found ‘\(Shown.short(value))’"
        case .refused(let sentence): sentence
        }
    }

    private static func hint(_ suggestion: String?) -> String {
        suggestion.map { " (did you mean ‘\($0)’?)" } ?? ""
    }
}
