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
        var troubles: [String] = []
        let chain = try ProposedChain(proposal, on: state)
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
        for role in proposal.roles where role.role != .root {
            guard let sealiftRole = SealiftRole(role.role) else { continue }
            let expected = (state.roles[sealiftRole]?.document.version ?? 0) + 1
            if role.version != expected {
                troubles.append("\(role.role): version \(role.version ?? 0) does not follow \(expected - 1)")
            }
            if let expires = role.expires, expires <= now {
                troubles.append("\(role.role): its signatures would end at \(expires), it is \(now)")
            }
        }
        let files = Dictionary(proposal.roles.map { ($0.role, $0.file) }) { first, _ in first }
        let stored = state.roles.keys.filter { $0 != .hold }
        let proposed = proposal.roles.compactMap { SealiftRole($0.role) }
        for role in Set(stored + proposed).sorted(by: { ($0.depth, $0.name) < ($1.depth, $1.name) }) {
            guard let bytes = files[role.roleName] ?? state.roles[role]?.bytes else { continue }
            do {
                for quorum in try chain.quorums(for: role.roleName) {
                    let document = try Untrusted<TargetsDocument>(bytes).verified(by: quorum).document
                    try SealiftShapes.check(role, document: document)
                }
            } catch { troubles.append("\(role): \(error)") }
        }
        guard troubles.isEmpty else {
            throw .unpublishable(
                "this would strand devices, so nothing was changed: " + troubles.joined(separator: "; ")
            )
        }
    }
}
