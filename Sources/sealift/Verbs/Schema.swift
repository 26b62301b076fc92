import Arguments
import Manifest

/// Prints the JSON Schema of a document, for editors and other programs.
struct Schema: Command {
    static let spec = CommandSpec(
        name: "schema",
        summary: "Print the JSON Schema of a card, an expectation or a manifest",
        positions: [.required("card|expectation|manifest")],
        example: "sealift schema card"
    )

    static func run(_ arguments: ParsedArguments, _ context: Context) async throws -> ExitCode {
        let name = arguments.positions[0]
        guard let text = JSONSchemas.text(name) else {
            throw UsageError.refused("\(name) is none of \(JSONSchemas.names.joined(separator: ", "))")
        }
        Output.result(text)
        return .done
    }
}
