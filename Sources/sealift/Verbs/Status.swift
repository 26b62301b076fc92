import Arguments
import CanonicalJSON
import Names
import SyncAgent

/// Tells what is active on a device, and how current it is.
struct Status: Command {
    static let spec = CommandSpec(
        name: "status",
        summary: "Show what is active on a device, what is missing, and how current it is",
        options: [SharedOption.directory, SharedOption.wanted, SharedOption.config, SharedOption.json],
        example: "sealift status --directory models",
        discussion:
            "A model that is wanted and not there is shown with the reason of the last sync. Where --config names an "
            + "agent.json, its directory and its models hold here too."
    )

    static func run(_ arguments: ParsedArguments, _ context: Context) async throws -> ExitCode {
        let configured = try SyncSettings.agentFile(arguments, context)?.configuration
        let given = try arguments.all("model").map { try WantedModel($0) }
        let wanted = given.isEmpty ? configured?.models ?? [] : given
        let status = try Device.synced(arguments, or: configured).status(wanted: wanted, at: context.now)
        guard !arguments.has("json") else {
            Output.result(bytes: json(status).bytes)
            return .done
        }
        let prefix = status.isFallback ? "the fallback of generation" : "generation"
        let generation = status.generation.map { "\(prefix) \($0)" } ?? "nothing active"
        Output.result("\(status.directory): \(generation)")
        for model in status.models {
            let channel = model.channel.map { " from \($0)" } ?? ""
            Output.result("  \(model.model) \(model.version) (\(model.variant))\(channel): \(model.reason)")
            if let trial = model.trial, trial != "confirmed" {
                Output.result("    \(trial): its app has not confirmed it\(words(model.trialProgress))")
            }
            if let pinned = model.pinned { Output.result("    pinned to \(pinned)") }
            if let waiting = model.waiting { Output.result("    waits: \(waiting)") }
            if let unfit = model.unfit { Output.result("    does not fit: \(unfit)") }
            if let problem = model.problem { Output.result("    problem: \(problem)") }
            if let checks = model.checks { Output.result("    \(checks)") }
            for version in model.quarantined {
                Output.result("    quarantined: \(version.version), \(version.reason)")
            }
        }
        for missing in status.missing {
            Output.result("  missing: \(missing.request): \(missing.reason)")
            Output.result("    \(missing.remedy)")
        }
        Output.result("chain: \(words(status))")
        Output.result("log: \(status.log)")
        return .done
    }

    private static func words(_ trial: DeviceStatus.TrialProgress?) -> String {
        guard let trial else { return "" }
        let starts = "; \(trial.starts) of \(Counted.words(trial.startsAllowed, "start")) so far, "
        let left =
            trial.secondsLeft.map { "\(Words.rest($0)) left, until \(trial.until)" }
            ?? "until \(trial.until), by a right clock and a current chain"
        return starts + left
            + (trial.hasWayBack ? "" : "; no other version stands behind it, so it stays in any case")
    }

    private static func words(_ status: DeviceStatus) -> String {
        if let fault = status.clockFault, status.freshness == .unknown {
            return
                "how current it is cannot be told, as the clock cannot be trusted: \(fault). Set it; nothing new is "
                + "accepted before"
        }
        let until = status.freshUntil.map { ", until \($0)" } ?? ""
        let checked = status.checked.map { ", checked \($0)" } ?? ""
        let grace = status.graceUntil.map { "; what is active may run until \($0)" } ?? ""
        return switch status.freshness {
        case .fresh: "fresh\(until)\(checked)"
        case .stale:
            "stale\(until)\(checked)\(grace); nothing new is accepted before the registry signs again"
        case .overdue: "overdue\(until)\(checked); \(status.graceIsOver)"
        case .unknown: "unknown, no sync has finished yet"
        }
    }

    private static func json(_ trial: DeviceStatus.TrialProgress?) -> JSONValue {
        guard let trial else { return .null }
        return .members([
            "starts": .integer(Int64(trial.starts)), "starts_allowed": .integer(Int64(trial.startsAllowed)),
            "until": .text(trial.until), "has_way_back": .bool(trial.hasWayBack),
            "seconds_left": trial.secondsLeft.map { .integer($0) } ?? .null,
        ])
    }

