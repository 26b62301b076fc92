import Arguments
import Names
import Publishing
import Trust

/// Recalls versions from above the model's own keys.
struct Deny: Command {
    static let spec = CommandSpec(
        name: "deny",
        summary: "Recall versions from above the model's own keys, or lift that",
        positions: [.required("NS/MODEL"), .several("VERSION")],
        options: [
            SharedOption.reason,
            .flag("team", "sign as the namespace's team instead of as administrator"),
            .flag("lift", "take the denial back"),
            .flag("unpublished", "deny also versions that nobody has released yet"),
        ] + SharedOption.ceremony,
        example: "sealift deny vision/detector 1.4.0 --reason 'key stolen' --yes",
        discussion:
            "Devices leave a denied version at their next sync, whatever the model's own keys say. Use it when "
            + "those keys are not to be trusted."
    )

    static func run(_ arguments: ParsedArguments, _ context: Context) async throws -> ExitCode {
        let model = try Words.model(arguments.positions[0])
        let versions = try Words.versions(arguments.positions.dropFirst())
        let isTeam = arguments.has("team")
        let role: SealiftRole = isTeam ? .namespace(model.namespace) : .targets
        let isLifting = arguments.has("lift")
        let reason = isLifting ? "" : try Words.reason(arguments)
        let run = try await CeremonyRun(
            arguments,
            context,
            asking: isTeam ? .publisher : .administrator
        )
        return try await run.run(.model(model), .ask) { draft throws(PublishingError) in
            if isLifting {
                try draft.liftDenial(of: versions, of: model, in: role)
            } else {
                try draft.deny(
                    versions,
                    of: model,
                    in: role,
                    reason: reason,
                    now: context.now,
                    includingUnpublished: arguments.has("unpublished")
                )
            }
        }
    }
}
