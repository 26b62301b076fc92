import Names

/// The search for one target through the delegations, pre-order and depth first (TUF 1.0.34, 5.6.7).
///
/// The walk says which role it needs next; the caller brings the document,
/// verified under that very delegator. Any failure to bring it ends the search:
/// to go on without it would let whoever withholds a role choose its successor.
package struct DelegationWalk {
    /// A role to visit, and who named it; `nil` is the root.
    package struct Step {
        package let role: RoleName
        package let delegator: Verified<TargetsDocument>?
    }

    private let path: TargetPath
    private var stack = [Step(role: .targets, delegator: nil)]
    private var visited: Set<RoleName> = []

    package init(to path: TargetPath) { self.path = path }

    /// The next role to visit; `nil` when the search is over and found nothing.
    ///
    /// - Throws: `TrustError.tooManyDelegations` beyond the limit.
    package mutating func next() throws(TrustError) -> Step? {
        while let step = stack.popLast() {
            guard !visited.contains(step.role) else { continue }
            guard visited.count <= Limits.delegationsVisited else {
                throw .tooManyDelegations(path: path, limit: Limits.delegationsVisited)
            }
            visited.insert(step.role)
            return step
        }
        return nil
    }

    /// Looks into the document of the latest step.
    ///
    /// - Returns: The target, when this role lists it; else the walk goes on below it.
    /// - Throws: `TrustError.unsupported` for hashed bins on the way.
    package mutating func visit(_ document: Verified<TargetsDocument>) throws(TrustError) -> TargetFile? {
        if let file = document.document.targets[path] { return file }
        guard let delegations = document.document.delegations else { return nil }
        guard !delegations.isSuccinct else {
            throw .unsupported(role: document.role, feature: "succinct hashed bins")
        }
        var children: [Step] = []
        for delegation in delegations.roles {
            guard !delegation.usesHashPrefixes else {
                throw .unsupported(role: document.role, feature: "path hash prefixes")
            }
            guard delegation.paths.contains(where: { path.matches($0) }) else { continue }
            children.append(Step(role: delegation.role, delegator: document))
            if delegation.terminating {
                stack = []
                break
            }
        }
        stack += children.reversed()
        return nil
    }
}
