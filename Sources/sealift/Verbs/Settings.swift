import Arguments
import Manifest
import Names
import Publishing

/// Shows what the administrators ask of every device.
struct SettingsShow: Command {
    static let spec = CommandSpec(
        name: "settings show",
        summary: "Show what the administrators ask of every device",
        options: SharedOption.client + [SharedOption.json],
        example: "sealift settings show"
    )

    static func run(_ arguments: ParsedArguments, _ context: Context) async throws -> ExitCode {
        let session = try ClientSession(arguments, context)
        var view = try session.verifiedRegistry()
        try await view.refreshToRenew()
        let state = try await view.state(of: .everything)
        let settings = try state.settings()
        guard !arguments.has("json") else {
            Output.result(bytes: settings.canonical)
            return .done
        }
        let halt = "\(settings.halt.failedPercent)%,\(settings.halt.minimum)"
        let rows = [
            ["poll", WrittenTime.text(settings.pollSeconds), "between two looks for something new"],
            [
                "grace", WrittenTime.text(settings.grace),
                "that active versions may run on after the signed chain has ended",
            ],
            ["after-grace", settings.afterGrace.rawValue, "what becomes of them then"],
            ["bundle-max-age", WrittenTime.text(settings.bundleMaximumAge), "that a bundle may be old"],
            ["halt", halt, "of reports failed, and the fewest reports, at which a rollout stops by itself"],
            ["oldest-root", "\(settings.oldestRoot)", "the lowest root that a device may be pinned to"],
        ]
        Output.result(lines: TextTable.lines(["setting", "value", "is"], rows))
        return .done
    }
}

/// Changes what the administrators ask of every device.
struct SettingsSet: Command {
    static let spec = CommandSpec(
        name: "settings set",
        summary: "Change what the administrators ask of every device",
        options: [
            .value("poll", "TIME", "between two looks for something new"),
            .value("grace", "TIME", "how long active versions run on after the signed chain has ended"),
            .value("after-grace", "WORD", "keep or refuse: what becomes of them then"),
            .value("bundle-max-age", "TIME", "how old a bundle may be"),
            .value("halt", "PERCENT,COUNT", "stop a rollout when so many of at least COUNT reports failed"),
            .value("oldest-root", "N", "the lowest root version that a device may be pinned to"),
        ] + SharedOption.ceremony,
        example: "sealift settings set --grace 14d --after-grace refuse --yes",
        discussion:
            "Signed by the administrators (the role ‘targets’). Before anything is posted, the rules of devices "
            + "are run from every root that they may be pinned to; --oldest-root decides which those are, so "
            + "raise it only when no device and no app is pinned to an older one."
    )

    static func run(_ arguments: ParsedArguments, _ context: Context) async throws -> ExitCode {
        let change = try SettingsChange(arguments)
        let run = try await CeremonyRun(arguments, context, asking: .administrator)
        return try await run.run(.everything, .ask) { draft throws(PublishingError) in
            try draft.changeSettings { change.apply(to: &$0) }
        }
    }
}

/// What a call of ‘settings set’ asks for; `nil` stays as it is.
private struct SettingsChange {
    private let poll: Int64?
    private let grace: Int64?
    private let afterGrace: SettingsDocument.AfterGrace?
    private let bundleMaximumAge: Int64?
    private let halt: SettingsDocument.Halt?
    private let oldestRoot: Int64?

    init(_ arguments: ParsedArguments) throws(UsageError) {
        poll = try Self.seconds(arguments, "poll")
        grace = try Self.seconds(arguments, "grace")
        bundleMaximumAge = try Self.seconds(arguments, "bundle-max-age")
        afterGrace = try Self.value(arguments, "after-grace", "keep or refuse") {
            SettingsDocument.AfterGrace(rawValue: $0)
        }
        halt = try Self.value(arguments, "halt", "PERCENT,COUNT such as 5%,20") { text in
            let parts = text.split(separator: ",", omittingEmptySubsequences: false)
            guard parts.count == 2, parts[0].hasSuffix("%"), let percent = Int(parts[0].dropLast()),
                let minimum = Int(parts[1])
            else { return nil }
            return SettingsDocument.Halt(failedPercent: percent, minimum: minimum)
        }
        oldestRoot = try Self.value(arguments, "oldest-root", "the version of a root") { text in
            Int64(text).flatMap { $0 > 0 ? $0 : nil }
        }
        let given = ["poll", "grace", "after-grace", "bundle-max-age", "halt", "oldest-root"]
        guard given.contains(where: { arguments[$0] != nil }) else {
            throw .refused(
                "say what changes: \(given.map { "--\($0)" }.joined(separator: ", ")); ‘sealift settings show’ "
                    + "shows what holds"
            )
        }
    }

    func apply(to settings: inout SettingsDocument) {
        settings.pollSeconds = poll ?? settings.pollSeconds
        settings.grace = grace ?? settings.grace
        settings.afterGrace = afterGrace ?? settings.afterGrace
        settings.bundleMaximumAge = bundleMaximumAge ?? settings.bundleMaximumAge
        settings.halt = halt ?? settings.halt
        settings.oldestRoot = oldestRoot ?? settings.oldestRoot
    }

    private static func seconds(
        _ arguments: ParsedArguments,
        _ option: String
    ) throws(UsageError) -> Int64? {
        guard let text = arguments[option] else { return nil }
        return try Words.duration(text, of: "--\(option)")
    }

    private static func value<Value>(
        _ arguments: ParsedArguments,
        _ option: String,
        _ expected: String,
        _ parse: (String) -> Value?
    ) throws(UsageError) -> Value? {
        guard let text = arguments[option] else { return nil }
        guard let value = parse(text) else { throw .badValue(text, of: "--\(option)", expected: expected) }
        return value
    }
}
