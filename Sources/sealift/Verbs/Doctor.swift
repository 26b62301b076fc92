import Arguments
import CanonicalJSON
import Durable
import Publishing
import SyncAgent
import Transfer

/// Looks at everything that tends to go wrong, and says what to do about it.
struct Doctor: Command {
    static let spec = CommandSpec(
        name: "doctor",
        summary: "Look at what tends to go wrong, and say what to do about it",
        positions: [.optional("DIR")],
        options: [
            SharedOption.directory, SharedOption.wanted, .flag("offline", "ask no registry"),
        ] + SharedOption.client + [SharedOption.json],
        example: "sealift doctor --directory models",
        discussion:
            "DIR is a registry's directory, on its own machine; --directory a device's. Keys, tokens and registries "
            + "are those of --config, a client.json or an agent.json. Changes nothing. Ends with 1 when there is a "
            + "problem; a warning is none."
    )

    static func run(_ arguments: ParsedArguments, _ context: Context) async throws -> ExitCode {
        // What loads models is looked at below, with a remedy.
        let settings = try SyncSettings(arguments, context, findsRuntimes: false).configuration
        let host = HostExamination(now: context.now)
        var findings = [host.clock()]
        if arguments.position(0) == nil || !settings.directory.isEmpty {
            findings.append(await host.runtime())
        }
        if let registry = arguments.position(0) {
            findings += RegistryExamination(directory: registry, context: context).findings()
        }
        if !settings.directory.isEmpty {
            findings += DeviceExamination(
                directory: settings.directory,
                reserve: settings.reserve,
                wanted: settings.models,
                now: context.now
            ).findings()
        }
        if let client = try ClientSession.configuration(arguments, context) {
            let tokens = [client.tokenFile, client.administratorTokenFile].compactMap { $0 }
            findings += PublisherExamination(
                keys: client.keys,
                rootFile: client.root,
                newestRoot: (try? ClientSession(arguments, context))?.newestRoot,
                tokenFiles: tokens
            ).findings()
        }
        if let token = settings.tokenFile, let finding = HostExamination.privateFile(token) {
            findings.append(finding)
        }
        if !arguments.has("offline"), arguments.position(0) == nil || !settings.registries.isEmpty {
            findings += await network(settings, context).findings()
            findings += await PublisherExamination.tokens(arguments, context)
        }
        report(findings, asJSON: arguments.has("json"))
        return findings.contains { $0.level == .problem } ? .refused : .done
    }

    private static func network(_ settings: SyncConfiguration, _ context: Context) -> NetworkExamination {
        var transfer = TransferConfiguration()
        transfer.certificateAuthority = settings.caFile
        transfer.allowsPlainLoopback = settings.allowsPlainLoopback
        transfer.retry.attempts = 1
        return NetworkExamination(
            registries: settings.registries,
            caFile: settings.caFile,
            fetcher: CurlFetcher(configuration: transfer),
            environment: context.environment,
            now: context.now
        )
    }

    private static func report(_ findings: [Finding], asJSON: Bool) {
        guard !asJSON else {
            let counts = [Finding.Level.problem, .warning].map { level in
                Int64(findings.filter { $0.level == level }.count)
            }
            let report = JSONReport([
                "findings": .array(findings.map(\.value)), "problems": .integer(counts[0]),
                "warnings": .integer(counts[1]),
            ])
            return Output.result(bytes: report.bytes)
        }
        for finding in findings {
            Output.result("\(finding.level.rawValue): \(finding.check), \(finding.subject): \(finding.found)")
            if let remedy = finding.remedy { Output.result("    \(remedy)") }
        }
    }
}
