/// What one command takes, declared once: parsing, help and completion read the same words.
package struct CommandSpec: Sendable {
    /// The words that name it, `serve` or `registry status`.
    package let name: String

    /// One line, no full stop, beginning with a verb.
    package let summary: String

    /// What stands in positions, in order.
    package let positions: [Position]
    package let options: [OptionSpec]

    /// A whole line that works as it stands, shown by `--help`.
    package let example: String

    /// A paragraph for `--help`, where the summary is not enough.
    package let discussion: String

    package init(
        name: String,
        summary: String,
        positions: [Position] = [],
        options: [OptionSpec] = [],
        example: String,
        discussion: String = ""
    ) {
        self.name = name
        self.summary = summary
        self.positions = positions
        self.options = options
        self.example = example
        self.discussion = discussion
    }

    /// One thing that is told by where it stands.
    package struct Position: Sendable {
        package let name: String
        package let isRequired: Bool

        /// Whether as many more may follow as one likes; only the last may be.
        package let isRepeated: Bool

        package static func required(_ name: String) -> Position {
            Position(name: name, isRequired: true, isRepeated: false)
        }
        package static func optional(_ name: String) -> Position {
            Position(name: name, isRequired: false, isRepeated: false)
        }

        /// One or more.
        package static func several(_ name: String) -> Position {
            Position(name: name, isRequired: true, isRepeated: true)
        }
    }
}

/// One option of a command.
package struct OptionSpec: Sendable {
    /// Without the dashes.
    package let name: String

    /// The word for its value in help; `nil` for a switch.
    package let value: String?
    package let help: String
    package let isRepeatable: Bool

    /// The environment variable that stands in for it where a service needs one.
    package let environment: String?

    /// An option that takes a value.
    package static func value(
        _ name: String,
        _ value: String,
        _ help: String,
        repeatable: Bool = false,
        environment: String? = nil
    ) -> OptionSpec {
        OptionSpec(name: name, value: value, help: help, isRepeatable: repeatable, environment: environment)
    }

    /// An option that is there or not.
    package static func flag(_ name: String, _ help: String) -> OptionSpec {
        OptionSpec(name: name, value: nil, help: help, isRepeatable: false, environment: nil)
    }
}
