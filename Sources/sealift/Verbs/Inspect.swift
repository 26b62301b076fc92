import Arguments
import CanonicalJSON
import Manifest
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
        guard let variant = VariantName("default"), let model = ModelName("local/model") else {
            return .internalError
        }
        let source = try await VersionSource.read([VariantSource(name: variant, path: arguments.positions[0])]
        )
        let manifest = try source.manifest(
            of: model,
            version: ModelVersion(major: 1, minor: 0, patch: 0),
            created: context.now,
            card: nil
        )
        if arguments.has("expectation") {
            Output.result(bytes: Expectation.satisfied(by: manifest.interface).canonical)
        } else if arguments.has("card") {
            Output.result(bytes: Card().json.compactJSON)
        } else if arguments.has("json") {
            let variants = manifest.variants.map { variant in
                JSONValue.members([
                    "format": .text(variant.format.rawValue), "entry": .text("\(variant.entry)"),
                    "requires": variant.requires.json, "bytes": .integer(Int64(clamping: variant.length)),
                ])
            }
            let report = JSONReport(["interface": manifest.interface.json, "variants": .array(variants)])
            Output.result(bytes: report.bytes)
        } else {
            for variant in manifest.variants {
                Output.result(
                    "\(variant.entry)  \(variant.format.rawValue), \(ByteCount(rawValue: variant.length))"
                )
                let needs = variant.requires.opsets.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
                if let version = variant.requires.irVersion {
                    Output.result(
                        "  needs  IR version \(version), operators of \(needs.joined(separator: ", "))"
                    )
                }
            }
            Output.result(InterfaceTable.text(of: manifest.interface))
        }
        return .done
    }
}
