import SyncAgent

extension ModelDecision {
    /// What is behind the decision, a line for each thing: the variant that was chosen, and versions passed over.
    var particulars: [String] {
        variants.map { "  \($0)" } + (checks.map { ["  \($0)"] } ?? []) + passedOver.flatMap(lines)
    }

    private func lines(of passedOver: PassedVersion) -> [String] {
        let head =
            "  \(passedOver.version) \(passedOver.version == active ? "does not fit" : "was passed over"):"
        guard passedOver.reasons.count > 1 else { return ["\(head) \(passedOver.reason)"] }
        return [head] + passedOver.reasons.map { "    \($0)" }
    }
}
