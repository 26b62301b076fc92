import Arguments
import Audit
import Manifest
import Names
import Publishing

/// Makes a channel list exactly some versions; devices above them go back.
struct ChannelSet: Command {
    static let spec = CommandSpec(
        name: "channel set",
        summary: "Make a channel list exactly these versions, and bring devices back to them",
        positions: [.required("NS/MODEL"), .required("CHANNEL"), .several("VERSION")],
        options: [
            .value("reason", "TEXT", "why, for those who are asked to sign; it is not kept"),
            SharedOption.breaks,
        ] + SharedOption.ceremony,
        example: "sealift channel set vision/detector stable 1.3.0 --reason 'regression in 1.4' --yes",
        discussion:
            "Each version replaces every one of higher precedence that the channel ever listed, so that "
            + "devices which have such a version go back. To withdraw a dangerous version use ‘recall’."
    )

    static func run(_ arguments: ParsedArguments, _ context: Context) async throws -> ExitCode {
        let model = try Words.model(arguments.positions[0])
        let channel = try Words.channel(arguments.positions[1])
        let versions = try Words.versions(arguments.positions.dropFirst(2))
        let reason = try Words.reason(arguments)
        let run = try await CeremonyRun(arguments, context, asking: .publisher)
        let past = try await everListed(in: channel, of: model, run.session)
        return try await run.run(.model(model), .ask) { draft throws(PublishingError) in
            var wanted: [ListedVersion] = []
            for version in versions { wanted.append(try draft.listed(version, of: model)) }
            let released = draft.base.released(of: model)
            let history = past.compactMap { version in
                released[version].map { ListedVersion(version: version, manifest: $0) }
            }
            try draft.set(channel, of: model, to: wanted, history: history, reason: reason)
        }
    }

    /// Every version that the channel listed once, from the registry's retained and verified files.
    private static func everListed(
        in channel: ChannelName,
        of model: ModelName,
        _ session: ClientSession
    ) async throws -> Set<ModelVersion> {
        let history = try await ModelHistory.read(
            of: model,
            through: try session.updater(),
            fetcher: try session.fetcher(),
            location: try session.location()
        )
        return Set(history.states.flatMap { $0.live.listed(in: channel).map(\.version) })
    }
}

/// Lists one more version on a channel.
struct ChannelAdd: Command {
    static let spec = CommandSpec(
        name: "channel add",
        summary: "Put a released version into use on a channel",
        positions: [.required("NS/MODEL"), .required("CHANNEL"), .required("VERSION")],
        options: [
            .value("rollout", "PERCENT", "the share of devices that take it, 0 to 100%"), SharedOption.breaks,
        ]
            + SharedOption.ceremony,
        example: "sealift channel add vision/detector beta 1.4.0 --rollout 10%"
    )

    static func run(_ arguments: ParsedArguments, _ context: Context) async throws -> ExitCode {
        let share = try arguments["rollout"].map { text throws(UsageError) in
            try Words.rollout(text, of: "--rollout")
        }
        let model = try Words.model(arguments.positions[0])
        let channel = try Words.channel(arguments.positions[1])
        let version = try Words.version(arguments.positions[2])
        let run = try await CeremonyRun(arguments, context, asking: .publisher)
        return try await run.run(.model(model), .none) { draft throws(PublishingError) in
            let listed = try draft.listed(version, of: model)
            try draft.add(listed, to: channel, of: model, rollout: share ?? Listing.fullRollout)
        }
    }
}

/// Widens or narrows the share of devices that take a version.
struct Rollout: Command {
    static let spec = CommandSpec(
        name: "rollout",
        summary: "Set the share of devices that take a version from a channel",
        positions: [
            .required("NS/MODEL"), .required("CHANNEL"), .required("VERSION"), .required("PERCENT"),
        ],
        options: [SharedOption.breaks] + SharedOption.ceremony,
        example: "sealift rollout vision/detector stable 1.4.0 50%",
        discussion:
            "Devices that have the version keep it when the share becomes smaller. An app that registered its needs, "
            + "and can use nothing else that the channel offers to all devices, stops that, unless --breaks names it."
    )

    static func run(_ arguments: ParsedArguments, _ context: Context) async throws -> ExitCode {
        let share = try Words.rollout(arguments.positions[3], of: "PERCENT")
        let model = try Words.model(arguments.positions[0])
        let channel = try Words.channel(arguments.positions[1])
        let version = try Words.version(arguments.positions[2])
        let run = try await CeremonyRun(arguments, context, asking: .publisher)
        return try await run.run(.model(model), .none) { draft throws(PublishingError) in
            let listed = try draft.listed(version, of: model)
            try draft.setRollout(share, of: listed, on: channel, of: model)
        }
    }
}

/// Takes versions off a channel.
struct ChannelRemove: Command {
    static let spec = CommandSpec(
        name: "channel remove",
        summary: "Take versions off a channel; devices that have them keep them",
        positions: [.required("NS/MODEL"), .required("CHANNEL"), .several("VERSION")],
        options: [SharedOption.breaks] + SharedOption.ceremony,
        example: "sealift channel remove vision/detector beta 1.4.0 --yes",
        discussion: "To bring devices back to another version use ‘channel set’, to stop using one ‘recall’."
    )

    static func run(_ arguments: ParsedArguments, _ context: Context) async throws -> ExitCode {
        let model = try Words.model(arguments.positions[0])
        let channel = try Words.channel(arguments.positions[1])
        let versions = try Words.versions(arguments.positions.dropFirst(2))
        let run = try await CeremonyRun(arguments, context, asking: .publisher)
        return try await run.run(.model(model), .ask) { draft throws(PublishingError) in
            try draft.remove(versions, from: channel, of: model)
        }
    }
}

/// Sets or lifts the lowest version that devices may activate from a channel.
struct Floor: Command {
    static let spec = CommandSpec(
        name: "floor",
        summary: "Set the lowest version that devices may activate from a channel, or lift it",
        positions: [.required("NS/MODEL"), .required("CHANNEL"), .required("VERSION|none")],
        options: [SharedOption.breaks] + SharedOption.ceremony,
        example: "sealift floor vision/detector stable 1.3.0 --yes"
    )

    static func run(_ arguments: ParsedArguments, _ context: Context) async throws -> ExitCode {
        let model = try Words.model(arguments.positions[0])
        let channel = try Words.channel(arguments.positions[1])
        let text = arguments.positions[2]
        let floor = text == "none" ? nil : try Words.version(text)
        let run = try await CeremonyRun(arguments, context, asking: .publisher)
        return try await run.run(.model(model), .ask) { draft throws(PublishingError) in
            try draft.setFloor(floor, of: channel, of: model)
        }
    }
}
