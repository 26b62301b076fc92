import Arguments
import CanonicalJSON
import Durable
import Names
import Registry

/// Makes an access token.
struct TokenCreate: Command {
    static let spec = CommandSpec(
        name: "token create",
        summary: "Make an access token for a publisher or an administrator",
        positions: [.required("DIR"), .required("FILE")],
        options: [
            .value("namespace", "NS", "allows uploads and the roles of this namespace"),
            .flag("administrator", "allows uploads and every role that people sign"),
            .value("label", "NAME", "whose it is"),
            .value("for", "TIME", "how long it lives, 30d unless given"), SharedOption.json,
        ],
        example: "sealift token create registry audio-token --namespace audio --label audio-ci",
        discussion:
            "Runs on the registry's own machine and writes the token to FILE, readable by you alone. A token never "
            + "replaces a signature."
    )

    static func run(_ arguments: ParsedArguments, _ context: Context) async throws -> ExitCode {
        let file = arguments.positions[1]
        let scope: Token.Scope
        switch (arguments["namespace"], arguments.has("administrator")) {
        case (let text?, false):
            guard let namespace = Namespace(text) else {
                throw UsageError.badValue(text, of: "--namespace", expected: "1 to 64 of a-z 0-9 . _ -")
            }
            scope = .publish(namespace)
        case (nil, true): scope = .administer
        default: throw UsageError.refused("say what it allows: --namespace NS, or --administrator")
        }
        let life = try Words.duration(arguments["for"] ?? "30d", of: "--for")
        let expires = context.now.adding(seconds: life)
        guard try Durable.kind(of: file) == nil else {
            throw Failure(.usage, "\(file) is there already; choose another name")
        }
        let registry = try OpenRegistry(arguments.positions[0], context)
        let token = Token(scope: scope, label: arguments["label"] ?? "\(scope)", expires: expires)
        let secret = try await Registry.issueToken(token, in: registry.store, now: context.now)
        try Durable.writeAtomically(file, Array("\(secret)\n".utf8), mode: 0o600)
        if arguments.has("json") {
            let report = JSONReport([
                "file": .text(file), "scope": .text("\(scope)"), "expires": .text("\(expires)"),
            ])
            Output.result(bytes: report.bytes)
        } else {
            Output.result("token \(file), \(scope) until \(expires)")
        }
        return .done
    }
}
