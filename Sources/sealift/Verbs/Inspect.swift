import Arguments
import CanonicalJSON
import Manifest
import ModelFormats
import Names
import Publishing

/// Shows what the readers find in a model's files.
struct Inspect: Command {
    static let spec = CommandSpec(
        name: "inspect",
        summary: "Show the interface and requirements that a model's own files state",
        positions: [.required("PATH")],
        options: [
            .flag("expectation", "write an expectation that this model satisfies, for an app to ship"),
            .flag("card", "write a card to fill in, for publish --card"), SharedOption.json,
        ],
        example: "sealift inspect detector.onnx"
    )

    static func run(_ arguments: ParsedArguments, _ context: Context) async throws -> ExitCode {
        guard !(arguments.has("expectation") && arguments.has("card")) else {
            throw UsageError.refused("give either --expectation or --card")
        }
        guard let name = VariantName("default") else { return .internalError }
        let variant = try await InspectedVariant.inspect(
            VariantSource(name: name, path: arguments.positions[0])
        )
        let inspection = variant.inspection
        if arguments.has("expectation") {
            Output.result(bytes: Expectation.satisfied(by: inspection.interface).canonical)
        } else if arguments.has("card") {
            Output.result(bytes: draft().json.compactJSON)
        } else if arguments.has("json") {
            let report = JSONReport([
                "interface": inspection.interface.json,
                "variants": .array([
                    .members([
                        "format": .text(inspection.format.rawValue), "entry": .text("\(variant.entry)"),
                        "requires": inspection.requires.json,
                        "bytes": .integer(Int64(clamping: variant.length)),
                    ])
                ]),
            ])
            Output.result(bytes: report.bytes)
        } else {
            let length = ByteCount(rawValue: variant.length)
            Output.result("\(variant.entry)  \(inspection.format.rawValue), \(length)")
            let requires = inspection.requires
            let needs = requires.opsets.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
            if let version = requires.irVersion {
                Output.result("  needs  IR version \(version), operators of \(needs.joined(separator: ", "))")
            } else if let version = requires.specificationVersion {
                Output.result("  needs  format version \(version)")
            }
            if let tensors = inspection.interface.tensors {
                Output.result("  holds  \(tensors.count) tensors, table sha256 \(tensors.sha256)")
            }
            for tokenizer in inspection.interface.tokenizers {
                Output.result("  holds  \(tokenizer.name), sha256 \(tokenizer.sha256)")
            }
            Output.result(InterfaceTable.text(of: inspection.interface))
        }
        return .done
    }

    /// Every member of text, empty, for a person to fill in or delete.
    private static func draft() -> Card {
        var description = ModelDescription()
        description.summary = ""
        description.license = ""
        description.licenseURL = ""
        description.intendedUse = ""
        description.limitations = ""
        return Card(description: description)
    }
}
