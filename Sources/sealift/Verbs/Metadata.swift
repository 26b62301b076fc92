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
        options: [
            .value("expiring", "TIME", "end with 4 also for what ends within this time")
        ]
            + SharedOption.client + [SharedOption.json],
        example: "sealift metadata status",
        discussion:
            "Ends with 4 when the signatures of a role have ended, so that a timer notices; with --expiring 30d "
            + "30 days before. Timestamp, snapshot and holds the registry signs by itself, every few days."
    )

    static func run(_ arguments: ParsedArguments, _ context: Context) async throws -> ExitCode {
        let window = try arguments["expiring"].map { try Words.duration($0, of: "--expiring") } ?? 0
        let session = try ClientSession(arguments, context, asking: .administrator)
        var view = try session.verifiedRegistry()
        try await view.refreshToRenew()
        let state = try await view.state(of: .everything)
        let names = (try? await session.keyRing().names) ?? [:]
        let rows = try state.lives() + view.onlineLives()
        let owners = await owners(session)
        let margin = context.now.adding(seconds: EndingRole.margin)
        Output.warn(of: try state.ending(before: margin), naming: names, now: context.now)
        let limit = context.now.adding(seconds: window)
        let hasEnd = rows.contains { row in
            row.ends(before: SealiftShapes.onlineRoles.contains(row.role) ? context.now : limit)
        }
        if arguments.has("json") {
            let roles = rows.map { row in json(row, owners["\(row.role)"], context.now) }
            Output.result(bytes: JSONReport(["roles": .array(roles)]).bytes)
        } else {
            for row in rows { Output.result(lines: lines(row, owners["\(row.role)"], names, context.now)) }
        }
        return hasEnd ? .expiredWithinGrace : .done
    }

    private static func json(_ row: RoleStatus, _ owner: OwnerName?, _ now: UnixTime) -> JSONValue {
        .members([
            "role": .text("\(row.role)"), "version": row.version.map { .integer($0) } ?? .null,
            "expires": .text(orNull: row.expires?.description),
            "seconds_left": row.expires.map { .integer($0.seconds(since: now)) } ?? .null,
            "threshold": .integer(Int64(row.threshold)),
            "owner": .text(orNull: owner?.description),
            "keys": .array(row.keyIDs.map { .text($0) }),
            "signed_by": .array(row.signers.map { .text($0) }),
        ])
    }

    private static func lines(
        _ row: RoleStatus,
        _ owner: OwnerName?,
        _ names: [String: String],
        _ now: UnixTime
    ) -> [String] {
        let keys = row.keyIDs.map { KeyID.short($0, naming: names) }
        var first = "\(row.role)  not signed yet"
        if let version = row.version, let expires = row.expires {
            let left = expires.seconds(since: now)
            let life =
                left <= 0
                ? "EXPIRED" : left < 2 * 86_400 ? "\(left / 3_600) h left" : "\(left / 86_400) d left"
            first = "\(row.role)  version \(version)  until \(expires), \(life)"
        }
        return [first] + (owner.map { ["    of \($0)"] } ?? [])
            + ["    \(row.threshold) of \(row.keyIDs.count): \(keys.joined(separator: ", "))"]
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
        discussion:
            "The registry renews timestamp, snapshot and holds by itself. Ends with 1 when something ends soon and "
            + "the keys here can sign none of it."
    )

    static func run(_ arguments: ParsedArguments, _ context: Context) async throws -> ExitCode {
        let window = try Words.duration(arguments["expiring"] ?? "60d", of: "--expiring")
        let run = try await CeremonyRun(arguments, context, asking: .administrator)
        let limit = context.now.adding(seconds: window)
        return try await run.run(.everything, .none, tellingOfEndsBefore: limit) {
            draft throws(PublishingError) in
            try draft.refresh(expiringBefore: limit, by: run.keys.keyIDs)
            guard draft.isEmpty else { return }
            let ending = try draft.base.ending(before: limit)
            guard ending.isEmpty else {
                throw .unsigned(
                    ending.map { $0.words(naming: run.keys.names, now: context.now) }
                        + ["the keys here suffice for none of them"],
                    option: run.keys.option
                )
            }
        }
    }
}
