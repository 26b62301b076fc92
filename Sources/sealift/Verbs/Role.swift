import Arguments
import Blocking
import CanonicalJSON
import Durable
import Names
import Publishing
import Signing
import Trust

/// Adds signatures to a file, without any network.
struct RoleSign: Command {
    static let spec = CommandSpec(
        name: "role sign",
        summary: "Read what a file would change, and add a signature to it; needs no network",
        positions: [.required("FILE")],
        options: [
            SharedOption.key, SharedOption.signer, SharedOption.yes,
            .flag("compare", "ask the registry what is published, and show only what changes"),
            .flag("unseen", "sign manifests, too, that the file names by digest alone"),
        ] + SharedOption.client + SharedOption.secrets + [SharedOption.json],
        example: "sealift role sign rotation.proposal --key root-2.pem --yes",
        discussion:
            "What is shown is read from the very bytes that are signed: keys, versions, channels, floors, recalls, "
            + "denials, settings. A file that shows anything else than its signatures would cover is refused. "
            + "Words of whoever made it are marked so; nobody signs them. The file says whose signatures it waits "
            + "for; what counts is checked again at ‘role import’."
    )

    static func run(_ arguments: ParsedArguments, _ context: Context) async throws -> ExitCode {
        let file = arguments.positions[0]
        let proposal = try ProposalFile.read(file)
        let run = try await CeremonyRun(arguments, context, asking: .administrator)
        var state: RegistryState?
        if arguments.has("compare") {
            var view = try run.session.verifiedRegistry(writing: false)
            state = try await view.state(under: proposal)
        }
        let unseen = try InFile.named(file) { () throws(PublishingError) in
            try proposal.checkedDocuments(beside: state)
        }
        guard unseen.isEmpty || arguments.has("unseen") else { throw Self.unreadable(unseen, in: file) }
        if !arguments.has("json") { Output.note(lines: run.contents(of: proposal, beside: state)) }
        try run.confirm(proposal, .ask, lines: [])
        let keys = run.keys
        let signed = try await BlockingPool.shared.run { () throws(PublishingError) -> Proposal in
            var signed = proposal
            try keys.sign(&signed)
            return signed
        }
        let wanted = signed.wantedKeyIDs.sorted()
        guard signed != proposal || wanted.isEmpty else {
            let who = wanted.map { KeyID.short($0, naming: keys.names) }.joined(separator: ", ")
            throw PublishingError.unsigned(
                ["\(file) waits for one of \(who), and none of these keys is here"],
                option: keys.option
            )
        }
        try Durable.writeAtomically(file, signed.bytes + [0x0A])
        if arguments.has("json") {
            let report = JSONReport(["file": .text(file), "wanted": .array(wanted.map { .text($0) })])
            Output.result(bytes: report.bytes)
        } else if wanted.isEmpty {
            Output.result("signed; \(file) has every signature: ‘sealift role import \(file)’ publishes it")
        } else {
            Output.result("signed; \(file) still waits for one of: ")
            for id in wanted { Output.result("  \(KeyID.short(id, naming: keys.names))") }
        }
        return .done
    }

    private static func unreadable(_ unseen: [UnseenDocument], in file: String) -> PublishingError {
        let names = unseen.prefix(8).map { "\($0.path) (\($0.digest.prefix(16))…)" }.joined(separator: ", ")
        return .unpublishable(
            "\(file) names \(Counted.words(unseen.count, "document")) by digest alone: \(names)"
                + (unseen.count > 8 ? " and others" : "")
                + "; give --compare to have the registry asked whether they are published already, or, without a "
                + "network, --unseen to sign them by their digests"
        )
    }
}

/// Puts the signatures of several people together and publishes.
struct RoleImport: Command {
    static let spec = CommandSpec(
        name: "role import",
        summary: "Put the signatures of several people together, and publish",
        positions: [.several("FILE")],
        options: [SharedOption.breaks] + SharedOption.ceremony,
        example: "sealift role import rotation-1.proposal rotation-2.proposal --yes",
        discussion:
            "All files must hold the same change. What it changes is read from the bytes that are signed and shown "
            + "beside what is published. Keys given here sign as well. With --out the signatures so far are "
            + "written together, into a new file, and nothing is published."
    )

    static func run(_ arguments: ParsedArguments, _ context: Context) async throws -> ExitCode {
        var proposal = try ProposalFile.read(arguments.positions[0])
        for file in arguments.positions.dropFirst() { try proposal.merge(try ProposalFile.read(file)) }
        let run = try await CeremonyRun(arguments, context, asking: .administrator)
        var ceremony = try run.ceremony()
        let report = try await ceremony.take(proposal, run.aim) { proposal, state throws(PublishingError) in
            try run.confirm(proposal, .ask, lines: run.contents(of: proposal, beside: state))
        }
        return try run.finish(report, from: .file)
    }
}
