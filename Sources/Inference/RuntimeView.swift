/// Whether the model that a runtime loaded is the one that the manifest describes.
///
/// In order, by name: every input that the runtime demands is declared; every
/// declared input and output is there, with the same element type; every input
/// shape that the manifest allows, the runtime takes; every output shape that
/// the runtime announces, the manifest allows.
///
/// What a runtime cannot see is no contradiction. ONNX Runtime shows a tensor
/// of unknown rank like a single element, has neither ranges nor enumerated
/// lengths, and names symbols as it likes. So a length that it leaves open
/// contradicts only one that the manifest fixes for an output.
extension ModelPorts {
    /// What in `view` contradicts these declared ports; empty when nothing does.
    ///
    /// - Parameter view: The runtime's own view of the model it loaded.
    /// - Returns: A sentence for each contradiction.
    public func disagreements(withRuntime view: ModelPorts) -> [String] {
        var found: [String] = []
        for port in view.inputs where !port.isOptional && inputs.named(port.name) == nil {
            found.append("the runtime demands an input '\(port.name)' that is not declared")
        }
        for port in inputs {
            guard let real = view.inputs.named(port.name) else {
                if !port.isOptional { found.append("the runtime has no input '\(port.name)'") }
                continue
            }
            if port.isOptional, !real.isOptional {
                found.append("the runtime demands the input '\(port.name)', which is declared as optional")
            }
            if !port.kind.isAccepted(by: real.kind) {
                found.append(
                    "the input '\(port.name)' is declared as \(port.kind), the runtime has \(real.kind)"
                )
            }
        }
        for port in outputs {
            guard let real = view.outputs.named(port.name) else {
                found.append("the runtime has no output '\(port.name)'")
                continue
            }
            if !port.kind.covers(real.kind) {
                found.append(
                    "the output '\(port.name)' is declared as \(port.kind), the runtime has \(real.kind)"
                )
            }
        }
        return found
    }
}

extension [Port] {
    /// The port of that name, byte for byte.
    fileprivate func named(_ name: String) -> Port? { first { $0.name.utf8.elementsEqual(name.utf8) } }
}

extension Port.Kind {
    /// Whether a runtime that sees `real` takes whatever this declared input allows.
    fileprivate func isAccepted(by real: Port.Kind) -> Bool {
        compare(real) { declared, real in
            guard case .fixed(let length) = real else { return true }
            return declared == .fixed(length)
        }
    }

    /// Whether whatever a runtime that sees `real` gives is allowed by this declared output.
    fileprivate func covers(_ real: Port.Kind) -> Bool {
        compare(real) { declared, real in
            if case .fixed(let length) = real { return declared.accepts(length) }
            if case .fixed = declared { return false }
            return true
        }
    }

    private func compare(_ real: Port.Kind, _ fits: (PortDimension, PortDimension) -> Bool) -> Bool {
        switch (self, real) {
        case (.tensor(let element, let declared), .tensor(let realElement, let realShape)):
            guard element == realElement else { return false }
            guard case .dimensions(let real) = realShape, !real.isEmpty else { return true }
            switch declared {
            case .unknownRank: return false
            case .dimensions(let dimensions):
                return dimensions.count == real.count && zip(dimensions, real).allSatisfy(fits)
            case .oneOf(let shapes):
                return shapes.allSatisfy { shape in
                    shape.count == real.count
                        && zip(shape, real).allSatisfy { length, dimension in dimension.accepts(length) }
                }
            }
        // Neither side describes these further than by a text.
        case (.other, .other): return true
        case (.tensor, .other), (.other, .tensor): return false
        }
    }
}
