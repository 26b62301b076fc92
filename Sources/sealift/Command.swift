import Arguments

/// One verb: what it takes, and what it does.
protocol Command {
    static var spec: CommandSpec { get }

    /// Does the work.
    ///
    /// - Returns: How it ended, where that is not plainly `.done`.
    /// - Throws: `Failure`, `UsageError`, or an error of the module that met the trouble.
    static func run(_ arguments: ParsedArguments, _ context: Context) async throws -> ExitCode
}

/// Options that mean the same wherever they stand.
enum SharedOption {
    static let registry = OptionSpec.value(
        "registry",
        "URL",
        "the registry, https://HOST:PORT/; more than one are mirrors",
        repeatable: true,
        environment: "SEALIFT_REGISTRY"
    )
    static let root = OptionSpec.value(
        "root",
        "FILE",
        "the pinned trust root",
        environment: "SEALIFT_ROOT"
    )
    static let ca = OptionSpec.value(
        "ca",
        "FILE",
        "certificates that may vouch for the registry, PEM",
        environment: "SEALIFT_CA"
    )
    static let token = OptionSpec.value("token-file", "FILE", "the file that holds the access token")
    static let config = OptionSpec.value(
        "config",
        "FILE",
        "the client configuration that ‘init’ wrote",
        environment: "SEALIFT_CONFIG"
    )
    static let passphraseFile = OptionSpec.value(
        "passphrase-file",
        "FILE",
        "the file whose first line unlocks the key"
    )
    static let passphraseDescriptor = OptionSpec.value(
        "passphrase-fd",
        "N",
        "the descriptor whose first line unlocks the key"
    )
    static let directory = OptionSpec.value(
        "directory",
        "DIR",
        "the device's model directory",
        environment: "SEALIFT_DIRECTORY"
    )
    static let wanted = OptionSpec.value(
        "model",
        "NS/MODEL@CHANNEL",
        "a model that the device should have; as the agent.json or the last sync says unless given",
        repeatable: true
    )
    static let json = OptionSpec.flag("json", "print one JSON document on standard output")
    static let allowPlain = OptionSpec.flag(
        "allow-plain-loopback",
        "accept http:// to this machine itself, for trials"
    )
    static let key = OptionSpec.value(
        "key",
        "KEY",
        "a key to sign with, a file or command:PROGRAM; those of the key folder unless given",
        repeatable: true
    )
    static let signer = OptionSpec.value(
        "signer-command",
        "PROGRAM ARGS",
        "the same as --key 'command:PROGRAM ARGS'",
        repeatable: true
    )
    static let dryRun = OptionSpec.flag("dry-run", "show everything and change nothing")
    static let rehearsal = OptionSpec.flag(
        "dry-run",
        "show everything and change nothing; where apps may lose a version the registry is asked what they "
            + "registered, which it tells only to who shows a token"
    )
    static let yes = OptionSpec.flag("yes", "do not ask")
    static let out = OptionSpec.value(
        "out",
        "FILE",
        "write the change and its signatures so far to FILE, for others to sign, instead of committing"
    )
    static let breaks = OptionSpec.value(
        "breaks",
        "APP",
        "an app whose registered expectation may break",
        repeatable: true
    )
    static let exclude = OptionSpec.value(
        "exclude",
        "PATTERN",
        "leave files of a folder out: a name, or a path with a slash; ‘*’ is any part of a name, ‘**’ of a path",
        repeatable: true
    )
    static let reason = OptionSpec.value("reason", "TEXT", "why, for everybody who asks later")

    /// What every verb takes that signs: keys, how far to go, and the registry.
    static let ceremony = [key, signer] + ceremonyWithoutKey
    static let ceremonyWithoutKey = [out, rehearsal, yes] + client + secrets + [json]
    static let client = [registry, root, ca, token, config, allowPlain]
    static let secrets = [passphraseFile, passphraseDescriptor]
}
