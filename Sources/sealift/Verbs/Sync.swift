import Arguments
import CanonicalJSON
import Durable
import Names
import SyncAgent
import Transfer

/// Brings a device to the newest usable versions.
struct Sync: Command {
    /// What `config` shows, and `agent.json` says too.
    static let settings: [OptionSpec] =
        [
            SharedOption.directory,
            .value(
                "model",
                "NS/MODEL@CHANNEL",
                "a model to keep, by channel or by version; others leave the device",
                repeatable: true
            ),
            .value(
                "expectation",
                "NS/MODEL=FILE",
                "what the app sends to it and reads from it",
                repeatable: true
            ),
            .value(
                "floor",
                "NS/MODEL=VERSION",
                "the lowest version of it that this device ever activates",
                repeatable: true
            ),
            .value(
                "group",
                "NS/MODEL=NAME",
                "models of one group move together or not at all",
                repeatable: true
            ),
            .value(
                "confirm",
                "NS/MODEL=STARTS/TIME",
                "fall back unless ‘sealift confirm’ comes within so many starts and such a time, 3/24h",
                repeatable: true
            ),
            .value("retries", "N", "attempts without progress before a download gives up, 6 unless given"),
            .value("rate", "BYTES", "the most a second, all connections together, for example 2MB"),
            .value(
                "budget",
                "BYTES/PERIOD",
                "model bytes in each hour, day, week or month, for example 500MB/day"
            ),
            .value(
                "window",
                "HH:MM-HH:MM",
                "fetch model files at this time of day only, by the local clock",
                repeatable: true
            ),
            .value(
                "metered-file",
                "FILE",
                "while it exists the link is metered: fetch model files within --budget or not at all"
            ),
            .value(
                "stall",
                "SECONDS",
                "give a connection up after so long without progress, 20 unless given"
            ),
            DeviceRuntimes.option,
            .value(
                "runtime-library",
                "FILE",
                "libonnxruntime.so to run golden vectors with before a version is activated; found by itself unless "
                    + "given"
            ),
            .value(
                "retain",
                "TIME",
                "how long a version that was left stays for its readers, 24h unless given"
            ),
            .value("reserve", "BYTES", "disk that a sync leaves free, 64MiB unless given"),
        ] + SharedOption.client

    static let spec = CommandSpec(
        name: "sync",
        summary: "Bring a device to the newest version that it can use",
        options: settings + [
            .value(
                "wait",
                "TIME",
                "how long to wait for another sync of the same directory, 60s unless given"
            ),
            .flag("dry-run", "show every decision and change nothing"),
            .flag("watch", "go on until told to stop, as a service"),
            .value(
                "poll",
                "TIME",
                "with --watch: between two looks for news, also in a download, in place of what was signed"
            ),
            SharedOption.json,
        ],
        example: "sealift sync --directory models --model vision/detector@stable",
        discussion:
            "Ends with 0 when the newest usable version is active, 3 when a newer one is there that cannot be "
            + "used or the active one fits no more, 4 when the signed chain has expired and what is active runs on, "
            + "1 when a proof or a policy says no, and 75 when trying again later may help. Whatever happens, the old "
            + "version stays until the new one is whole. With --watch, SIGTERM stops it and SIGHUP makes it read its "
            + "configuration again. --config takes an agent.json too, which ‘sealift schema agent’ describes."
    )

    static func run(_ arguments: ParsedArguments, _ context: Context) async throws -> ExitCode {
        guard !arguments.has("watch") else {
            guard !arguments.has("dry-run") else {
                throw UsageError.refused("--watch changes things: no --dry-run")
            }
            return try await SyncWatch.run(arguments, context)
        }
        guard arguments["poll"] == nil else { throw UsageError.refused("--poll goes with --watch") }
        CurlFetcher.prepare()
        let configuration = try SyncSettings(arguments, context).configuration
        let drawer = ProgressDrawer()
        let agent = try SyncAgent(configuration: configuration) { @Sendable event in drawer.show(event) }
        let report: SyncReport
        do {
            report = try await agent.sync(arguments.has("dry-run") ? .dryRun : .activate)
        } catch {
            drawer.end()
            throw error
        }
        drawer.end()
        // Taken apart by the library that makes the requests, which is being opened while the chain is verified.
        let asJSON = arguments.has("json")
        let isShown = asJSON || report.outcome == .planned
        let routes = isShown ? configuration.routes(environment: context.environment) : []
        tell(report, routes, asJSON: asJSON)
        return ExitCode(rawValue: report.exitCode) ?? .internalError
    }

    /// Tells what a sync did.
    static func tell(_ report: SyncReport, _ routes: [RegistryRoute], asJSON: Bool) {
        if asJSON {
            Output.result(bytes: json(report, routes).bytes)
            for model in report.models where model.exitCode != 0 { complain(of: model) }
        } else {
            for model in report.models { tell(model, isPlan: report.outcome == .planned) }
            for warning in report.warnings { Output.note("warning: \(warning)") }
            for route in routes { tell(route) }
        }
    }

    /// A model's outcome: a result for what went as it should, one line on standard error for what did not.
    private static func tell(_ model: ModelDecision, isPlan: Bool) {
        if model.exitCode == 0 {
            let version = model.active.map { " \($0)" } ?? ""
            let outcome =
                isPlan && model.outcome == .activated ? "would be activated" : model.outcome.rawValue
            Output.result("\(model.model)\(version): \(outcome), \(model.reason)")
        } else {
            complain(of: model)
        }
        Output.result(lines: model.particulars)
    }

    /// In a dry run, how each registry is reached: what firewalls and proxies must let pass.
    private static func tell(_ route: RegistryRoute) {
        let exempt = route.proxy == nil ? route.variable.map { ", no proxy by \($0)" } ?? "" : ""
        let authority =
            route.authority.map { "certificates by \($0)" } ?? "certificates by the system's authorities"
        Output.result("from \(route)\(exempt), \(authority)")
    }

    private static func complain(of model: ModelDecision) {
        let subject = model.reason.contains(model.model) ? "" : "\(model.model): "
        let state = model.active.map { "\($0) stays" } ?? "nothing is active"
        Output.note("sealift: \(subject)\(model.reason); \(state)")
    }

    private static func json(_ report: SyncReport, _ routes: [RegistryRoute]) -> JSONReport {
        JSONReport([
            "outcome": .text(report.outcome.rawValue),
            "generation": report.generation.map { .integer(Int64(clamping: $0)) } ?? .null,
            "models": .array(report.models.map(\.value)), "fresh_until": .text(report.freshUntil),
            "bytes_fetched": .integer(Int64(clamping: report.bytesFetched)),
            "warnings": .array(report.warnings.map { .text($0) }),
            "routes": .array(
                routes.map { route in
                    var object = JSONObject()
                    object["registry"] = .text(route.registry)
                    object["proxy"] = route.proxy.map { .text($0) } ?? .null
                    object["proxy_variable"] = route.variable.map { .text($0) } ?? .null
                    object["ca"] = route.authority.map { .text($0) } ?? .null
                    return .object(object)
                }
            ),
        ])
    }
}
