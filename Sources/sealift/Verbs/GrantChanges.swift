import Arguments
import Names
import Publishing

/// Changes whose a namespace is.
struct NamespaceKeys: Command {
    static let spec = CommandSpec(
        name: "namespace keys",
        summary: "Change the keys, the threshold or the owner of a namespace",
        positions: [.required("NS")],
        options: KeyChange.options + [
            .value("owner", "NAME", "who the team is from now on, as ‘metadata status’ shows it")
        ] + SharedOption.ceremony,
        example: "sealift namespace keys audio --add new.pem.pub --remove old.pem.pub --key targets.pem "
            + "--key new.pem --yes",
        discussion:
            "Signed by the administrators (the role ‘targets’). What the team signed with keys that no longer count "
            + "is signed again in the same commit, by keys that do; whoever must sign is named, and --out FILE "
            + "collects their signatures."
    )

    static func run(_ arguments: ParsedArguments, _ context: Context) async throws -> ExitCode {
        let namespace = try Words.namespace(arguments.positions[0], of: "the namespace")
        let owner = try Words.owner(arguments)
        let change = try KeyChange(arguments, orElse: owner != nil)
        let run = try await CeremonyRun(arguments, context, asking: .administrator)
        return try await run.run(.everything, .ask) { draft throws(PublishingError) in
            try draft.changeKeys(of: namespace, change, owner: owner)
        }
    }
}

/// Changes whose a model is.
struct ModelKeys: Command {
    static let spec = CommandSpec(
        name: "model keys",
        summary: "Change whose signatures a model's releases need, or putting it into use",
        positions: [.required("NS/MODEL")],
        options: KeyChange.options + [
            .value("role", "ROLE", "release, or live; both unless given"),
            .value("owner", "NAME", "whose the model is from now on, as ‘metadata status’ shows it"),
        ] + SharedOption.ceremony,
        example:
            "sealift model keys vision/detector --role live --add lead.pem.pub --threshold 2 --key vision.pem "
            + "--key lead.pem --yes",
        discussion:
            "Signed by the namespace's team. What keys signed that no longer count is signed again in the same "
            + "commit, by keys that do; whoever must sign is named, and --out FILE collects their signatures."
    )

    static func run(_ arguments: ParsedArguments, _ context: Context) async throws -> ExitCode {
        let model = try Words.model(arguments.positions[0])
        let roles: RegistryDraft.ModelRoles
        switch arguments["role"] {
        case nil: roles = .both
        case "release": roles = .release
        case "live": roles = .live
        case let other?: throw UsageError.badValue(other, of: "--role", expected: "release or live")
        }
        let owner = try Words.owner(arguments)
        let change = try KeyChange(arguments, orElse: owner != nil)
        let run = try await CeremonyRun(arguments, context, asking: .publisher)
        return try await run.run(.model(model), .ask) { draft throws(PublishingError) in
            try draft.changeKeys(of: model, roles, change, owner: owner)
        }
    }
}

extension KeyChange {
    static let options: [OptionSpec] = [
        .value("add", "PUB", "a public key that comes", repeatable: true),
        .value("remove", "KEYID|PUB", "a key that goes, by its ID or its public file", repeatable: true),
        .value("threshold", "N", "how many keys must sign from now on"),
    ]

    /// What ``options`` say.
    ///
    /// - Parameters:
    ///   - arguments: Of a command that takes them.
    ///   - hasOther: Whether something else changes, so that they may say nothing.
    /// - Throws: `UsageError` when nothing is said, and for a key that cannot be read.
    init(_ arguments: ParsedArguments, orElse hasOther: Bool = false) throws {
        self.init()
        adding = try arguments.all("add").map { try PublicKeyFile.read($0) }
        removing = try arguments.all("remove").map { try KeyName.id($0) }
        threshold = try Words.threshold(arguments, "threshold")
        guard hasOther || !adding.isEmpty || !removing.isEmpty || threshold != nil else {
            throw UsageError.refused("say what changes: --add PUB, --remove KEYID|PUB or --threshold N")
        }
    }
}
