import Arguments
import CanonicalJSON
import Durable
import Names
import Registry
import RegistryStoreSQLite

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
            scope = .publish(try Words.namespace(text, of: "--namespace"))
        case (nil, true): scope = .administer
        default: throw UsageError.refused("say what it allows: --namespace NS, or --administrator")
        }
        let life = try Words.duration(arguments["for"] ?? "30d", of: "--for")
        let expires = context.now.adding(seconds: life)
        guard try Durable.kind(of: file) == nil else {
            throw Failure(.usage, "\(file) is there already; choose another name")
        }
        let registry = try OpenRegistry(arguments.positions[0], context)
        if case .publish(let namespace) = scope, try !registry.knows(namespace) {
            Output.note(
                "there is no namespace \(namespace) here yet: nothing can be published in it before ‘sealift namespace "
                    + "add \(namespace)’"
            )
        }
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

/// Lists tokens; their secrets are nowhere.
struct TokenList: Command {
    static let spec = CommandSpec(
        name: "token list",
        summary: "List the access tokens of a registry: what each allows, and until when",
        positions: [.required("DIR")],
        options: [SharedOption.json],
        example: "sealift token list registry",
        discussion: "Runs on the registry's own machine, which keeps a digest of each token and no more."
    )

    static func run(_ arguments: ParsedArguments, _ context: Context) async throws -> ExitCode {
        let tokens = try OpenRegistry(arguments.positions[0], context).store.tokens()
        guard !arguments.has("json") else {
            let list = tokens.map { issued in
                JSONValue.members([
                    "number": .integer(issued.number), "label": .text(issued.token.label),
                    "scope": .text("\(issued.token.scope)"), "created": .text("\(issued.created)"),
                    "expires": .text("\(issued.token.expires)"),
                    "revoked": .text(orNull: issued.revoked?.description),
                    "valid": .bool(issued.isValid(at: context.now)),
                ])
            }
            Output.result(bytes: JSONReport(["tokens": .array(list)]).bytes)
            return .done
        }
        let rows = tokens.map { issued in
            let state =
                issued.revoked.map { "revoked \($0)" }
                ?? (issued.isValid(at: context.now) ? "valid" : "ended")
            return [
                "\(issued.number)", issued.token.label, "\(issued.token.scope)", "\(issued.created)",
                "\(issued.token.expires)", state,
            ]
        }
        Output.result(
            lines: TextTable.lines(["number", "label", "allows", "created", "until", "state"], rows)
        )
        return .done
    }
}

/// Takes tokens back.
struct TokenRevoke: Command {
    static let spec = CommandSpec(
        name: "token revoke",
        summary: "Take access tokens back, by the label or the number that ‘token list’ shows",
        positions: [.required("DIR"), .required("LABEL|NUMBER")],
        options: [SharedOption.json],
        example: "sealift token revoke registry audio-ci",
        discussion:
            "Runs on the registry's own machine, and holds for a running ‘serve’ from the next request on. A label "
            + "stands for every token that has it."
    )

    static func run(_ arguments: ParsedArguments, _ context: Context) async throws -> ExitCode {
        let name = arguments.positions[1]
        let registry = try OpenRegistry(arguments.positions[0], context)
        let isLabel = try registry.store.tokens().contains { $0.token.label.utf8.elementsEqual(name.utf8) }
        let choice = (isLabel ? nil : Int64(name)).map { TokenChoice.number($0) } ?? .label(name)
        let revoked = try await Registry.revokeTokens(choice, in: registry.store, now: context.now)
        guard !revoked.isEmpty else {
            throw Failure(
                .usage,
                "no token ‘\(name)’ that is not taken back already; ‘sealift token list \(arguments.positions[0])’ "
                    + "shows labels and numbers"
            )
        }
        if arguments.has("json") {
            let numbers = revoked.map { JSONValue.integer($0.number) }
            Output.result(bytes: JSONReport(["revoked": .array(numbers)]).bytes)
        } else {
            for issued in revoked {
                Output.result("revoked token \(issued.number), \(issued.token.label): \(issued.token.scope)")
            }
        }
        return .done
    }
}

extension IssuedToken {
    fileprivate func isValid(at now: UnixTime) -> Bool { revoked == nil && now < token.expires }
}
