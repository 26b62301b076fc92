import Arguments
import Manifest
import Names
import Publishing

/// Stops new installs of a version.
struct Yank: Command {
    static let spec = CommandSpec(
        name: "yank",
        summary: "Stop new installs of versions; devices that have them keep them",
        positions: [.required("NS/MODEL"), .several("VERSION")],
        options: [SharedOption.reason, SharedOption.breaks] + SharedOption.ceremony,
        example: "sealift yank vision/detector 1.4.0 --reason 'wrong labels' --yes"
    )

    static func run(_ arguments: ParsedArguments, _ context: Context) async throws -> ExitCode {
        try await Withdrawal.run(arguments, context, .yanked)
    }
}

/// Makes every device leave a version now.
struct Recall: Command {
    static let spec = CommandSpec(
        name: "recall",
        summary: "Make every device leave versions now",
        positions: [.required("NS/MODEL"), .several("VERSION")],
        options: [SharedOption.reason] + SharedOption.ceremony,
        example: "sealift recall vision/detector 1.4.0 --reason 'unsafe output' --yes",
        discussion:
            "Devices go to the newest good version at their next sync, or have none. An administrator can do "
            + "the same without the model's keys: ‘deny’."
    )

    static func run(_ arguments: ParsedArguments, _ context: Context) async throws -> ExitCode {
        try await Withdrawal.run(arguments, context, .recalled)
    }
}

/// Takes a withdrawal back.
struct Unyank: Command {
    static let spec = CommandSpec(
        name: "unyank",
        summary: "Take back a yank or a recall",
        positions: [.required("NS/MODEL"), .several("VERSION")],
        options: SharedOption.ceremony,
        example: "sealift unyank vision/detector 1.4.0 --yes"
    )

    static func run(_ arguments: ParsedArguments, _ context: Context) async throws -> ExitCode {
        let model = try Words.model(arguments.positions[0])
        let versions = try Words.versions(arguments.positions.dropFirst())
        let run = try await CeremonyRun(arguments, context, asking: .publisher)
        let names = versions.map(\.description).joined(separator: ", ")
        return try await run.run(.model(model), .ask) { draft throws(PublishingError) in
            try draft.editLive(model, "\(model) \(names) may be used again") { live throws(ManifestError) in
                var live = live
                for version in versions { live = try live.restoring(version) }
                return live
            }
        }
    }
}

private enum Withdrawal {
    static func run(
        _ arguments: ParsedArguments,
        _ context: Context,
        _ kind: VersionState.Kind
    ) async throws -> ExitCode {
        let model = try Words.model(arguments.positions[0])
        let versions = try Words.versions(arguments.positions.dropFirst())
        let reason = try Words.reason(arguments)
        let run = try await CeremonyRun(arguments, context, asking: .publisher)
        return try await run.run(.model(model), .ask) { draft throws(PublishingError) in
            for version in versions { _ = try draft.listed(version, of: model) }
            try draft.editLive(model, "\(model) \(versions.areOrIs) \(kind.rawValue): \(reason)") { live in
                versions.reduce(live) { live, version in
                    guard live.state(of: version)?.kind != kind else { return live }
                    let state = VersionState(kind: kind, reason: reason, time: context.now)
                    return live.withdrawing(version, state)
                }
            }
        }
    }
}