    private static func json(_ status: DeviceStatus) -> JSONReport {
        let models = status.models.map { model in
            JSONValue.members([
                "model": .text(model.model), "version": .text(model.version), "variant": .text(model.variant),
                "channel": .text(orNull: model.channel), "manifest": .text(model.manifest),
                "directory": .text(model.directory), "entry": .text(model.entry),
                "reason": .text(model.reason), "trial": .text(orNull: model.trial),
                "trial_progress": json(model.trialProgress),
                "pinned": .text(orNull: model.pinned),
                "waiting": .text(orNull: model.waiting), "waiting_code": .text(orNull: model.waitingCode),
                "unfit": .text(orNull: model.unfit), "problem": .text(orNull: model.problem),
                "checks": .text(orNull: model.checks),
                "quarantined": .array(
                    model.quarantined.map {
                        .members(["version": .text($0.version), "reason": .text($0.reason)])
                    }
                ),
            ])
        }
        return JSONReport([
            "directory": .text(status.directory),
            "generation": status.generation.map { .integer(Int64(clamping: $0)) } ?? .null,
            "fallback": .bool(status.isFallback), "created": .text(orNull: status.created),
            "models": .array(models), "clock": .text(orNull: status.clockFault),
            "missing": .array(
                status.missing.map {
                    .members([
                        "model": .text($0.model), "request": .text($0.request), "reason": .text($0.reason),
                        "remedy": .text($0.remedy), "code": .text($0.code),
                    ])
                }
            ),
            "freshness": .text(status.freshness.rawValue), "checked": .text(orNull: status.checked),
            "fresh_until": .text(orNull: status.freshUntil), "grace_until": .text(orNull: status.graceUntil),
            "after_grace": .text(status.refusesAfterGrace ? "refuse" : "keep"),
            "log": .text(status.log),
        ])
    }
}

extension DeviceStatus {
    /// What the end of the grace means for whoever opens a model.
    var graceIsOver: String {
        let end = graceUntil.map { " since \($0)" } ?? ""
        return refusesAfterGrace
            ? "the grace is over\(end), and no version may be used until a ‘sealift sync’ gets a current chain"
            : "the grace is over\(end); as the registry wants it what is active goes on running, and nothing new is taken"
    }
}

/// Tells why a device has the version that it has.
struct Why: Command {
    static let spec = CommandSpec(
        name: "why",
        summary: "Explain why a device has this version of a model and no other",
        positions: [.required("NS/MODEL")],
        options: [SharedOption.directory, SharedOption.json],
        example: "sealift why vision/detector --directory models"
    )

    static func run(_ arguments: ParsedArguments, _ context: Context) async throws -> ExitCode {
        let model = try Device.model(arguments)
        let decision = try Device.synced(arguments).why("\(model)")
        guard !arguments.has("json") else {
            Output.result(bytes: decision.value.compactJSON)
            return .done
        }
        Output.result("\(decision.model) \(decision.active ?? "none"): \(decision.reason)")
        Output.result("  asked for \(decision.request), last decision: \(decision.outcome.rawValue)")
        Output.result(lines: decision.particulars)
        return .done
    }
}

/// Reads every byte of what is active again.
struct Verify: Command {
    static let spec = CommandSpec(
        name: "verify",
        summary: "Read every byte of what is active and compare it with the signed manifests",
        options: [SharedOption.directory, SharedOption.root, SharedOption.json],
        example: "sealift verify --directory models",
        discussion:
            "Each manifest is held to the signed metadata in the directory, and that to the root of trust that the "
            + "directory began with. Whoever can write the directory can change that one too: --root takes it from "
            + "elsewhere."
    )

    static func run(_ arguments: ParsedArguments, _ context: Context) async throws -> ExitCode {
        let device = try Device.synced(arguments)
        let bytes = try device.verify(root: arguments["root"])
        let models = try device.status(at: context.now).models.map { "\($0.model) \($0.version)" }
        if arguments.has("json") {
            let report = JSONReport([
                "bytes": .integer(Int64(clamping: bytes)), "models": .array(models.map { .text($0) }),
            ])
            Output.result(bytes: report.bytes)
        } else {
            Output.result("\(bytes) bytes are as signed: \(models.joined(separator: ", "))")
        }
        return .done
    }
}
