import Generations
import Names

/// Models of one group move all or none.
///
/// A group moves when each of its models has another version to move to. While
/// one of them has none, the others wait: it is the newest, its next one is not
/// published yet, its rollout has not come here, it was yanked, recalled or
/// denied, is held, below a floor, quarantined, pinned away, cannot be used
/// here, or failed to come. Nobody signs which versions belong together, so
/// that a publish of one model alone looks like the first half of a pair.
///
/// A recall waits for nobody: a version that must be left is left at once. What
/// that tears apart is put together again without waiting for those that stand
/// where the group left them: a model that was left, or is not on the device
/// yet, takes its next version alone.
struct GroupRule {
    let requests: [WantedModel]

    /// Where each group stood when it last moved.
    let note: GroupNote

    /// Takes the moves of every group back that cannot move as a whole.
    ///
    /// - Parameter plans: In the order of the requests.
    func apply(to plans: inout [ModelPlan]) {
        for group in Set(requests.compactMap(\.group)) {
            let members = requests.indices.filter { requests[$0].group == group }
            let staying = members.filter { !plans[$0].isMovingWithGroup }
            guard let first = staying.first else { continue }
            let isTorn = members.contains { isInPlace($0, plans) }
            let isUnusable = staying.contains { plans[$0].isHeldUp }
            let reason = "its group \(group) moves together, and \(plans[first].standing)"
            for index in members where plans[index].isMovingWithGroup && plans[index].recall == nil {
                guard !isTorn || isInPlace(index, plans) else { continue }
                plans[index].wait(for: reason, isUnusable: isUnusable)
            }
        }
    }

    /// Whether a model stands where its group last moved to.
    private func isInPlace(_ index: Int, _ plans: [ModelPlan]) -> Bool {
        guard let active = plans[index].active?.identity, let group = requests[index].group else {
            return false
        }
        return note[active.model, group].map { $0 == active.manifest } ?? true
    }

    /// The note once these plans are carried out.
    func noted(_ plans: [ModelPlan]) -> GroupNote {
        var next = GroupNote()
        for (request, plan) in zip(requests, plans) {
            guard let group = request.group else { continue }
            let before = note[request.name, group]
            // What a recall brought it to is not where its group belongs, as long as that is anywhere else.
            let isLeft = before != nil && !plan.isMovingWithGroup && isAnywhere(group, plans)
            guard let place = isLeft ? before : plan.record?.identity.manifest else { continue }
            next.entries.append(GroupNote.Entry(model: request.name, group: group, manifest: place))
        }
        return next
    }

    /// Whether a model of the group stands where that last moved to, also after these plans.
    private func isAnywhere(_ group: String, _ plans: [ModelPlan]) -> Bool {
        zip(requests, plans).contains { request, plan in
            guard request.group == group, let place = note[request.name, group] else { return false }
            return plan.record?.identity.manifest == place
        }
    }
}

extension ModelPlan {
    /// Whether it takes a version as its group does; one that was recalled and has none above it only leaves.
    fileprivate var isMovingWithGroup: Bool {
        guard isMoving, let record, decision.outcome != .failed else { return false }
        guard recall != nil, let active else { return true }
        return record.identity.version > active.identity.version
    }

    /// Whether it stays for a reason that exit code 3 tells.
    fileprivate var isHeldUp: Bool {
        decision.outcome == .failed || passedOver.contains { $0.obstacle.isUnusable }
    }

    /// What becomes of it, and why, for the others of its group.
    fileprivate var standing: String {
        let model = decision.model
        if decision.outcome == .failed { return "\(model) does not: \(decision.reason)" }
        guard let version = record?.identity.version else {
            return "\(model) does not: \(newestObstacle() ?? decision.reason)"
        }
        return "\(model) stays at \(version): \(newestObstacle(above: version) ?? decision.reason)"
    }

    private func newestObstacle(above version: ModelVersion? = nil) -> String? {
        let passed = passedOver.first { passed in version.map { passed.version > $0 } ?? true }
        return passed.map { "\($0.version) cannot be taken (\($0.obstacle))" }
    }

    /// Stays where it was, because its group cannot move as a whole.
    fileprivate mutating func wait(for reason: String, isUnusable: Bool) {
        if let version = record?.identity.version { passOver(version, .group(reason)) }
        record = active
        installation = nil
        // What runs on below a floor is told as such, whatever holds it up.
        decision.outcome = active == nil ? .none : unmet != nil ? .unfit : isUnusable ? .kept : .unchanged
        decision.active = active?.identity.version.description
        decision.variants = []
        decision.reason = unmet.map { "\($0); \(reason)" } ?? reason
    }
}
