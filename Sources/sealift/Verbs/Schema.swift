import Arguments
import Manifest
import SyncAgent

/// Prints the JSON Schema of a document, for editors and other programs.
struct Schema: Command {
    static let spec = CommandSpec(
        name: "schema",
        summary: "Print the JSON Schema of a card, an expectation, a manifest or an agent.json",
        positions: [.required("card|expectation|manifest|agent")],
        example: "sealift schema card"
    )

    static func run(_ arguments: ParsedArguments, _ context: Context) async throws -> ExitCode {
        let name = arguments.positions[0]
        guard let text = name == "agent" ? AgentSchema.text : JSONSchemas.text(name) else {
            let names = JSONSchemas.names + ["agent"]
            throw UsageError.refused("\(name) is none of \(names.joined(separator: ", "))")
        }
        Output.result(page: text)
        return .done
    }
}
