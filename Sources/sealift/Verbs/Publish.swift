import Arguments
import CanonicalJSON
import Manifest
import Names
import Publishing
import RegistryAPI

/// Makes one version of a model out of its files and publishes it.
struct Publish: Command {
    static let spec = CommandSpec(
        name: "publish",
        summary: "Read a model's interface, sign a version of it, and upload it",
        positions: [.optional("PATH")],
        options: [
            .value("model", "NS/MODEL", "the model"), .value("version", "V", "the version, or ‘next’"),
            .value("variant", "NAME=PATH", "one variant of several, instead of PATH", repeatable: true),
            SharedOption.exclude,
            .value("channel", "C", "put it into use on this channel"),
            .value("rollout", "PERCENT", "the share of devices that take it, 0 to 100%"),
            .value("card", "FILE", "what a person writes about the model, sealift/card@1"),
            .value(
                "checks",
                "FILE|FOLDER",
                "golden vectors: inputs and what must come out of them, sealift/checks@1 or ONNX test data",
                repeatable: true
            ),
            SharedOption.breaks, SharedOption.key, SharedOption.signer, SharedOption.out, SharedOption.dryRun,
        ] + SharedOption.client + SharedOption.secrets + [SharedOption.json],
        example: "sealift publish detector.onnx --model vision/detector --version 1.0.0 --channel stable",
        discussion:
            "The interface and the requirements are read from the files themselves. Without --channel the "
            + "version is released and nobody takes it yet. Publishing the same again changes nothing. A folder is one "
            + "model with all its files: of one that holds the same model in several formats, or a GGUF in several "
            + "quantisations, --exclude 'onnx' or --exclude '*Q8*' leaves the others out, of each variant's folder, and "
            + "what is left out is named. Where several "
            + "people must sign, --out uploads the files and writes what they sign; ‘role sign’ and ‘role import’ go on. "
            + "With --checks the model is tried before anything is signed, and every device tries it again before it "
            + "activates the version: ‘sealift schema checks’ describes the file. Where `outputs` are left out, they "
            + "are recorded from the model."
    )

    static func run(_ arguments: ParsedArguments, _ context: Context) async throws -> ExitCode {
        let request = try request(arguments, context)
        try ProposalFile.checkFree(arguments["out"])
        let session = try ClientSession(arguments, context)
        let keys = try await session.keyRing()
        // A dry run asks what apps need, for which a token is shown if there is one.
        let isWriting = request.aim != .dryRun
        var publisher = Publisher(
            client: try session.registryClient(writing: isWriting),
            view: try session.verifiedRegistry(writing: isWriting),
            keys: keys,
            now: context.now,
            notice: { @Sendable text in Output.note(text) }
        )
        try await DeviceReading.check(request, context)
        let report = try await publisher.publish(request)
        if request.aim == .collect, let proposal = report.proposal, let out = arguments["out"] {
            try ProposalFile.write(proposal, to: out)
        }
        Output.warn(of: report.ending, naming: keys.names, now: context.now)
        if arguments.has("json") {
            Output.result(bytes: json(report, request).bytes)
        } else {
            print(report, request, keys, out: arguments["out"])
        }
        return .done
    }

    private static func request(_ arguments: ParsedArguments, _ context: Context) throws -> PublishRequest {
        guard let text = arguments["model"] else {
            throw UsageError.refused("say which model: --model NS/MODEL")
        }
        guard let model = ModelName(text) else {
            throw UsageError.badValue(text, of: "--model", expected: "NAMESPACE/MODEL of a-z 0-9 . _ -")
        }
        guard let text = arguments["version"] else {
            throw UsageError.refused("say which version: --version 1.0.0, or --version next")
        }
        let version = ModelVersion(text)
        guard version != nil || text == "next" else {
            throw UsageError.badValue(text, of: "--version", expected: "a version such as 1.4.0, or next")
        }
        var request = PublishRequest(model: model, version: version, variants: try variants(arguments))
        if let text = arguments["channel"] {
            guard let channel = ChannelName(text) else {
                throw UsageError.badValue(text, of: "--channel", expected: "a-z, then a-z 0-9 -, at most 32")
            }
            request.channel = channel
        }
        if let text = arguments["rollout"] {
            guard request.channel != nil else {
                throw UsageError.refused(
                    "--rollout says how many devices of a channel take the version; say which: --channel C"
                )
            }
            request.rollout = try Words.rollout(text, of: "--rollout")
        }
        if let file = arguments["card"] {
            request.card = try DocumentFile.card(file)
        }
        request.checks = arguments.all("checks").map { context.absolute($0) }
        let ofCard = request.card?.checks ?? []
        if !request.checks.isEmpty || !ofCard.isEmpty { request.checkProgram = DeviceRuntimes.checkProgram() }
        request.breaks = try Words.apps(arguments)
        request.aim = Ceremony.Aim(arguments)
        return request
    }

