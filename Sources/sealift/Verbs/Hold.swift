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
        let registry = try OpenRegistry(arguments.positions[0], context).registry()
        guard !arguments.has("dry-run") else {
            Output.result("would hold \(model) \(version) for \(seconds) seconds: \(reason)")
            return .done
        }
        let document = try await registry.hold(
            version,
            of: model,
            reason: reason,
            seconds: seconds,
            now: context.now
        )
        HoldReport.tell(document, arguments)
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
        let registry = try OpenRegistry(arguments.positions[0], context).registry()
        let document = try await registry.unhold(version, of: model, now: context.now)
        HoldReport.tell(document, arguments)
        return .done
    }
}

private enum HoldReport {
    static func tell(_ document: HoldDocument, _ arguments: ParsedArguments) {
        guard !arguments.has("json") else {
            let holds = document.holds.map { hold in
                JSONValue.members([
                    "manifest": .text(hold.manifest.hex), "reason": .text(hold.reason),
                    "since": .text("\(hold.since)"), "until": .text("\(hold.until)"),
                ])
            }
            let report = JSONReport(["model": .text("\(document.model)"), "holds": .array(holds)])
            Output.result(bytes: report.bytes)
            return
        }
        if document.holds.isEmpty { Output.result("nothing of \(document.model) is held") }
        for hold in document.holds {
            Output.result(
                "\(document.model) manifest \(hold.manifest.hex.prefix(16))… is held until \(hold.until): "
                    + hold.reason
            )
        }
    }
}
