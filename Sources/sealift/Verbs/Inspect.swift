import Arguments
import CanonicalJSON
import Manifest
import ModelFormats
import Names
import Publishing

/// Shows what the readers find in a model's files, or what is signed of a published version.
struct Inspect: Command {
    static let spec = CommandSpec(
        name: "inspect",
        summary: "Show the interface and requirements that a model's own files state",
        positions: [.required("PATH or NS/MODEL@V")],
        options: [
            .flag("expectation", "write an expectation that this model satisfies, for an app to ship"),
            .flag("card", "write a card to fill in, for publish --card"),
            SharedOption.exclude,
        ] + SharedOption.client + [SharedOption.json],
        example: "sealift inspect detector.onnx",
        discussion:
            "The model is a file, a folder, or a published version, NS/MODEL@1.4.0 or NS/MODEL@stable, of which the "
            + "signed manifest is shown."
    )

    static func run(_ arguments: ParsedArguments, _ context: Context) async throws -> ExitCode {
        guard !(arguments.has("expectation") && arguments.has("card")) else {
            throw UsageError.refused("give either --expectation or --card")
        }
        let text = arguments.positions[0]
        if let published = try ModelReference.published(text) {
            guard !arguments.has("card") else {
                throw UsageError.refused("a card is drafted from files; give the model's file or folder")
            }
            guard arguments.all("exclude").isEmpty else {
                throw UsageError.refused(
                    "--exclude leaves files of a folder out; \(text) is published already"
                )
            }
            let found = try await ModelReference.read(published, arguments, context)
            show(
                subjects(of: found.manifest),
                found.manifest.interface,
                found.manifest,
                arguments,
                notes: found.standing
            )
            return .done
        }
        guard let name = VariantName("default") else { return .internalError }
        let exclusions = try FileExclusions(arguments.all("exclude"))
        let variant = try await InspectedVariant.inspect(
            VariantSource(name: name, path: text, without: exclusions)
        )
        if arguments.has("card") {
            let (card, notes) = try CardDraft.card(for: variant)
            for note in notes + variant.inspection.notes { Output.note(note) }
            Output.result(bytes: card.json.indented)
            return .done
        }
        let inspection = variant.inspection
        let subject = Subject(
            name: "\(variant.entry)",
            format: inspection.format,
            entry: "\(variant.entry)",
            requires: inspection.requires,
            length: variant.length,
            interface: inspection.interface
        )
        show([subject], inspection.interface, nil, arguments, notes: inspection.notes)
        return .done
    }

    /// One variant, as it is shown.
    private struct Subject {
        let name: String
        let format: ModelFormat
        let entry: String
        let requires: Requirements
        let length: UInt64
        let interface: Interface
    }

    private static func subjects(of manifest: ModelManifest) -> [Subject] {
        manifest.variants.map { variant in
            Subject(
                name: "\(manifest.model) \(manifest.version) (\(variant.name)), \(variant.entry)",
                format: variant.format,
                entry: "\(variant.entry)",
                requires: variant.requires,
                length: variant.files.reduce(0) { $0 + $1.length },
                interface: manifest.interface(of: variant)
            )
        }
    }

    private static func show(
        _ subjects: [Subject],
        _ interface: Interface,
        _ signed: ModelManifest?,
        _ arguments: ParsedArguments,
        notes: [String] = []
    ) {
        if arguments.has("expectation") {
            for note in notes { Output.note(note) }
            Output.result(bytes: Expectation.satisfied(by: interface).json.indented)
        } else if arguments.has("json") {
            let variants = subjects.map { subject in
                JSONValue.members([
                    "format": .text(subject.format.rawValue), "entry": .text(subject.entry),
                    "requires": subject.requires.json, "bytes": .integer(Int64(clamping: subject.length)),
                ])
            }
            let report =
                if let signed {
                    JSONReport([
                        "interface": interface.json, "manifest": signed.json,
                        "standing": .array(notes.map(JSONValue.text)), "variants": .array(variants),
                    ])
                } else {
                    JSONReport([
                        "interface": interface.json, "notes": .array(notes.map(JSONValue.text)),
                        "variants": .array(variants),
                    ])
                }
            Output.result(bytes: report.bytes)
        } else {
            for subject in subjects { Output.result(lines: lines(of: subject)) }
            Output.result(lines: notes.map { "  \($0)" })
            if let signed { Output.result(lines: SignedWords.lines(of: signed)) }
        }
    }

    private static func lines(of subject: Subject) -> [String] {
        var lines = ["\(subject.name)  \(subject.format.rawValue), \(ByteCount(rawValue: subject.length))"]
        let needs = needs(of: subject.requires)
        if !needs.isEmpty { lines.append("  needs  " + needs.joined(separator: ", ")) }
        if let tensors = subject.interface.tensors {
            let count = Counted.words(Int(clamping: tensors.count), "tensor")
            lines.append("  holds  \(count), table sha256 \(tensors.sha256)")
        }
        return lines + InterfaceTable.lines(of: subject.interface)
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
