import Arguments
import CanonicalJSON

/// Shows what `sync` would do, and where each setting comes from.
struct Config: Command {
    static let spec = CommandSpec(
        name: "config",
        summary: "Show each setting of sync, and where it comes from",
        options: Sync.settings + [SharedOption.json],
        example: "sealift config --directory models",
        discussion:
            "Defaults, then the file of --config (an agent.json or a client.json), then the environment, then "
            + "options: the last one that says something counts."
    )

    static func run(_ arguments: ParsedArguments, _ context: Context) async throws -> ExitCode {
        let rows = try SyncSettings(arguments, context).rows
        if arguments.has("json") {
            let settings = rows.map { row in
                JSONValue.members([
                    "from": .text(row.origin), "name": .text(row.name), "value": .text(orNull: row.value),
                ])
            }
            Output.result(bytes: JSONReport(["settings": .array(settings)]).bytes)
        } else {
            Output.result(
                lines: TextTable.lines(
                    ["setting", "from", "value"],
                    rows.map { [$0.name, $0.origin, $0.value ?? "-"] }
                )
            )
        }
        return .done
    }
}
