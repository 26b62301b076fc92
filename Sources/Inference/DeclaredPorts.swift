package import Manifest

/// The ports that a manifest declares, in the values that apps and runtimes share.
extension ModelPorts {
    /// What a signed interface says.
    package init(_ interface: Interface) {
        self.init(inputs: interface.inputs.map(Port.init), outputs: interface.outputs.map(Port.init))
    }
}

extension Port {
    init(_ feature: Feature) {
        let kind: Port.Kind =
            if case .tensor(let tensor) = feature.type, let element = Tensor.Element(tensor.element) {
                .tensor(element, PortShape(tensor.shape))
            } else {
                .other(feature.type.description)
            }
        self.init(name: feature.name.description, kind: kind, isOptional: feature.isOptional)
    }
}

extension Tensor.Element {
    /// - Returns: `nil` for elements that no Swift number carries, such as 4-bit integers.
    init?(_ element: ElementType) { self.init(rawValue: element.rawValue) }
}

extension PortShape {
    init(_ shape: Shape) {
        self =
            switch shape {
            case .unknownRank: .unknownRank
            case .dimensions(let dimensions): .dimensions(dimensions.map(PortDimension.init))
            case .enumerated(let shapes): .oneOf(shapes.map { $0.map(Int.init(clamping:)) })
            }
    }
}

extension PortDimension {
    init(_ dimension: Dimension) {
        self =
            switch dimension {
            case .fixed(let length): .fixed(Int(clamping: length))
            case .symbol(let name): .symbol(name.description)
            case .any: .any
            case .range(let minimum, let maximum):
                .range(Int(clamping: minimum), maximum.map(Int.init(clamping:)))
            case .oneOf(let lengths): .oneOf(lengths.map(Int.init(clamping:)))
            }
    }
}