    private static func variants(_ arguments: ParsedArguments) throws -> [VariantSource] {
        let named = arguments.all("variant")
        let exclusions = try FileExclusions(arguments.all("exclude"))
        if let path = arguments.position(0) {
            guard named.isEmpty, let name = VariantName("default") else {
                throw UsageError.refused("give either PATH or --variant NAME=PATH, not both")
            }
            return [VariantSource(name: name, path: path, without: exclusions)]
        }
        guard !named.isEmpty else {
            throw UsageError.missingPosition(name: "PATH or --variant NAME=PATH", command: "publish")
        }
        var variants: [VariantSource] = []
        for text in named {
            let halves = text.split(separator: "=", maxSplits: 1)
            guard halves.count == 2, let name = VariantName(halves[0]) else {
                throw UsageError.badValue(
                    text,
                    of: "--variant",
                    expected: "NAME=PATH, the name of a-z 0-9 . _ -"
                )
            }
            guard !variants.contains(where: { $0.name == name }) else {
                throw UsageError.refused("--variant \(name) is given twice")
            }
            variants.append(VariantSource(name: name, path: String(halves[1]), without: exclusions))
        }
        return variants
    }

    private static func json(_ report: PublishReport, _ request: PublishRequest) -> JSONReport {
        let state =
            if let commit = report.commit { commit.state.rawValue } else if report.proposal == nil {
                "unchanged"
            } else {
                request.aim == .dryRun ? "dry-run" : "written"
            }
        return JSONReport([
            "model": .text("\(report.manifest.model)"), "version": .text("\(report.manifest.version)"),
            "license": report.manifest.description.license.map { .text($0) } ?? .null,
            "manifest": .text(report.digest.hex), "bytes": .integer(Int64(clamping: report.total)),
            "uploaded": .integer(Int64(clamping: report.uploaded)),
            "snapshot": report.commit.map { .integer($0.snapshot) } ?? .null,
            "state": .text(state),
            "checks": .array(report.checked.map { .text($0) }),
            "left_out": .array(report.leftOut.map { .text($0) }),
            "missing": .array(report.missing.map { .text($0.words()) }),
            "ending": .list(of: report.ending),
        ])
    }

    /// One table where all variants have one interface, else one for each and how it differs from the first.
    private static func interfaces(of manifest: ModelManifest) -> [String] {
        guard manifest.variants.contains(where: { $0.interface != nil }), let first = manifest.variants.first
        else {
            let names = manifest.variants.map { "\($0.name)" }
            let title = names.count > 1 ? ["the same for variants \(names.joined(separator: ", ")):"] : []
            return title + InterfaceTable.lines(of: manifest.interface)
        }
        return manifest.variants.flatMap { variant in
            let interface = manifest.interface(of: variant)
            let changes = ContractChanges(from: manifest.interface(of: first), to: interface).changes
            return ["variant \(variant.name), \(variant.format.rawValue):"]
                + InterfaceTable.lines(of: interface)
                + changes.map { "  not as variant \(first.name): \($0.text)" }
        }
    }

    private static func print(
        _ report: PublishReport,
        _ request: PublishRequest,
        _ keys: KeyRing,
        out: String?
    ) {
        let manifest = report.manifest
        Output.note(lines: interfaces(of: manifest))
        Output.note("  license: \(manifest.description.license ?? "none is stated")")
        let name = "\(manifest.model) \(manifest.version)"
        Output.note(lines: report.proposal?.notes ?? [])
        for missing in report.missing {
            Output.result("to be signed: \(missing.words(naming: keys.names))")
        }
        if request.aim == .dryRun {
            Output.result("would publish \(name), \(ByteCount(rawValue: report.total)); nothing was changed")
        } else if request.aim == .collect, report.proposal != nil, let out {
            Output.result(
                "\(out) holds \(name), whose files are uploaded: ‘sealift role sign \(out) --compare --key KEY’ signs "
                    + "it, ‘sealift role import \(out)’ publishes it"
            )
        } else if let commit = report.commit {
            let place = request.channel.map { " on \($0)" } ?? ", not on any channel yet"
            Output.result(
                "published \(name)\(place): snapshot \(commit.snapshot), "
                    + "\(ByteCount(rawValue: report.uploaded)) of \(ByteCount(rawValue: report.total)) uploaded"
            )
        } else {
            Output.result("\(name) is published already, exactly so; nothing was changed")
        }
    }
}
