/// What a model gives for one output.
public indirect enum ModelValue: Equatable, Sendable {
    /// Numbers or texts with a shape.
    case tensor(Tensor)

    /// A list, one entry for each member of the batch as a rule.
    case sequence([ModelValue])

    /// A dictionary: the value of `keys[n]` is `values[n]`; both have one dimension.
    case map(keys: Tensor, values: Tensor)

    /// The tensor, when it is one.
    public var tensor: Tensor? { if case .tensor(let tensor) = self { tensor } else { nil } }
}
