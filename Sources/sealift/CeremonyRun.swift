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
        try ProposalFile.checkFree(arguments["out"])
        session = try ClientSession(arguments, context, asking: authority)
        keys = try await session.keyRing(option)
    }

    /// Whether the person is asked before anything is signed.
    enum Question {
        case none, ask
    }

    func ceremony() throws -> Ceremony {
        var ceremony = Ceremony(
            client: try session.registryClient(writing: aim == .commit),
            view: try session.verifiedRegistry(writing: aim == .commit),
            keys: keys,
            now: context.now,
            notice: { @Sendable text in Output.note(text) }
        )
        ceremony.breaks = try Words.apps(arguments)
        return ceremony
    }

    var aim: Ceremony.Aim { Ceremony.Aim(arguments) }

    /// Makes a change and tells what became of it, and what ends soon, or before `limit` if that is later.
    func run(
        _ scope: StateScope,
        _ question: Question,
        tellingOfEndsBefore limit: UnixTime? = nil,
        _ edit: (inout RegistryDraft) throws(PublishingError) -> Void
    ) async throws -> ExitCode {
        var ceremony = try ceremony()
        if let limit { ceremony.warningLimit = max(limit, ceremony.warningLimit) }
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
            // Who passes no lines has shown what there is to read already, and may know no --dry-run.
            let look = lines?.isEmpty == true ? "read what would be signed" : "look with --dry-run"
            throw .usage("there is no terminal to ask at; \(look), then give --yes")
        }
        for line in lines ?? self.lines(of: proposal) { Output.note(line) }
        Output.note("Sign and go on? Type ‘yes’:")
        guard readLine() == "yes" else { throw .usage("not confirmed; nothing was changed") }
    }

    /// Who made the change that is told of.
    enum Origin {
        /// This call, so that its words are what it does.
        case here

        /// Somebody else, of whom only the bytes to be signed are believed.
        case file
    }

    /// Writes `--out`, and prints the report.
    func finish(_ report: CeremonyReport, from origin: Origin = .here) throws -> ExitCode {
        if let proposal = report.proposal, let out = arguments["out"], !arguments.has("dry-run") {
            try ProposalFile.write(proposal, to: out)
        }
        Output.warn(of: report.ending, naming: keys.names, now: context.now)
        guard !arguments.has("json") else {
            Output.result(bytes: json(report, from: origin).bytes)
            return .done
        }
        guard let proposal = report.proposal else {
            Output.result("everything is so already; nothing was changed")
            return .done
        }
        switch origin {
        case .here: Output.result(lines: lines(of: proposal))
        case .file: Output.result(lines: contents(of: proposal, beside: report.base))
        }
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
    func lines(of proposal: Proposal) -> [String] {
        proposal.notes + titles(of: proposal)
    }

    /// What a person must read of a file from elsewhere: what its bytes say, and, set apart, what is said of them.
    ///
    /// - Parameters:
    ///   - proposal: Whose documents were compared with what is signed.
    ///   - state: What is published, where that is known; then only what changes is told.
    /// - Returns: Lines; what nobody signs is marked so in each.
    func contents(of proposal: Proposal, beside state: RegistryState?) -> [String] {
        var lines: [String] = []
        for (title, role) in zip(titles(of: proposal, "holds signatures of"), proposal.roles) {
            lines.append(title)
            for statement in proposal.statements(of: role, beside: state) {
                lines.append("  \(role.role): \(statement)")
            }
        }
        for (role, owner) in proposal.owners.sorted(by: { $0.key < $1.key }) {
            lines.append("unsigned, to be shown beside \(role): \(owner)")
        }
        for note in proposal.notes { lines.append("unsigned words of whoever made the file: \(note)") }
        return lines
    }

    /// Signatures in a file are claims until they are checked against the registry's keys.
    private func titles(of proposal: Proposal, _ verb: String = "signed by") -> [String] {
        zip(proposal.roles, keys.foretold(proposal)).map { title(of: $0, verb, foretold: $1) }
    }

    private func title(of role: Proposal.Role, _ verb: String, foretold count: Int) -> String {
        let signed = role.signatures.count
        let version = role.version.map { "\($0)" } ?? "?"
        let end = role.expires.map { "\($0)" } ?? "?"
        var signatures: [String] = []
        if signed > 0 || count == signed { signatures.append("\(verb) \(Counted.words(signed, "key"))") }
        if count > signed {
            signatures.append("to be signed here by \(Counted.words(count - signed, "key"))")
        }
        return "\(role.role): version \(version), valid until \(end), \(signatures.joined(separator: ", "))"
    }

    private func json(_ report: CeremonyReport, from origin: Origin) -> JSONReport {
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
        let notes = report.proposal?.notes ?? []
        let changes = report.proposal.map { proposal in
            origin == .here
                ? notes : proposal.roles.flatMap { proposal.statements(of: $0, beside: report.base) }
        }
        return JSONReport([
            "state": .text(state), "changes": .array((changes ?? []).map { .text($0) }),
            "unsigned_words": .array((origin == .file ? notes : []).map { .text($0) }),
            "roles": .array(roles), "missing": .array(missing), "ending": .list(of: report.ending),
            "snapshot": report.commit.map { .integer($0.snapshot) } ?? .null,
        ])
    }
}

extension Ceremony.Aim {
    /// How far `--dry-run` and `--out` let a command go.
    init(_ arguments: ParsedArguments) {
        self = arguments.has("dry-run") ? .dryRun : arguments["out"] == nil ? .commit : .collect
    }
}

/// The files in which signatures are collected.
enum ProposalFile {
    /// Refuses a name that is taken: the file there may hold signatures that people gave.
    static func checkFree(_ path: String?) throws {
        guard let path, try Durable.kind(of: path) != nil else { return }
        throw UsageError.refused(
            "\(path) is there already, with signatures perhaps, and is never overwritten; choose another name"
        )
    }

    static func write(_ proposal: Proposal, to path: String) throws {
        try checkFree(path)
        try Durable.writeAtomically(path, proposal.bytes + [0x0A])
    }

    /// Reads a file whose documents are those that are signed.
    static func read(_ path: String) throws -> Proposal {
        let bytes = try Durable.readFile(path, maximum: Proposal.maximumLength)
        return try InFile.named(path) { () throws(PublishingError) in try Proposal(bytes) }
    }
}

/// Errors of what a file says, which name the file.
enum InFile {
    static func named<Value>(
        _ path: String,
        _ read: () throws(PublishingError) -> Value
    ) throws(PublishingError) -> Value {
        do { return try read() } catch {
            if case .unpublishable(let reason) = error { throw .unpublishable("\(path): \(reason)") }
            throw error
        }
    }
}
