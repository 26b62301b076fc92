import Arguments
import CanonicalJSON
import Publishing
import Signing
import Trust

/// Makes one private key.
struct Keygen: Command {
    static let spec = CommandSpec(
        name: "keygen",
        summary: "Make a private key and write its public half beside it",
        positions: [.required("FILE")],
        options: [
            .value("algorithm", "NAME", "p256 for people and CI (the default), or ed25519")
        ] + SharedOption.secrets + [SharedOption.json],
        example: "sealift keygen vision.pem",
        discussion:
            "FILE becomes PKCS#8 PEM, readable by you alone; FILE.pub is what others need. With a passphrase "
            + "the key is encrypted."
    )

    static func run(_ arguments: ParsedArguments, _ context: Context) async throws -> ExitCode {
        let file = arguments.positions[0]
        let algorithm: KeyAlgorithm
        switch arguments["algorithm"] ?? "p256" {
        case "p256": algorithm = .ecdsaP256
        case "ed25519": algorithm = .ed25519
        case let other: throw UsageError.badValue(other, of: "--algorithm", expected: "p256 or ed25519")
        }
        let passphrase = try Passphrase(arguments)
        var secret = try passphrase.readIfGiven(for: file)
        defer { wipe(&secret) }
        let key = try KeyFile.create(file, algorithm, passphrase: secret)
        let id = Authoring.keyID(of: key.publicKey)
        if arguments.has("json") {
            Output.result(
                bytes: JSONReport(["file": .text(file), "public": .text(file + ".pub"), "keyid": .text(id)])
                    .bytes
            )
        } else {
            Output.result("key \(id)")
            Output.result("  private \(file)")
            Output.result("  public  \(file).pub")
        }
        return .done
    }
}
