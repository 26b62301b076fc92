import Arguments
import Names
import Publishing
import Signing

/// Gives a namespace to a team.
struct NamespaceAdd: Command {
    static let spec = CommandSpec(
        name: "namespace add",
        summary: "Give a namespace to a team, by its public keys",
        positions: [.required("NS")],
        options: [
            .value("key", "PUB", "a public key of the team, as ‘keygen’ writes FILE.pub", repeatable: true),
            .value("threshold", "N", "how many of them must sign, 1 unless given"),
            .value("owner", "NAME", "who the team is, shown beside its role by ‘metadata status’"),
            GrantOption.signing, SharedOption.signer,
        ] + SharedOption.ceremonyWithoutKey,
        example: "sealift namespace add audio --key audio.pem.pub --owner 'Audio team' --yes",
        discussion:
            "Signed by the administrators (the role ‘targets’). The team then publishes with its own key, and "
            + "with a token that ‘sealift token create’ makes."
    )

    static func run(_ arguments: ParsedArguments, _ context: Context) async throws -> ExitCode {
        let namespace = try Words.namespace(arguments.positions[0], of: "the namespace")
        let grant = RoleGrant(
            keys: try GrantOption.keys(arguments, "key"),
            threshold: try Words.threshold(arguments, "threshold") ?? 1
        )
        let owner = try Words.owner(arguments)
        let run = try await CeremonyRun(arguments, context, asking: .administrator, signingWith: "sign-with")
        return try await run.run(.everything, .ask) { draft throws(PublishingError) in
            try draft.addNamespace(namespace, grant: grant, owner: owner)
        }
    }
}

/// Adds a model with keys of its own.
struct ModelAdd: Command {
    static let spec = CommandSpec(
        name: "model add",
        summary: "Add a model whose releases, or putting into use, need keys of their own",
        positions: [.required("NS/MODEL")],
        options: [
            .value(
                "key",
                "PUB",
                "a public key that may release versions; the team's unless given",
                repeatable: true
            ),
            .value("threshold", "N", "how many of them must sign, 1 unless given"),
            .value(
                "live-key",
                "PUB",
                "a public key that may put versions into use; as --key unless given",
                repeatable: true
            ),
            .value("owner", "NAME", "whose the model is, shown beside its roles by ‘metadata status’"),
            .value("live-threshold", "N", "how many of them must sign, 1 unless given"),
            GrantOption.signing, SharedOption.signer,
        ] + SharedOption.ceremonyWithoutKey,
        example: "sealift model add vision/detector --key ci.pem.pub --live-key lead.pem.pub --yes",
        discussion:
            "Signed by the namespace's team. ‘publish’ adds a model by itself where the team's own keys are "
            + "to sign it."
    )

    static func run(_ arguments: ParsedArguments, _ context: Context) async throws -> ExitCode {
        let model = try Words.model(arguments.positions[0])
        let release = try GrantOption.keys(arguments, "key")
        let live = try GrantOption.keys(arguments, "live-key")
        let threshold = try Words.threshold(arguments, "threshold")
        let owner = try Words.owner(arguments)
        let liveThreshold = try Words.threshold(arguments, "live-threshold")
        let run = try await CeremonyRun(arguments, context, asking: .publisher, signingWith: "sign-with")
        return try await run.run(.model(model), .ask) { draft throws(PublishingError) in
            let team = try draft.team(of: model.namespace)
            let releaseGrant = RoleGrant(keys: release.isEmpty ? team : release, threshold: threshold ?? 1)
            let liveGrant =
                live.isEmpty
                ? RoleGrant(keys: releaseGrant.keys, threshold: liveThreshold ?? releaseGrant.threshold)
                : RoleGrant(keys: live, threshold: liveThreshold ?? 1)
            try draft.addModel(model, release: releaseGrant, live: liveGrant, owner: owner)
        }
    }
}

private enum GrantOption {
    static let signing = OptionSpec.value(
        "sign-with",
        "KEY",
        "a key to sign with, a file or command:PROGRAM; those of the key folder unless given",
        repeatable: true
    )

    static func keys(_ arguments: ParsedArguments, _ option: String) throws -> [PublicKey] {
        try arguments.all(option).map { try PublicKeyFile.read($0) }
    }
}
