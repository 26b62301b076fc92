import Arguments
import CanonicalJSON
import Durable
import Glibc
import Names
import Publishing
import RegistryAPI

/// What all verbs share that change signed roles: keys, confirmation, `--out`, and telling what became of it.
struct CeremonyRun {
    let session: ClientSession
    let keys: KeyRing
    private let arguments: ParsedArguments
    private let context: Context

    /// - Parameters:
    ///   - arguments: Of a command that takes ``SharedOption/ceremony``.
    ///   - context: The world around.
    ///   - authority: Whose token is shown.
    ///   - option: The option that names keys to sign with.
    /// - Throws: What is wrong with the configuration or a key.
    init(
        _ arguments: ParsedArguments,
        _ context: Context,
        asking authority: ClientSession.Authority,
        signingWith option: String = "key"
    ) async throws {
        self.arguments = arguments
        self.context = context
        session = try ClientSession(arguments, context, asking: authority)
        keys = try await session.keyRing(option)
    }

    /// Whether the person is asked before anything is signed.
    enum Question {
        case none, ask
    }

    func ceremony() throws -> Ceremony {
        var ceremony = Ceremony(
            client: try session.registryClient(),
            view: try session.verifiedRegistry(),
            keys: keys,
            now: context.now,
            notice: { @Sendable text in Output.note(text) }
        )
        ceremony.breaks = try Words.apps(arguments)
        return ceremony
    }

    var aim: Ceremony.Aim {
        if arguments.has("dry-run") { return .dryRun }
        return arguments["out"] == nil ? .commit : .collect
    }

    /// Makes a change and tells what became of it.
    func run(
        _ scope: StateScope,
        _ question: Question,
        _ edit: (inout RegistryDraft) throws(PublishingError) -> Void
    ) async throws -> ExitCode {
        var ceremony = try ceremony()
        let report = try await ceremony.run(
            scope,
            aim,
            confirm: { proposal throws(PublishingError) in try confirm(proposal, question) },
            edit: edit
        )
        return try finish(report)
    }

    /// Asks on the terminal; without one, `--yes` must have been given.
    ///
    /// - Parameters:
    ///   - proposal: What would be signed.
    ///   - question: Whether the person is asked at all.
    ///   - lines: What the person reads first, in the place of ``lines(of:)``.
    /// - Throws: `PublishingError.usage` without a terminal to ask at, and unless the answer is yes.
    func confirm(
        _ proposal: Proposal,
        _ question: Question,
        lines: [String]? = nil
    ) throws(PublishingError) {
        guard question == .ask, !arguments.has("yes") else { return }
        guard isatty(STDIN_FILENO) == 1 else {
            throw .usage("there is no terminal to ask at; look with --dry-run, then give --yes")
        }
        for line in lines ?? Self.lines(of: proposal) { Output.note(line) }
        Output.note("Sign and go on? Type ‘yes’:")
        guard readLine() == "yes" else { throw .usage("not confirmed; nothing was changed") }
    }

    /// Writes `--out`, and prints the report.
    func finish(_ report: CeremonyReport) throws -> ExitCode {
        if let proposal = report.proposal, let out = arguments["out"], !arguments.has("dry-run") {
            try Durable.writeAtomically(out, proposal.bytes + [0x0A])
        }
        guard !arguments.has("json") else {
            Output.result(bytes: json(report).bytes)
            return .done
        }
        guard let proposal = report.proposal else {
            Output.result("everything is so already; nothing was changed")
            return .done
        }
        for line in Self.lines(of: proposal) { Output.result(line) }
        for missing in report.missing { Output.result("to be signed: \(missing.words(naming: keys.names))") }
        if let commit = report.commit {
            Output.result("published: snapshot \(commit.snapshot)")
        } else if let out = arguments["out"], !arguments.has("dry-run") {
            Output.result(
                report.missing.isEmpty
                    ? "\(out) has every signature; ‘sealift role import \(out)’ publishes it"
                    : "\(out) waits for signatures: ‘sealift role sign \(out) --key KEY’, then ‘sealift role import \(out)’"
            )
        } else {
            Output.result("nothing was changed")
        }
        return .done
    }

    /// What a person should read of a change that was made here.
    static func lines(of proposal: Proposal) -> [String] { proposal.notes + proposal.roles.map(title) }

    /// What a person must read of a file from elsewhere: what its bytes say, and, set apart, what is said of them.
    static func contents(of proposal: Proposal) -> [String] {
        proposal.roles.flatMap { role in [title(of: role)] + role.statements.map { "  \(role.role): \($0)" } }
            + proposal.notes.map { "whoever made the file writes, which nobody signs: \($0)" }
    }

    private static func title(of role: Proposal.Role) -> String {
        "\(role.role): version \(role.version.map(String.init) ?? "?"), valid until "
            + "\(role.expires.map(\.description) ?? "?"), signed by \(role.signatures.count)"
    }

    private func json(_ report: CeremonyReport) -> JSONReport {
        let state =
            if report.proposal == nil { "unchanged" } else if report.commit != nil { "published" } else {
                arguments.has("dry-run") ? "dry-run" : "written"
            }
        let roles = (report.proposal?.roles ?? []).map { role in
            JSONValue.members([
                "role": .text("\(role.role)"), "version": role.version.map { .integer($0) } ?? .null,
                "expires": .text(orNull: role.expires?.description),
                "signed_by": .array(role.signatures.keys.sorted().map { .text($0) }),
            ])
        }
        let missing = report.missing.map { missing in
            JSONValue.members([
                "role": .text("\(missing.role)"), "valid": .integer(Int64(missing.valid)),
                "needed": .integer(Int64(missing.needed)),
                "keys": .array(missing.candidates.map { .text($0) }),
            ])
        }
        return JSONReport([
            "state": .text(state), "changes": .array((report.proposal?.notes ?? []).map { .text($0) }),
            "roles": .array(roles), "missing": .array(missing),
            "snapshot": report.commit.map { .integer($0.snapshot) } ?? .null,
        ])
    }
}
