import Arguments
import Inference
import Manifest
import SyncAgent

/// Prints the JSON Schema of a document, for editors and other programs.
struct Schema: Command {
    static let spec = CommandSpec(
        name: "schema",
        summary: "Print the JSON Schema of a card, checks, an expectation, a manifest or an agent.json",
        positions: [.required("card|checks|expectation|manifest|agent")],
        example: "sealift schema card"
    )

    static func run(_ arguments: ParsedArguments, _ context: Context) async throws -> ExitCode {
        let name = arguments.positions[0]
        let text: String? =
            switch name {
            case "agent": AgentSchema.text
            case "checks": CheckSchema.text
            default: JSONSchemas.text(name)
            }
        guard let text else {
            let names = JSONSchemas.names + ["checks", "agent"]
            throw UsageError.refused("\(name) is none of \(names.joined(separator: ", "))")
        }
        Output.result(page: text)
        return .done
    }
}
