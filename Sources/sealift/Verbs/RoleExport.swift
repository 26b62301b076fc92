import Arguments
import CanonicalJSON
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
        try ProposalFile.checkFree(file)
        let session = try ClientSession(arguments, context)
        var view = try session.verifiedRegistry()
        try await view.refreshToRenew()
        let state = try await view.state(of: .everything)
        var draft = try RegistryDraft(on: state, now: context.now)
        try draft.renew(role)
        var proposal = try draft.proposal()
        try await view.complete(&proposal, on: state)
        try ProposalFile.write(proposal, to: file)
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
