/// Decides whether a model may be loaded now; pure.
///
/// A load is let through when what it needs and the headroom fit into what is
/// available, and into the budget beside what is loaded already. Otherwise
/// idle models make room, the least important first: an older version of the
/// same model, then low priorities before high ones, then those that nobody
/// used for longest; never one in use, pinned or of a higher priority. When
/// all that could go is not enough, models in use are waited for if theirs
/// would be; else the load does not fit now, or never will.
struct MemoryGate: Sendable {
    let policy: MemoryPolicy

    /// A model in memory, as far as the decision goes.
    struct Held: Equatable, Sendable {
        let number: Int
        let bytes: UInt64
        let isInUse: Bool
        let isPinned: Bool
        let priority: ModelPriority

        /// Whether it is another version of the wanted model.
        let isReplaced: Bool
        let lastUse: Duration
    }

    enum Decision: Equatable, Sendable {
        case load

        /// Free these and look again.
        case evict([Int])

        /// Models in use would make room.
        case wait

        /// Not now; what there is would be enough without others.
        case doesNotFit(needed: UInt64, available: UInt64, source: String)

        /// Not with this limit.
        case neverFits(needed: UInt64, limit: UInt64, source: String)
    }

    /// What stays free under `limit`.
    func headroom(under limit: UInt64?) -> UInt64 {
        guard let limit else { return policy.headroom }
        let share = policy.headroomShare
        // Not a number is no share.
        guard share > 0 else { return policy.headroom }
        return share < 1 ? max(policy.headroom, UInt64(Double(limit) * share)) : max(policy.headroom, limit)
    }

    /// - Parameters:
    ///   - need: Bytes at the peak of the load.
    ///   - priority: Of the request; nothing above it makes room.
    ///   - mayEvict: Whether anything may make room.
    ///   - state: What the system says.
    ///   - held: What is in memory.
    /// - Returns: What to do.
    func decide(
        need: UInt64,
        priority: ModelPriority,
        mayEvict: Bool,
        state: MemoryState,
        held: [Held]
    ) -> Decision {
        let headroom = headroom(under: state.limit)
        if let limit = state.limit, need > limit - min(limit, headroom) {
            return .neverFits(needed: need, limit: limit - min(limit, headroom), source: state.source)
        }
        if let budget = policy.budget, need > budget {
            return .neverFits(needed: need, limit: budget, source: "the budget")
        }
        let used = held.reduce(UInt64(0)) { $0.addingSaturated($1.bytes) }
        let room = state.available.map { $0 - min($0, headroom) } ?? .max
        let budgetRoom = policy.budget.map { $0 - min($0, used) } ?? .max
        let missing = max(need - min(need, room), need - min(need, budgetRoom))
        guard missing > 0 else { return .load }
        let source = need > room ? state.source : "the budget"
        let refusal = Decision.doesNotFit(needed: need, available: min(room, budgetRoom), source: source)
        guard mayEvict else { return refusal }
        var victims: [Int] = []
        var freed: UInt64 = 0
        for model in candidates(held, priority) where freed < missing {
            victims.append(model.number)
            freed = freed.addingSaturated(model.bytes)
        }
        if freed >= missing { return .evict(victims) }
        let busy = held.filter { $0.isInUse }.reduce(UInt64(0)) { $0.addingSaturated($1.bytes) }
        return freed.addingSaturated(busy) >= missing ? .wait : refusal
    }

    /// What may make room, first what goes first.
    private func candidates(_ held: [Held], _ priority: ModelPriority) -> [Held] {
        held.filter { !$0.isInUse && ($0.isReplaced || !$0.isPinned && $0.priority <= priority) }
            .sorted { left, right in
                if left.isReplaced != right.isReplaced { return left.isReplaced }
                return (left.priority, left.lastUse) < (right.priority, right.lastUse)
            }
    }
}

extension UInt64 {
    /// The sum, held at the greatest number.
    func addingSaturated(_ other: UInt64) -> UInt64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? .max : sum
    }
}
