import Arguments
import CanonicalJSON
import Durable
import Manifest
import Names
import Publishing
import SyncAgent
import Trust

/// Says whether an app can live with a model, and if not, why.
struct Compat: Command {
    static let spec = CommandSpec(
        name: "compat",
        summary: "Say whether an app's expectation and a model fit, and why not",
        positions: [.required("PATH or NS/MODEL@V")],
        options: [
            .value("expectation", "FILE", "what the app sends and reads, sealift/expectation@1"),
            .flag("here", "ask too whether this machine can run it"),
            DeviceRuntimes.option,
        ] + SharedOption.client + [SharedOption.json],
        example: "sealift compat --expectation expectation.json detector.onnx",
        discussion:
            "The model is a file, a folder, or a published version, NS/MODEL@1.4.0 or NS/MODEL@stable. "
            + "Ends with 0 when they fit, else with 1."
    )

    /// A model under a name for people.
    private struct Offer {
        let name: String
        let manifest: ModelManifest

        /// A file has no version yet, so the range that the app accepts says nothing about it.
        let isPublished: Bool
    }

    static func run(_ arguments: ParsedArguments, _ context: Context) async throws -> ExitCode {
        guard let file = arguments["expectation"] else {
            throw UsageError.refused("say what the app needs: --expectation FILE")
        }
        var expectation = try Expectation(bytes: try Durable.readFile(file, maximum: Limits.manifest))
        let offer = try await offer(arguments, context)
        if offer.isPublished, let model = expectation.model, model != offer.manifest.model {
            throw UsageError.refused(
                "\(file) is an expectation for \(model), not for \(offer.manifest.model); give that model's"
            )
        }
        if !offer.isPublished { expectation.accepts = nil }
        var machine = arguments.has("here") ? Machine.current : nil
        machine?.runtimes = try DeviceRuntimes.all(arguments).map(\.limits)
        let verdicts = offer.manifest.variants.map { variant in
            (variant, Compatibility.verdict(expectation, offer.manifest, variant: variant, on: machine))
        }
        let fits = verdicts.contains { $0.1.allowsUse }
        if arguments.has("json") {
            let variants = verdicts.map { variant, verdict in
                var object = verdict.json.object ?? JSONObject()
                object["variant"] = .text("\(variant.name)")
                return JSONValue.object(object)
            }
            let report = JSONReport([
                "model": .text(offer.name), "compatible": .bool(fits), "variants": .array(variants),
            ])
            Output.result(bytes: report.bytes)
        } else {
            for (variant, verdict) in verdicts {
                let name = verdicts.count > 1 ? "\(offer.name), variant \(variant.name)" : offer.name
                Output.result(lines: VerdictTable.lines(of: verdict, titled: name))
            }
        }
        return fits ? .done : .refused
    }

    private static func offer(_ arguments: ParsedArguments, _ context: Context) async throws -> Offer {
        let text = arguments.positions[0]
        let halves = text.split(separator: "@", maxSplits: 1)
        if try Durable.kind(of: text) == nil, halves.count == 2, let model = ModelName(halves[0]) {
            return try await published(model, String(halves[1]), arguments, context)
        }
        guard let variant = VariantName("default"), let model = ModelName("local/model") else {
            throw Failure(.internalError, "no name")
        }
        let source = try await VersionSource.read([VariantSource(name: variant, path: text)])
        let version = ModelVersion(major: 1, minor: 0, patch: 0)
        let manifest = try source.manifest(of: model, version: version, created: context.now, card: nil)
        return Offer(name: text, manifest: manifest, isPublished: false)
    }

    private static func published(
        _ model: ModelName,
        _ wanted: String,
        _ arguments: ParsedArguments,
        _ context: Context
    ) async throws -> Offer {
        var registry = try ClientSession(arguments, context).verifiedRegistry()
        try await registry.refresh()
        let state = try await registry.state(of: .model(model))
        var version = ModelVersion(wanted)
        if version == nil, let channel = ChannelName(wanted) {
            version = try state.live(of: model).channels[channel]?.versions.map(\.version).max()
        }
        guard let version else {
            throw UsageError.refused("\(model) has no channel or version \(wanted)")
        }
        let path = ModelManifest.targetPath(model: model, version: version)
        let release = state.roles[.release(model)]?.document
        guard let bytes = try await registry.content(of: path, in: release) else {
            throw UsageError.refused("\(model) \(version) is not released")
        }
        let manifest = try ModelManifest(canonical: bytes, at: path)
        return Offer(name: "\(model) \(version)", manifest: manifest, isPublished: true)
    }
}

/// A verdict as a person reads it.
enum VerdictTable {
    static func lines(of verdict: Verdict, titled name: String) -> [String] {
        let head = "\(name): \(verdict.lines.first ?? "")"
        guard !verdict.findings.isEmpty else { return [head] + verdict.lines.dropFirst() }
        let rows = verdict.findings.map { finding in
            [
                finding.subject, finding.app, finding.model, finding.why ?? finding.row?.title ?? "",
                finding.remedy,
            ]
        }
        return [head] + TextTable.lines(["what", "the app", "the model", "why", "what to do"], rows)
    }
}
