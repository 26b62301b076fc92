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
    package mutating func visit(_ document: Verified<TargetsDocument>) -> TargetFile? {
        if let file = document.document.targets[path] { return file }
        guard let (roles, isLast) = document.document.delegations?.roles(for: path) else { return nil }
        if isLast { stack = [] }
        stack += roles.reversed().map { Step(role: $0, delegator: document) }
        return nil
    }
}
