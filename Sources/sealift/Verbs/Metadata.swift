import Arguments
import CanonicalJSON
import Names
import Publishing
import Trust

/// Lists every role: how long it lives and whose signatures it needs.
struct MetadataStatus: Command {
    static let spec = CommandSpec(
        name: "metadata status",
        summary: "Show every role: its version, how long it lives, and who must sign it",
        options: SharedOption.client + [SharedOption.json],
        example: "sealift metadata status"
    )

    static func run(_ arguments: ParsedArguments, _ context: Context) async throws -> ExitCode {
        let session = try ClientSession(arguments, context)
        var view = try session.verifiedRegistry()
        try await view.refreshToRenew()
        let state = try await view.state(of: .everything)
        let names = (try? await session.keyRing().names) ?? [:]
        let rows = try state.lives()
        let owners = await owners(session)
        if arguments.has("json") {
            let roles = rows.map { row in
                JSONValue.members([
                    "role": .text("\(row.role)"), "version": .integer(row.version),
                    "expires": .text("\(row.expires)"),
                    "seconds_left": .integer(row.expires.seconds(since: context.now)),
                    "threshold": .integer(Int64(row.threshold)),
                    "owner": .text(orNull: owners["\(row.role)"]?.description),
                    "keys": .array(row.keyIDs.map { .text($0) }),
                    "signed_by": .array(row.signers.map { .text($0) }),
                ])
            }
            Output.result(bytes: JSONReport(["roles": .array(roles)]).bytes)
            return .done
        }
        for row in rows {
            let left = row.expires.seconds(since: context.now)
            let life =
                left <= 0
                ? "EXPIRED" : left < 7 * 86_400 ? "\(left / 3_600) h left" : "\(left / 86_400) d left"
            let keys = row.keyIDs.map { id in
                names[id].map { "\(id.prefix(12))… (\($0))" } ?? "\(id.prefix(12))…"
            }
            Output.result("\(row.role)  version \(row.version)  until \(row.expires), \(life)")
            if let owner = owners["\(row.role)"] { Output.result("    of \(owner)") }
            Output.result("    \(row.threshold) of \(row.keyIDs.count): \(keys.joined(separator: ", "))")
        }
        return .done
    }

    /// Whose the roles are; only those with a token are told, and the rest is of use without it.
    private static func owners(_ session: ClientSession) async -> [String: OwnerName] {
        guard session.tokenFile != nil else { return [:] }
        do { return try await session.registryClient().owners() } catch {
            Output.note("whose the roles are is not known: \(Failure(describing: error).line)")
            return [:]
        }
    }
}

/// Signs again what ends soon.
struct MetadataRefresh: Command {
    static let spec = CommandSpec(
        name: "metadata refresh",
        summary: "Sign again every role that ends soon, as far as the keys at hand may",
        options: [.value("expiring", "TIME", "what ends within this time, 60d unless given")]
            + SharedOption.ceremony,
        example: "sealift metadata refresh --expiring 60d",
        discussion: "The registry renews timestamp, snapshot and holds by itself."
    )

    static func run(_ arguments: ParsedArguments, _ context: Context) async throws -> ExitCode {
        let window = try Words.duration(arguments["expiring"] ?? "60d", of: "--expiring")
        let run = try await CeremonyRun(arguments, context, asking: .administrator)
        let limit = context.now.adding(seconds: window)
        var left: [String] = []
        let code = try await run.run(.everything, .none) { draft throws(PublishingError) in
            left = []
            for role in try draft.refresh(expiringBefore: limit, by: run.keys.keyIDs) {
                for quorum in try draft.quorums(for: role) {
                    let ids = quorum.keys.keys.sorted().map { id in
                        run.keys.names[id].map { "\(id.prefix(12))… (\($0))" } ?? "\(id.prefix(12))…"
                    }
                    left.append(
                        "\(role) ends soon too; it needs \(quorum.threshold) of \(ids.joined(separator: ", "))"
                    )
                }
            }
        }
        for line in left { Output.note(line) }
        return code
    }
}
