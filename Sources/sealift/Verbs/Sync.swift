import Arguments
import CanonicalJSON
import Durable
import Names
import SyncAgent

/// Brings a device to the newest usable versions.
struct Sync: Command {
    static let spec = CommandSpec(
        name: "sync",
        summary: "Bring a device to the newest version that it can use",
        options: [
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
            .flag("dry-run", "show every decision and change nothing"),
        ] + SharedOption.client + [SharedOption.json],
        example: "sealift sync --directory models --model vision/detector@stable",
        discussion:
            "Ends with 0 when the newest usable version is active, 3 when a newer one is there that cannot be "
            + "used, 4 when the signed chain has expired and what is active runs on, 1 when a proof or a policy says "
            + "no, and 75 when trying again later may help. Whatever happens, the old version stays until the new one "
            + "is whole."
    )

    static func run(_ arguments: ParsedArguments, _ context: Context) async throws -> ExitCode {
        let configuration = try configuration(arguments, context)
        let routes = configuration.routes(environment: context.environment)
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
        if arguments.has("json") {
            Output.result(bytes: json(report, routes).bytes)
            for model in report.models where model.exitCode != 0 { complain(of: model) }
        } else {
            for model in report.models { tell(model, isPlan: report.outcome == .planned) }
            for warning in report.warnings { Output.note("warning: \(warning)") }
            if report.outcome == .planned { for route in routes { tell(route) } }
        }
        return ExitCode(rawValue: report.exitCode) ?? .internalError
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
        for skipped in model.skipped {
            Output.result("  \(skipped.version) was passed over: \(skipped.reason)")
        }
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

    private static func configuration(
        _ arguments: ParsedArguments,
        _ context: Context
    ) throws -> SyncConfiguration {
        let session = try ClientSession(arguments, context)
        let directory = try Device.path(arguments)
        var models = try arguments.all("model").map { try WantedModel($0) }
        for text in arguments.all("expectation") {
            let halves = text.split(separator: "=", maxSplits: 1)
            guard halves.count == 2, let index = models.firstIndex(where: { $0.model == halves[0] }) else {
                throw UsageError.badValue(
                    text,
                    of: "--expectation",
                    expected: "NS/MODEL=FILE of a model given"
                )
            }
            models[index].expectation = try Durable.readFile(String(halves[1]), maximum: Limits.manifest)
        }
        var configuration = SyncConfiguration(
            directory: directory,
            registries: session.registries,
            rootFile: try session.rootFile(),
            models: models
        )
        configuration.caFile = session.caFile
        configuration.tokenFile = arguments["token-file"]
        configuration.allowsPlainLoopback = session.allowsPlainLoopback
        if let text = arguments["retries"] {
            guard let retries = Int(text), (1...1_000).contains(retries) else {
                throw UsageError.badValue(text, of: "--retries", expected: "a number from 1 to 1000")
            }
            configuration.retries = retries
        }
        try limit(&configuration, arguments)
        return configuration
    }

    private static func limit(
        _ configuration: inout SyncConfiguration,
        _ arguments: ParsedArguments
    ) throws(UsageError) {
        if let text = arguments["rate"] {
            configuration.rate = try parsed(
                text,
                "--rate",
                "at least 4096 a second: 500kB, 2MB",
                TransferRate.init
            )
        }
        if let text = arguments["budget"] {
            configuration.budget = try parsed(text, "--budget", "500MB/day, 2GB/month", ByteBudget.init)
        }
        for text in arguments.all("window") {
            configuration.windows.append(try parsed(text, "--window", "22:00-06:00", TransferWindow.init))
        }
        configuration.meteredFile = arguments["metered-file"]
        if let text = arguments["stall"] {
            configuration.stallSeconds = try parsed(text, "--stall", "seconds from 1 to 3600") { text in
                Int(text).flatMap { (1...3_600).contains($0) ? $0 : nil }
            }
        }
    }

    private static func parsed<Value>(
        _ text: String,
        _ option: String,
        _ expected: String,
        _ parse: (String) -> Value?
    ) throws(UsageError) -> Value {
        guard let value = parse(text) else {
            throw .badValue(text, of: option, expected: expected)
        }
        return value
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
