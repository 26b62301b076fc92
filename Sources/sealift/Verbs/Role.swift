import Arguments
import Blocking
import CanonicalJSON
import Durable
import Names
import Publishing
import Trust

/// Writes the next version of a role, unsigned, to be signed elsewhere.
struct RoleExport: Command {
    static let spec = CommandSpec(
        name: "role export",
        summary: "Write the next version of a role, unsigned, to be signed on another machine",
        positions: [.required("ROLE"), .required("FILE")],
        options: SharedOption.client + [SharedOption.json],
        example: "sealift role export targets targets.proposal",
        discussion:
            "The content stays and the life begins anew. Every verb that changes roles writes such a file with "
            + "--out. Carry it to whoever signs (‘role sign’ needs no network), then ‘role import’ it."
    )

    static func run(_ arguments: ParsedArguments, _ context: Context) async throws -> ExitCode {
        let role = RoleName(arguments.positions[0])
        let file = arguments.positions[1]
        let session = try ClientSession(arguments, context)
        var view = try session.verifiedRegistry()
        try await view.refreshToRenew()
        let state = try await view.state(of: .everything)
        var draft = try RegistryDraft(on: state, now: context.now)
        try draft.renew(role)
        let proposal = try draft.proposal()
        try Durable.writeAtomically(file, proposal.bytes + [0x0A])
        if arguments.has("json") {
            Output.result(bytes: JSONReport(["file": .text(file), "role": .text("\(role)")]).bytes)
        } else {
            for missing in try proposal.missing(on: state) {
                Output.result("to be signed: \(missing.words())")
            }
            Output.result("\(file) waits for signatures: ‘sealift role sign \(file) --key KEY’")
        }
        return .done
    }
}

/// Adds signatures to a file, without any network.
struct RoleSign: Command {
    static let spec = CommandSpec(
        name: "role sign",
        summary: "Read what a file would change, and add a signature to it; needs no network",
        positions: [.required("FILE")],
        options: [SharedOption.key, SharedOption.signer, SharedOption.yes] + SharedOption.secrets
            + [SharedOption.config, SharedOption.json],
        example: "sealift role sign rotation.proposal --key root-2.pem --yes",
        discussion:
            "The file says whose signatures it waits for; what counts is checked again at ‘role import’."
    )

    static func run(_ arguments: ParsedArguments, _ context: Context) async throws -> ExitCode {
        let file = arguments.positions[0]
        let run = try await CeremonyRun(arguments, context, asking: .administrator)
        let proposal = try RoleFile.read(file)
        if !arguments.has("json") { for line in CeremonyRun.contents(of: proposal) { Output.note(line) } }
        try run.confirm(proposal, .ask, lines: [])
        let keys = run.keys
        let signed = try await BlockingPool.shared.run { () throws(PublishingError) -> Proposal in
            var signed = proposal
            try keys.sign(&signed)
            return signed
        }
        try Durable.writeAtomically(file, signed.bytes + [0x0A])
        let wanted = signed.wantedKeyIDs.sorted()
        if arguments.has("json") {
            let report = JSONReport(["file": .text(file), "wanted": .array(wanted.map { .text($0) })])
            Output.result(bytes: report.bytes)
        } else if wanted.isEmpty {
            Output.result("signed; \(file) has every signature: ‘sealift role import \(file)’ publishes it")
        } else {
            Output.result("signed; \(file) still waits for one of: ")
            for id in wanted { Output.result("  \(id)\(keys.names[id].map { " (\($0))" } ?? "")") }
        }
        return .done
    }
}

/// Puts the signatures of several people together and publishes.
struct RoleImport: Command {
    static let spec = CommandSpec(
        name: "role import",
        summary: "Put the signatures of several people together, and publish",
        positions: [.several("FILE")],
        options: [SharedOption.breaks] + SharedOption.ceremony,
        example: "sealift role import rotation-anna.proposal rotation-ben.proposal --yes",
        discussion:
            "All files must hold the same change. Keys given here sign as well. With --out the signatures so far "
            + "are written together, and nothing is published."
    )

    static func run(_ arguments: ParsedArguments, _ context: Context) async throws -> ExitCode {
        var proposal = try RoleFile.read(arguments.positions[0])
        for file in arguments.positions.dropFirst() { try proposal.merge(try RoleFile.read(file)) }
        let run = try await CeremonyRun(arguments, context, asking: .administrator)
        var ceremony = try run.ceremony()
        let report = try await ceremony.take(proposal, run.aim) { proposal throws(PublishingError) in
            try run.confirm(proposal, .ask, lines: CeremonyRun.contents(of: proposal))
        }
        return try run.finish(report)
    }
}

private enum RoleFile {
    static func read(_ path: String) throws -> Proposal {
        try Proposal(try Durable.readFile(path, maximum: Proposal.maximumLength))
    }
}
