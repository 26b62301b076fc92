package import Names
import Trust

/// What devices will make of a proposal, tried with their own rules before anything is posted.
///
/// 1. From every root that a device may be pinned to, the roots lead to the newest, and that one has not expired.
/// 2. From the last published state, each role is the next version of what devices have seen.
/// 3. Each role that changes is of the right shape; of the others that was checked when they were read.
/// 4. Each role of the result, changed or not, is signed by its delegator's keys.
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
            rootTroubles(proposal, on: state, now: now) + roleTroubles(proposal, chain, now: now)
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
        let chain = try ProposedChain(proposal, on: state)
        try refuse(
            claimedRootTroubles(proposal, chain, now: now) + roleTroubles(proposal, chain, now: now)
        )
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

    /// What ``rootTroubles(_:on:now:)`` would find, as far as it needs no signature.
    private static func claimedRootTroubles(
        _ proposal: Proposal,
        _ chain: ProposedChain,
        now: UnixTime
    ) -> [String] {
        guard let role = proposal.roles.first(where: { $0.role == .root }) else { return [] }
        var troubles = expiryTroubles(role, now: now)
        do { try SealiftShapes.check(root: chain.root) } catch { troubles.append("root: \(error)") }
        return troubles
    }

    private static func roleTroubles(
        _ proposal: Proposal,
        _ chain: ProposedChain,
        now: UnixTime
    ) -> [String] {
        var troubles: [String] = []
        for role in proposal.roles {
            guard let sealiftRole = SealiftRole(role.role) else { continue }
            let expected = (chain.state.roles[sealiftRole]?.document.version ?? 0) + 1
            if role.version != expected {
                troubles.append("\(role.role): version \(role.version ?? 0) does not follow \(expected - 1)")
            }
            troubles += expiryTroubles(role, now: now)
            guard let document = chain.document(sealiftRole) else { continue }
            do { try SealiftShapes.check(sealiftRole, document: document) } catch {
                troubles.append("\(role.role): \(error)")
            }
        }
        return troubles
    }

    private static func expiryTroubles(_ role: Proposal.Role, now: UnixTime) -> [String] {
        guard let expires = role.expires, expires <= now else { return [] }
        return ["\(role.role): its signatures would end at \(expires), it is \(now)"]
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
                    _ = try Untrusted<TargetsDocument>(bytes).verified(by: quorum)
                }
            } catch { troubles.append("\(role): \(error)") }
        }
        return troubles
    }
}
