import Arguments
import CanonicalJSON
import Manifest
import Names
import Registry

/// Stops new activations of a version for a while, with the registry's own key.
struct Hold: Command {
    static let spec = CommandSpec(
        name: "hold",
        summary: "Keep devices from newly taking a version for a while",
        positions: [.required("DIR"), .required("NS/MODEL"), .required("VERSION")],
        options: [
            SharedOption.reason,
            .value("for", "TIME", "how long, 24h unless given, at most 7d"),
            SharedOption.dryRun, SharedOption.json,
        ],
        example: "sealift hold registry vision/detector 1.4.0 --reason 'crash reports' --for 24h",
        discussion:
            "Runs on the registry's own machine, beside ‘serve’, and signs with its online key. Devices skip a "
            + "held version and take the next newest; those that have it keep it. It ends by itself; again "
            + "before that prolongs it."
    )

    static func run(_ arguments: ParsedArguments, _ context: Context) async throws -> ExitCode {
        let model = try Words.model(arguments.positions[1])
        let version = try Words.version(arguments.positions[2])
        let reason = try Words.reason(arguments)
        let seconds = try Words.duration(arguments["for"] ?? "24h", of: "--for")
        guard seconds <= Manifest.Hold.longest else {
            throw UsageError.badValue(arguments["for"] ?? "", of: "--for", expected: "at most 7d")
        }
        let open = try OpenRegistry(arguments.positions[0], context)
        let registry = try open.registry()
        guard !arguments.has("dry-run") else {
            Output.result("would hold \(model) \(version) for \(WrittenTime.text(seconds)): \(reason)")
            return .done
        }
        _ = try await registry.hold(
            version,
            of: model,
            reason: reason,
            seconds: seconds,
            now: context.now
        )
        try HoldReport.tell(open.store, of: model, arguments, context)
        return .done
    }
}

/// Takes a hold back.
struct Unhold: Command {
    static let spec = CommandSpec(
        name: "unhold",
        summary: "Let devices take a held version again",
        positions: [.required("DIR"), .required("NS/MODEL"), .required("VERSION")],
        options: [SharedOption.json],
        example: "sealift unhold registry vision/detector 1.4.0"
    )

    static func run(_ arguments: ParsedArguments, _ context: Context) async throws -> ExitCode {
        let model = try Words.model(arguments.positions[1])
        let version = try Words.version(arguments.positions[2])
        let open = try OpenRegistry(arguments.positions[0], context)
        let registry = try open.registry()
        _ = try await registry.unhold(version, of: model, now: context.now)
        try HoldReport.tell(open.store, of: model, arguments, context)
        return .done
    }
}

/// Lists what is held.
struct HoldList: Command {
    static let spec = CommandSpec(
        name: "hold list",
        summary: "List the versions that devices do not newly take for now",
        positions: [.required("DIR"), .optional("NS/MODEL")],
        options: [SharedOption.json],
        example: "sealift hold list registry",
        discussion: "Runs on the registry's own machine. What has ended is not listed; ‘history’ shows it."
    )

    static func run(_ arguments: ParsedArguments, _ context: Context) async throws -> ExitCode {
        let model = try arguments.position(1).map { text throws(UsageError) in try Words.model(text) }
        let open = try OpenRegistry(arguments.positions[0], context)
        try HoldReport.tell(open.store, of: model, arguments, context)
        return .done
    }
}

private enum HoldReport {
    static func tell(
        _ store: any RegistryStore,
        of model: ModelName?,
        _ arguments: ParsedArguments,
        _ context: Context
    ) throws {
        let held = try Registry.holds(in: store, of: model, at: context.now)
        guard !arguments.has("json") else {
            let holds = held.map { held in
                JSONValue.members([
                    "model": .text("\(held.model)"), "version": .text(orNull: held.version?.description),
                    "manifest": .text(held.hold.manifest.hex), "reason": .text(held.hold.reason),
                    "since": .text("\(held.hold.since)"), "until": .text("\(held.hold.until)"),
                ])
            }
            let report = JSONReport([
                "model": .text(orNull: model?.description), "holds": .array(holds),
            ])
            Output.result(bytes: report.bytes)
            return
        }
        if held.isEmpty { Output.result("nothing\(model.map { " of \($0)" } ?? "") is held") }
        for held in held {
            let name = held.version.map { "\($0)" } ?? "manifest \(held.hold.manifest.hex.prefix(16))…"
            Output.result("\(held.model) \(name) is held until \(held.hold.until): \(held.hold.reason)")
        }
    }
}
