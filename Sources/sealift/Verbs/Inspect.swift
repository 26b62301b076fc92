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
            let (card, notes) = try CardDraft.card(for: variant)
            for note in notes { Output.note(note) }
            Output.result(bytes: card.json.compactJSON)
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
            let needs = needs(of: inspection.requires)
            if !needs.isEmpty { Output.result("  needs  " + needs.joined(separator: ", ")) }
            if let tensors = inspection.interface.tensors {
                Output.result("  holds  \(tensors.count) tensors, table sha256 \(tensors.sha256)")
            }
            Output.result(lines: InterfaceTable.lines(of: inspection.interface))
        }
        return .done
    }

    /// What a runtime and a machine must have, in words.
    private static func needs(of requires: Requirements) -> [String] {
        var needs: [String] = []
        if let version = requires.irVersion { needs.append("IR version \(version)") }
        if let version = requires.specificationVersion { needs.append("specification version \(version)") }
        for (domain, version) in requires.opsets.sorted(by: { $0.key < $1.key }) {
            needs.append("operators \(domain) \(version)")
        }
        for minimum in [requires.operatingSystem, requires.runtime] {
            guard let minimum else { continue }
            needs.append([minimum.name, minimum.minimum].compactMap(\.self).joined(separator: " "))
        }
        if let architecture = requires.architecture { needs.append(architecture) }
        return needs
    }
}
