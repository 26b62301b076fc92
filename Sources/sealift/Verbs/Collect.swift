import Arguments
import CanonicalJSON
import SyncAgent

/// Deletes what nothing on a device needs any more.
struct Collect: Command {
    static let spec = CommandSpec(
        name: "gc",
        summary: "Delete versions that nothing needs any more",
        options: [
            SharedOption.directory,
            .value(
                "retain",
                "TIME",
                "how long versions stay after they were left; as the agent.json says, or 24h, unless given"
            ),
            SharedOption.config, SharedOption.dryRun, SharedOption.json,
        ],
        example: "sealift gc --directory models --dry-run",
        discussion:
            "Kept are the active versions, what the device would fall back to, the generation before, what was left "
            + "lately, and whatever a program holds a lease on. A sync does the same at its end. Where --config names "
            + "an agent.json, its directory and its ‘retain’ hold here too."
    )

    static func run(_ arguments: ParsedArguments, _ context: Context) async throws -> ExitCode {
        let isPlan = arguments.has("dry-run")
        // A file that is named must be in order, also where options say all that is taken from it.
        let saysAll =
            arguments["directory"] != nil && arguments["retain"] != nil && arguments["config"] == nil
        let configured = saysAll ? nil : try SyncSettings.agentFile(arguments, context)?.configuration
        let retain = try arguments["retain"].map { try Words.duration($0, of: "--retain") }
        let report = try await Device.synced(arguments, or: configured)
            .collect(isPlan ? .dryRun : .activate, retain: retain ?? configured?.retain ?? 86_400)
        guard !arguments.has("json") else {
            let document = JSONReport([
                "removed": .array(report.removed.map { .text($0) }),
                "leased": .array(report.leased.map { .text($0) }),
                "bytes": .integer(Int64(clamping: report.bytes)), "dry_run": .bool(isPlan),
            ])
            Output.result(bytes: document.bytes)
            return .done
        }
        for path in report.removed { Output.result("\(isPlan ? "would delete" : "deleted") \(path)") }
        for path in report.leased { Output.result("kept \(path): a program uses it") }
        Output.result("\(report.bytes) bytes \(isPlan ? "would be free" : "were freed")")
        return .done
    }
}
