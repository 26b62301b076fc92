package import Names
import Trust

/// What devices will make of a proposal, tried with their own rules before anything is posted.
///
/// 1. From every root that a device may be pinned to, the roots lead to the newest, and that one has not expired.
/// 2. From the last published state, each role is the next version of what devices have seen.
/// 3. Each role of the result, changed or not, is signed by its delegator's keys, and of the right shape.
///
/// Timestamp and snapshot are the registry's to sign; it repeats the trial with
/// them before it shows the commit to anybody.
package enum Rehearsal {
    /// - Throws: `PublishingError.unpublishable`, naming each role that devices would refuse and why.
    package static func check(
        _ proposal: Proposal,
        on state: RegistryState,
        now: UnixTime
    ) throws(PublishingError) {
        let chain = try ProposedChain(proposal, on: state)
        try refuse(
            rootTroubles(proposal, on: state, now: now) + contentTroubles(proposal, chain, now: now)
                + signatureTroubles(proposal, chain)
        )
    }

    /// As ``check(_:on:now:)`` as far as it goes before everybody has signed.
    ///
    /// - Throws: `PublishingError.unpublishable`, naming each role that devices would refuse and why.
    package static func checkContents(
        _ proposal: Proposal,
        on state: RegistryState,
        now: UnixTime
    ) throws(PublishingError) {
        try refuse(contentTroubles(proposal, try ProposedChain(proposal, on: state), now: now))
    }

    private static func refuse(_ troubles: [String]) throws(PublishingError) {
        guard troubles.isEmpty else {
            throw .unpublishable(
                "this would strand devices, so nothing was changed: " + troubles.joined(separator: "; ")
            )
        }
    }

    private static func rootTroubles(
        _ proposal: Proposal,
        on state: RegistryState,
        now: UnixTime
    ) -> [String] {
        var troubles: [String] = []
        let proposedRoot = proposal.roles.first { $0.role == .root }?.file
        for start in state.roots.indices {
            do {
                let clock = TrustClock(policy: .sealift, local: now)
                var stage = try RootStage(anchor: state.roots[start].bytes, clock: clock)
                for root in state.roots[(start + 1)...] { try stage.advance(to: root.bytes) }
                if let proposedRoot { try stage.advance(to: proposedRoot) }
                _ = try stage.settled()
            } catch {
                troubles.append("a device pinned to root \(state.roots[start].document.version): \(error)")
            }
        }
        return troubles
    }

    private static func contentTroubles(
        _ proposal: Proposal,
        _ chain: ProposedChain,
        now: UnixTime
    ) -> [String] {
        var troubles: [String] = []
        for role in proposal.roles {
            if let expires = role.expires, expires <= now {
                troubles.append("\(role.role): its signatures would end at \(expires), it is \(now)")
            }
            do throws(TrustError) {
                guard let sealiftRole = SealiftRole(role.role) else {
                    try SealiftShapes.check(root: chain.root)
                    continue
                }
                let expected = (chain.state.roles[sealiftRole]?.document.version ?? 0) + 1
                if role.version != expected {
                    let found = role.version ?? 0
                    troubles.append("\(role.role): version \(found) does not follow \(expected - 1)")
                }
                if let document = chain.document(sealiftRole) {
                    try SealiftShapes.check(sealiftRole, document: document)
                }
            } catch { troubles.append("\(role.role): \(error)") }
        }
        return troubles
    }

    private static func signatureTroubles(
        _ proposal: Proposal,
        _ chain: ProposedChain
    ) -> [String] {
        var troubles: [String] = []
        let files = Dictionary(proposal.roles.map { ($0.role, $0.file) }) { first, _ in first }
        let stored = chain.state.roles.keys.filter { $0 != .hold }
        let proposed = proposal.roles.compactMap { SealiftRole($0.role) }
        for role in Set(stored + proposed).sorted(by: { ($0.depth, $0.name) < ($1.depth, $1.name) }) {
            guard let bytes = files[role.roleName] ?? chain.state.roles[role]?.bytes else { continue }
            do {
                for quorum in try chain.quorums(for: role.roleName) {
                    let document = try Untrusted<TargetsDocument>(bytes).verified(by: quorum).document
                    try SealiftShapes.check(role, document: document)
                }
            } catch { troubles.append("\(role): \(error)") }
        }
        return troubles
    }
}
