import Names
import Trust

extension Proposal.Role {
    /// What the role would say once it is signed, read from the very bytes that are signed.
    package var statements: [String] {
        if role == .root, let root = try? RootDocument(signed: signed, role: role) {
            let signers = root.roles.sorted { $0.key < $1.key }.map { name, keys in
                "\(name) is signed by \(keys.threshold) of \(Self.words(keys.keyIDs))"
            }
            guard let policy = root.sealift, root.consistentSnapshot else {
                return signers + ["it lacks what devices ask of a root; do not sign it"]
            }
            return signers + Self.statements(of: policy)
        }
        guard let document = try? TargetsDocument(signed: signed, role: role) else {
            return ["it cannot be read; do not sign it"]
        }
        let delegations = (document.delegations?.roles ?? []).map { delegation in
            "\(delegation.name) is signed by \(delegation.roleKeys.threshold) of "
                + Self.words(delegation.roleKeys.keyIDs)
        }
        let targets = document.targets.sorted { $0.key < $1.key }.map { path, file in
            "\(path) is \(file.sha256.map { "\($0.hex.prefix(16))…" } ?? "without digest")"
        }
        return delegations + targets + document.deny.map { "\($0.model) is denied: \($0.reason)" }
    }

    private static func statements(of policy: SealiftRootPolicy) -> [String] {
        let keys = policy.logKeys.map { key in
            "the log's checkpoints are signed by \(key.verifierKey), from size \(key.from)"
                + (key.to.map { " to \($0)" } ?? " on")
        }
        let lives = policy.maximumLifetimes.sorted { $0.key < $1.key }.map { role, seconds in
            "\(role == .targets ? "what people sign" : "\(role)") lives at most "
                + (seconds % 86_400 == 0 ? "\(seconds / 86_400) days" : "\(seconds) seconds")
        }
        let witnesses = policy.witnessPolicy.map { ["witnesses must cosign by this policy: \($0)"] } ?? []
        return ["the log is \(policy.logOrigin)"] + keys + witnesses + lives
    }

    private static func words(_ ids: [String]) -> String {
        ids.map { "\($0.prefix(16))…" }.joined(separator: ", ")
    }
}
