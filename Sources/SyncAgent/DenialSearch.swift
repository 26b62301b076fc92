import Durable
import Names
import Transfer
import Trust

/// Looks for denials where the chain as a whole may not be used, because a role of it has expired for example.
///
/// Asks for the files that come after the known ones, and believes each that
/// enough keys signed of those that its current delegator names. Whatever goes
/// wrong, less is found.
struct DenialSearch: Sendable {
    let anchor: [UInt8]
    let store: any MetadataStore
    let fetcher: any Fetching
    let mirrors: Mirrors
    let clock: TrustClock

    /// More versions than anybody signs while a chain is out of order.
    private static let furthest: Int64 = 16

    /// Adds what is found to `ledger`.
    ///
    /// - Parameters:
    ///   - ledger: What is known.
    ///   - namespaces: Whose teams are asked.
    func run(into ledger: inout DenialLedger, namespaces: Set<Namespace>) async {
        guard let root = StoredRoles.newestRoot(anchor: anchor, store: store, clock: clock) else { return }
        let targets = SealiftRole.targets
        guard let quorum = try? root.quorum(for: targets.roleName) else { return }
        let administrators = await newest(targets, quorum, &ledger)
        for namespace in namespaces.sorted(by: { $0.description < $1.description }) {
            let team = SealiftRole.namespace(namespace)
            guard let quorum = try? administrators?.quorum(for: team.roleName, named: targets.roleName) else {
                continue
            }
            _ = await newest(team, quorum, &ledger)
        }
    }

    /// Follows a role's files from the stored one on.
    ///
    /// - Returns: The stored document: what is only signed delegates nothing.
    private func newest(
        _ role: SealiftRole,
        _ quorum: Quorum,
        _ ledger: inout DenialLedger
    ) async -> TargetsDocument? {
        let stored = (try? store.load(role.roleName.fileName)).flatMap { document($0, role, quorum) }
        if let stored {
            ledger.accept(stored.deny, of: role.roleName, version: stored.version, by: .signatures)
        }
        let first = (stored?.version ?? 0) + 1
        for version in first..<first + Self.furthest {
            guard let found = await fetched(role, version, quorum) else { break }
            ledger.accept(found.deny, of: role.roleName, version: version, by: .signatures)
        }
        return stored
    }

    private func document(_ bytes: [UInt8], _ role: SealiftRole, _ quorum: Quorum) -> TargetsDocument? {
        try? StoredRoles.document(bytes, role, quorum)
    }

    /// The file of that version, from whichever location has the right one.
    private func fetched(_ role: SealiftRole, _ version: Int64, _ quorum: Quorum) async -> TargetsDocument? {
        for location in mirrors.inOrder {
            let request = FetchRequest(
                url: location.metadata("\(version).\(role.roleName).json"),
                maximumLength: Limits.targets
            )
            if case .bytes(let bytes, _)? = try? await fetcher.fetch(request),
                let found = document(bytes, role, quorum), found.version == version
            {
                return found
            }
        }
        return nil
    }
}
