/// The named inputs and outputs of a model, as its manifest declares them or as a runtime sees them.
public struct ModelPorts: Equatable, Sendable {
    /// What the model takes.
    public let inputs: [Port]

    /// What the model gives.
    public let outputs: [Port]

    /// Describes a model.
    public init(inputs: [Port], outputs: [Port]) {
        self.inputs = inputs
        self.outputs = outputs
    }
}

/// One named input or output of a model.
public struct Port: Equatable, Sendable {
    /// What goes through a port.
    public enum Kind: Equatable, Sendable {
        /// A tensor and the shapes that it may have.
        case tensor(Tensor.Element, PortShape)

        /// A list, a dictionary or an image, named for people.
        case other(String)
    }

    /// The name, compared byte for byte.
    public let name: String

    /// What goes through it.
    public let kind: Kind

    /// Whether an input may be left out, so that the model uses a value of its own, or an output missing.
    public let isOptional: Bool

    /// Describes a port.
    public init(name: String, kind: Kind, isOptional: Bool = false) {
        self.name = name
        self.kind = kind
        self.isOptional = isOptional
    }
}

/// The shapes that a tensor may have.
public enum PortShape: Equatable, Sendable {
    /// Any shape with any number of dimensions; not the same as a single element.
    case unknownRank

    /// Each dimension by itself; none means a single element.
    case dimensions([PortDimension])

    /// Whole shapes, one of which it must be.
    case oneOf([[Int]])
}

extension PortShape: ExpressibleByArrayLiteral {
    /// A shape whose dimensions are known.
    public init(arrayLiteral dimensions: PortDimension...) { self = .dimensions(dimensions) }
}

extension PortShape: CustomStringConvertible {
    /// For people: `[batch, 3]`.
    public var description: String {
        switch self {
        case .unknownRank: "[...]"
        case .dimensions(let dimensions): "[\(dimensions.map(\.description).joined(separator: ", "))]"
        case .oneOf(let shapes): shapes.map { "\($0)" }.joined(separator: " or ")
        }
    }
}

/// The lengths that one dimension of a port may have.
public enum PortDimension: Hashable, Sendable {
    /// Exactly this length.
    case fixed(Int)

    /// Any length, but the same wherever the symbol stands, such as `batch`.
    case symbol(String)

    /// Any length from the first to the second, both included; no upper end when that is `nil`.
    case range(Int, Int?)

    /// One of these lengths.
    case oneOf([Int])

    /// Any length.
    case any

    /// Whether this dimension may have `length`; symbols are bound elsewhere.
    func accepts(_ length: Int) -> Bool {
        switch self {
        case .fixed(let only): length == only
        case .range(let least, let most): length >= least && most.map { length <= $0 } ?? true
        case .oneOf(let lengths): lengths.contains(length)
        case .symbol, .any: true
        }
    }
}

extension PortDimension: CustomStringConvertible {
    /// For people: `3`, `batch`, `1...8`, `1|4`, `?`.
    public var description: String {
        switch self {
        case .fixed(let length): "\(length)"
        case .symbol(let name): name
        case .range(let least, let most): "\(least)...\(most.map(String.init) ?? "")"
        case .oneOf(let lengths): lengths.map(String.init).joined(separator: "|")
        case .any: "?"
        }
    }
}

extension Port.Kind: CustomStringConvertible {
    /// For people: `float32[batch, 3]`.
    public var description: String {
        switch self {
        case .tensor(let element, let shape): element.rawValue + shape.description
        case .other(let name): name
        }
    }
}
