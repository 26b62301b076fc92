import SyncAgent

extension ModelDecision {
    /// What is behind the decision, a line for each thing: the variant that was chosen, and versions passed over.
    var particulars: [String] {
        variants.map { "  \($0)" } + skipped.flatMap(lines)
    }

    private func lines(of skipped: SkippedVersion) -> [String] {
        let head = "  \(skipped.version) \(skipped.version == active ? "does not fit" : "was passed over"):"
        guard skipped.reasons.count > 1 else { return ["\(head) \(skipped.reason)"] }
        return [head] + skipped.reasons.map { "    \($0)" }
    }
}
