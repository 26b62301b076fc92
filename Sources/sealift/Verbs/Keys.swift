import Arguments
import Names
import Publishing
import Signing
import Trust

/// Changes who signs the root of trust.
struct RootRotate: Command {
    static let spec = CommandSpec(
        name: "root rotate",
        summary: "Change the keys and the threshold of the root of trust",
        options: [
            .value("add", "PUB", "a public key that comes", repeatable: true),
            .value("remove", "KEYID|PUB", "a key that goes, by its ID or its public file", repeatable: true),
            .value("threshold", "N", "how many keys must sign from now on"),
            .value("role", "ROLE", "root (the default), or targets: the administrators' keys"),
        ] + SharedOption.ceremony,
        example: "sealift root rotate --add new.pem.pub --remove old.pem.pub --key a.pem --key new.pem --yes",
        discussion:
            "The next root must be signed by enough keys of the present one and enough of its own. Devices follow "
            + "from any root that they were pinned to. Signatures of several people are collected with --out, "
            + "‘role sign’ and ‘role import’."
    )

    static func run(_ arguments: ParsedArguments, _ context: Context) async throws -> ExitCode {
        var change = KeyChange()
        change.adding = try arguments.all("add").map { try PublicKeyFile.read($0) }
        change.removing = try arguments.all("remove").map { try KeyName.id($0) }
        change.threshold = try Words.threshold(arguments, "threshold")
        let role: RoleName
        switch arguments["role"] ?? "root" {
        case "root": role = .root
        case "targets": role = .targets
        case let other: throw UsageError.badValue(other, of: "--role", expected: "root or targets")
        }
        guard !change.adding.isEmpty || !change.removing.isEmpty || change.threshold != nil else {
            throw UsageError.refused("say what changes: --add PUB, --remove KEYID|PUB or --threshold N")
        }
        let run = try await CeremonyRun(arguments, context, asking: .administrator)
        return try await run.run(.everything, .ask) { draft throws(PublishingError) in
            try draft.rotate(role, change)
        }
    }
}

/// Takes a key out of every role that names it.
struct KeyRevoke: Command {
    static let spec = CommandSpec(
        name: "key revoke",
        summary: "Take a key out of every role that names it, and sign again what hung from it",
        positions: [.required("KEYID|PUB")],
        options: [
            .value("replacement", "PUB", "the public key that comes in its place")
        ] + SharedOption.ceremony,
        example:
            "sealift key revoke vision.pem.pub --replacement new.pem.pub --key targets.pem --key new.pem --yes",
        discussion:
            "Everything goes in one commit: the roles that named the key, and every role below whose signatures "
            + "would no longer count. Whoever must sign what is named; --out FILE collects their signatures. "
            + "Versions that the key released stay released under the new signatures: recall or deny those that "
            + "are not to be trusted."
    )

    static func run(_ arguments: ParsedArguments, _ context: Context) async throws -> ExitCode {
        let id = try KeyName.id(arguments.positions[0])
        let replacement = try arguments["replacement"].map { try PublicKeyFile.read($0) }
        let run = try await CeremonyRun(arguments, context, asking: .administrator)
        return try await run.run(.everything, .ask) { draft throws(PublishingError) in
            try draft.revoke(id, replacement: replacement)
        }
    }
}

private enum KeyName {
    /// The ID itself, or that of a public key's file.
    static func id(_ text: String) throws -> String {
        if text.utf8.count == 64,
            text.utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) })
        {
            return text
        }
        return Authoring.keyID(of: try PublicKeyFile.read(text))
    }
}
