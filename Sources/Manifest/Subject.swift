/// Which value of the interface a finding is about, and in which direction it flows.
struct Subject {
    let prefix: String
    let feature: FeatureName
    let isInput: Bool

    /// For people; put together only when there is something to say.
    var name: String { "\(prefix)\(isInput ? "input" : "output") `\(feature)`" }

    /// `sub` is what is sent, `super` what must take all of it.
    func refusal(
        _ row: ContractRow,
        _ sub: some CustomStringConvertible,
        _ sup: some CustomStringConvertible,
        _ why: String,
        remedy: String? = nil
    ) -> Finding {
        isInput
            ? Finding(
                row,
                name,
                app: "sends \(sub)",
                model: "takes \(sup)",
                why: why,
                remedy: remedy ?? "send what the model takes, or stay with a version that takes this"
            )
            : Finding(
                row,
                name,
                app: "reads \(sup)",
                model: "gives \(sub)",
                why: why,
                remedy: remedy ?? "make the app read it, or stay with a version that gives what it reads"
            )
    }
}
