/// Models of one group move all or none.
///
/// A group moves when each of its models has what it is to have. It waits while
/// one of them failed, or has a newer version that it cannot take now. A model
/// whose version was recalled leaves it whatever its group does.
enum GroupRule {
    /// Takes the moves of every group back that cannot move as a whole.
    ///
    /// - Parameters:
    ///   - plans: In the order of `requests`.
    ///   - requests: What was asked for.
    static func apply(to plans: inout [ModelPlan], _ requests: [WantedModel]) {
        for group in Set(requests.compactMap(\.group)) {
            let members = requests.indices.filter { requests[$0].group == group }
            let waiting = members.first { plans[$0].groupObstacle != nil && plans[$0].recall == nil }
            guard let waiting, let obstacle = plans[waiting].groupObstacle else { continue }
            let isUnusable =
                plans[waiting].passedOver.contains { $0.obstacle.isUnusable }
                || plans[waiting].decision.outcome == .failed
            for index in members where plans[index].isMoving && plans[index].recall == nil {
                guard plans[index].decision.outcome != .failed else { continue }
                plans[index].stay(
                    for:
                        "its group \(group) moves together, and \(requests[waiting].model) does not: \(obstacle)",
                    isUnusable: isUnusable
                )
            }
        }
    }
}
