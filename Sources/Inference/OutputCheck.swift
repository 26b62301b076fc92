/// How much a model may give.
public struct OutputPolicy: Equatable, Sendable {
    /// The greatest size of all outputs of one call together, in bytes; a text counts with 16 on top of its own.
    public var maximumBytes: Int

    /// 512 MiB.
    public init(maximumBytes: Int = 512 << 20) { self.maximumBytes = maximumBytes }
}

/// What a policy still leaves while the outputs of one call are copied out of an engine.
package struct OutputBudget: Sendable {
    /// What one text takes beside its bytes.
    package static let textSize = 16

    private let limit: Int
    private var taken = 0

    package init(_ policy: OutputPolicy) { limit = policy.maximumBytes }

    /// Counts elements, before memory is taken for them.
    ///
    /// - Parameters:
    ///   - count: How many there are, as the engine says.
    ///   - size: Bytes of each.
    ///   - port: The output, for the error.
    /// - Throws: `InferenceError.outputsTooLarge`.
    package mutating func take(_ count: Int, of size: Int, for port: String) throws(InferenceError) {
        let (bytes, overflows) = count.multipliedReportingOverflow(by: size)
        let (total, isBeyond) = taken.addingReportingOverflow(bytes)
        guard count >= 0, !overflows, !isBeyond, total <= limit else {
            throw .outputsTooLarge(port, bytes: overflows || isBeyond ? .max : total, limit: limit)
        }
        taken = total
    }
}

extension ModelPorts {
    /// Checks what an engine gave: total size, names, that nothing is missing, then kind, element type, rank
    /// and lengths of each output.
    ///
    /// A symbol of an output may have any length: an engine derives its own, and names symbols as it likes.
    ///
    /// - Parameters:
    ///   - outputs: By the name of the port.
    ///   - policy: How much they may be.
    /// - Throws: `InferenceError.outputsTooLarge`, `.unknownOutput` or `.output` for the first that is wrong.
    public func check(
        outputs: [String: ModelValue],
        policy: OutputPolicy = OutputPolicy()
    ) throws(InferenceError) {
        var budget = OutputBudget(policy)
        for (name, value) in outputs { try value.count(in: &budget, for: name) }
        for name in outputs.keys.sorted()
        where !self.outputs.contains(where: { $0.name.utf8.elementsEqual(name.utf8) }) {
            throw .unknownOutput(name, known: self.outputs.map(\.name))
        }
        for port in self.outputs {
            guard let value = outputs[port.name] else {
                guard port.isOptional else {
                    throw .output(port.name, expected: port.kind.description, found: "nothing")
                }
                continue
            }
            guard port.kind.takes(value) else {
                throw .output(port.name, expected: port.kind.description, found: value.kind)
            }
        }
    }
}

extension Port.Kind {
    /// Whether an output of this kind may be `value`.
    ///
    /// What is no tensor, or one of elements that no Swift number carries, is not described further.
    func takes(_ value: ModelValue) -> Bool {
        guard case .tensor(let element, let shape) = self else { return true }
        guard case .tensor(let tensor) = value, tensor.element == element else { return false }
        switch shape {
        case .unknownRank: return true
        case .oneOf(let shapes): return shapes.contains(tensor.shape)
        case .dimensions(let dimensions):
            return dimensions.count == tensor.shape.count
                && zip(dimensions, tensor.shape).allSatisfy { $0.accepts($1) }
        }
    }
}

extension ModelValue {
    /// For errors: `float32[1, 3]`.
    var kind: String {
        switch self {
        case .tensor(let tensor): "\(tensor.element.rawValue)\(tensor.shape)"
        case .sequence(let values): "a sequence of \(values.count)"
        case .map(let keys, _): "a map of \(keys.count)"
        }
    }

    fileprivate func count(in budget: inout OutputBudget, for port: String) throws(InferenceError) {
        switch self {
        case .tensor(let tensor): try tensor.count(in: &budget, for: port)
        case .sequence(let values): for value in values { try value.count(in: &budget, for: port) }
        case .map(let keys, let values):
            try keys.count(in: &budget, for: port)
            try values.count(in: &budget, for: port)
        }
    }
}

extension Tensor {
    fileprivate func count(in budget: inout OutputBudget, for port: String) throws(InferenceError) {
        try budget.take(bytes.count, of: 1, for: port)
        try budget.take(strings.count, of: OutputBudget.textSize, for: port)
        for text in strings { try budget.take(text.utf8.count, of: 1, for: port) }
    }
}
