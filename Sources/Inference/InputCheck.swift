/// What a caller may send beyond what the model itself demands.
public struct InputPolicy: Equatable, Sendable {
    /// What to do with NaN and the infinities.
    public enum NotFinite: Equatable, Sendable {
        /// Pass them on; some models read NaN as "missing".
        case accepted

        /// Refuse them before the call.
        case refused
    }

    /// The greatest size of all inputs of one call together, in bytes.
    public var maximumBytes: Int

    /// Whether NaN and the infinities may be sent.
    public var notFinite: NotFinite

    /// 512 MiB, and numbers as they are.
    public init(maximumBytes: Int = 512 << 20, notFinite: NotFinite = .accepted) {
        self.maximumBytes = maximumBytes
        self.notFinite = notFinite
    }
}

extension ModelPorts {
    /// Checks everything that can be known before the model is called.
    ///
    /// In this order: total size, names, required inputs, then for each input
    /// in the model's order its kind, element type, rank and dimensions; a
    /// symbol has the length that the first input gives it.
    ///
    /// - Throws: `InferenceError` for the first that is wrong.
    public func check(
        _ inputs: [String: Tensor],
        policy: InputPolicy = InputPolicy()
    ) throws(InferenceError) {
        var total = 0
        for tensor in inputs.values {
            let size = tensor.strings.reduce(tensor.bytes.count) { $0 + $1.utf8.count }
            total = total.addingReportingOverflow(size).overflow ? .max : total + size
        }
        guard total <= policy.maximumBytes else {
            throw .inputsTooLarge(bytes: total, limit: policy.maximumBytes)
        }
        let known = self.inputs.map(\.name)
        for name in inputs.keys.sorted() where !known.contains(where: { $0.utf8.elementsEqual(name.utf8) }) {
            throw .unknownInput(name, known: known)
        }
        var bindings = SymbolBindings()
        for port in self.inputs {
            guard let tensor = inputs[port.name] else {
                guard port.isOptional else {
                    throw .missingInput(port.name, expected: port.kind.description)
                }
                continue
            }
            try port.check(tensor, bindings: &bindings)
            if policy.notFinite == .refused, let index = tensor.widened?.firstIndex(where: { !$0.isFinite }) {
                throw .inputNotFinite(port.name, at: index)
            }
        }
    }
}

/// The length that each symbol has in one call, and the input that said so first.
struct SymbolBindings {
    private var lengths: [String: (length: Int, input: String)] = [:]

    mutating func bind(_ symbol: String, to length: Int, by input: String) throws(InferenceError) {
        guard let bound = lengths[symbol] else {
            lengths[symbol] = (length, input)
            return
        }
        guard bound.length == length else {
            throw .inputSymbol(
                input,
                symbol: symbol,
                expected: bound.length,
                boundBy: bound.input,
                found: length
            )
        }
    }
}

extension Port {
    func check(_ tensor: Tensor, bindings: inout SymbolBindings) throws(InferenceError) {
        guard case .tensor(let element, let shape) = kind else {
            throw .inputKind(name, expected: kind.description)
        }
        guard tensor.element == element else {
            throw .inputElement(name, expected: element, found: tensor.element)
        }
        switch shape {
        case .unknownRank: break
        case .oneOf(let shapes):
            guard shapes.contains(tensor.shape) else {
                throw .inputRank(name, expected: kind.description, found: tensor.shape)
            }
        case .dimensions(let dimensions): try check(tensor.shape, against: dimensions, bindings: &bindings)
        }
    }

    private func check(
        _ shape: [Int],
        against dimensions: [PortDimension],
        bindings: inout SymbolBindings
    ) throws(InferenceError) {
        guard shape.count == dimensions.count else {
            throw .inputRank(name, expected: kind.description, found: shape)
        }
        for (axis, (dimension, length)) in zip(dimensions, shape).enumerated() {
            guard dimension.accepts(length) else {
                throw .inputDimension(name, axis: axis, expected: dimension.description, found: length)
            }
            if case .symbol(let symbol) = dimension { try bindings.bind(symbol, to: length, by: name) }
        }
    }
}
