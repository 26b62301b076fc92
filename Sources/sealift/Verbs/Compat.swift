import Arguments
import CanonicalJSON
import Durable
import Manifest
import Names
import SyncAgent

/// Says whether an app can live with a model, or what changes from one model to another.
struct Compat: Command {
    static let spec = CommandSpec(
        name: "compat",
        summary: "Say whether an app's expectation and a model fit, or how two models differ",
        positions: [.required("PATH or NS/MODEL@V"), .optional("PATH or NS/MODEL@V")],
        options: [
            .value("expectation", "FILE", "what the app sends and reads, sealift/expectation@1"),
            .flag("here", "ask too whether this machine can run it; --runtime says so as well"),
            DeviceRuntimes.option,
            .value("card", "FILE", "what is declared of a file, as publish --card would"),
            SharedOption.exclude,
        ] + SharedOption.client + [SharedOption.json],
        example: "sealift compat --expectation expectation.json detector.onnx",
        discussion:
            "A model is a file, a folder, or a published version, NS/MODEL@1.4.0 or NS/MODEL@stable. With "
            + "--expectation it ends with 0 when they fit, else with 1, also when that is not known. With two models "
            + "and no expectation it shows what changes from the first to the second, and which version that asks for, "
            + "as publish would: compat vision/detector@stable detector.onnx."
    )

    static func run(_ arguments: ParsedArguments, _ context: Context) async throws -> ExitCode {
        let isHere = arguments.has("here") || !arguments.all("runtime").isEmpty
        let card = try arguments["card"].map { try DocumentFile.card($0) }
        let hasFiles = try arguments.positions.contains { try ModelReference.published($0) == nil }
        guard hasFiles || arguments.all("exclude").isEmpty else {
            throw UsageError.refused("--exclude leaves files of a folder out, and no folder is given")
        }
        if let other = arguments.position(1) {
            guard arguments["expectation"] == nil, !isHere else {
                throw UsageError.refused(
                    "two models are compared with each other; give one with --expectation"
                )
            }
            let old = try await ModelReference.read(arguments.positions[0], arguments, context)
            let new = try await ModelReference.read(other, arguments, context, card: card)
            for line in old.standing + new.standing { Output.note("note: \(line)") }
            ModelComparison(old, new).show(asJSON: arguments.has("json"))
            return .done
        }
        guard let file = arguments["expectation"] else {
            throw UsageError.refused(
                "say what the app needs, --expectation FILE, or give a second model to compare with"
            )
        }
        var expectation = try DocumentFile.expectation(file)
        let offer = try await ModelReference.read(arguments.positions[0], arguments, context, card: card)
        if offer.isPublished, let model = expectation.model, model != offer.manifest.model {
            throw UsageError.refused(
                "\(file) is an expectation for \(model), not for \(offer.manifest.model); give that model's"
            )
        }
        if !offer.isPublished { expectation.accepts = nil }
        var machine: Machine?
        if isHere {
            machine = .current
            machine?.runtimes = try DeviceRuntimes.all(arguments).map(\.limits)
        }
        let verdicts = offer.manifest.variants.map { [expectation, machine] variant in
            let verdict =
                if let machine {
                    Compatibility.answer(expectation, offer.manifest, variant: variant, on: machine)
                } else { Compatibility.verdict(expectation, offer.manifest, variant: variant) }
            return (variant, verdict)
        }
        let fits = verdicts.contains { $0.1.allowsUse }
        for line in offer.standing { Output.note("note: \(line)") }
        if arguments.has("json") {
            let variants = verdicts.map { variant, verdict in
                var object = verdict.json.object ?? JSONObject()
                object["variant"] = .text("\(variant.name)")
                return JSONValue.object(object)
            }
            let report = JSONReport([
                "model": .text(offer.name), "compatible": .bool(fits), "variants": .array(variants),
                "standing": .array(offer.standing.map(JSONValue.text)),
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
}

/// What changes from one model to another, and the smallest version that says so.
private struct ModelComparison {
    let old: ModelReference
    let new: ModelReference
    let changes: ContractChanges

    init(_ old: ModelReference, _ new: ModelReference) {
        self.old = old
        self.new = new
        // As publish compares: a file is the variant `default` there too.
        changes = ContractChanges(from: old.manifest, to: new.manifest)
    }

    /// The smallest version that may follow the old one; a file has none.
    private var next: ModelVersion? {
        old.isPublished ? changes.step.applied(to: old.manifest.version) : nil
    }

    func show(asJSON: Bool) {
        guard !asJSON else {
            let list = changes.changes.map { change in
                JSONValue.members([
                    "row": .integer(Int64(change.row.rawValue)), "step": .text(change.step.rawValue),
                    "text": .text(change.text), "title": .text(change.row.title),
                ])
            }
            let report = JSONReport([
                "from": .text(old.name), "to": .text(new.name), "step": .text(changes.step.rawValue),
                "next": .text(orNull: next.map { "\($0)" }), "changes": .array(list),
            ])
            return Output.result(bytes: report.bytes)
        }
        let count = changes.changes.count
        let what = count == 0 ? "the same interface" : count == 1 ? "one change" : "\(count) changes"
        let number = next.map { ", \($0) or higher" } ?? ""
        Output.result("from \(old.name) to \(new.name): \(what), a \(changes.step.rawValue) step\(number)")
        guard count > 0 else { return }
        let rows = changes.changes.map { [$0.text, $0.step.rawValue, "\($0.row.rawValue), \($0.row.title)"] }
        Output.result(lines: TextTable.lines(["change", "step", "row"], rows))
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
