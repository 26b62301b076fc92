import Arguments
import Durable
import Names
import Publishing
import Signing
import Trust

/// Changes who signs the root of trust.
struct RootRotate: Command {
    static let spec = CommandSpec(
        name: "root rotate",
        summary: "Change the keys and the threshold of the root of trust",
        options: KeyChange.options + [
            .value(
                "role",
                "ROLE",
                "root (the default); targets, the administrators' keys; online, the registry's own; log, the log's"
            ),
            .value("from", "SIZE", "with --role log: the first size of the log that the new key signs"),
        ] + SharedOption.ceremony,
        example: "sealift root rotate --add new.pem.pub --remove old.pem.pub --key a.pem --key new.pem --yes",
        discussion:
            "The next root must be signed by enough keys of the present one and enough of its own. Devices follow "
            + "from any root that they were pinned to. Signatures of several people are collected with --out, "
            + "‘role sign’ and ‘role import’. With --role online, put the new private key into DIR/keys of the "
            + "registry first, as online-NAME.pem; the running server signs with it from the commit on."
    )

    static func run(_ arguments: ParsedArguments, _ context: Context) async throws -> ExitCode {
        if let role = arguments["role"], role == "online" || role == "log" {
            return try await succeed(role, arguments, context)
        }
        guard arguments["from"] == nil else { throw UsageError.refused("--from goes with --role log") }
        let change = try KeyChange(arguments)
        let role: RoleName
        switch arguments["role"] ?? "root" {
        case "root": role = .root
        case "targets": role = .targets
        case let other:
            throw UsageError.badValue(other, of: "--role", expected: "root, targets, online or log")
        }
        let run = try await CeremonyRun(arguments, context, asking: .administrator)
        return try await run.run(.everything, .ask) { draft throws(PublishingError) in
            try draft.rotate(role, change)
        }
    }

    /// One key in the place of another: of the registry itself, or of its log.
    private static func succeed(
        _ role: String,
        _ arguments: ParsedArguments,
        _ context: Context
    ) async throws -> ExitCode {
        let added = arguments.all("add")
        guard let file = added.first, added.count == 1, arguments.all("remove").isEmpty,
            arguments["threshold"] == nil
        else {
            throw UsageError.refused(
                "--role \(role) takes one --add PUB, the key that comes in the place of the present one"
            )
        }
        let key = try PublicKeyFile.read(file)
        var size: UInt64 = 0
        if role == "log" {
            guard let text = arguments["from"], let number = UInt64(text), number > 0 else {
                throw UsageError.refused(
                    "say from which size of the log on the new key signs: --from SIZE; the registry's /metrics has "
                        + "the present one as sealift_log_entries"
                )
            }
            size = number
        } else if arguments["from"] != nil {
            throw UsageError.refused("--from goes with --role log")
        }
        let run = try await CeremonyRun(arguments, context, asking: .administrator)
        return try await run.run(.everything, .ask) { [size] draft throws(PublishingError) in
            if role == "online" {
                try draft.rotateOnline(to: key)
            } else {
                try draft.rotateLog(to: key, from: size)
            }
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

/// A key in the words of a call.
enum KeyName {
    /// The ID itself or its beginning, or that of a public key's file.
    static func id(_ text: String) throws -> String {
        if let digits = KeyID.digits(text) { return digits }
        guard try Durable.kind(of: text) != nil else {
            throw UsageError.refused(
                "‘\(text)’ is neither the file of a public key nor a key ID, of which 8 hexadecimal digits are enough; "
                    + "‘sealift metadata status’ lists keys"
            )
        }
        return Authoring.keyID(of: try PublicKeyFile.read(text))
    }
}
