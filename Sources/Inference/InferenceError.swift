/// Why values do not fit a tensor or a model: what goes in, before the model is called, or what came out.
public enum InferenceError: Error, Equatable, Sendable {
    /// A dimension is negative, there are more than 32, or the product is beyond 2^53.
    case shape([Int])

    /// The shape asks for another number of bytes, numbers or texts.
    case count(shape: [Int], expected: Int, found: Int, unit: String)

    /// A tensor holds another type of element than was asked for.
    case element(expected: String, found: Tensor.Element)

    /// The model has no input of that name.
    case unknownInput(String, known: [String])

    /// A required input was not given.
    case missingInput(String, expected: String)

    /// An input has another element type than the model takes.
    case inputElement(String, expected: Tensor.Element, found: Tensor.Element)

    /// An input has another shape, or number of dimensions, than the model takes.
    case inputRank(String, expected: String, found: [Int])

    /// A dimension, counted from 0, has a length that the model does not take.
    case inputDimension(String, axis: Int, expected: String, found: Int)

    /// Two dimensions that must have the same length do not.
    case inputSymbol(String, symbol: String, expected: Int, boundBy: String, found: Int)

    /// The model takes something that is not a tensor.
    case inputKind(String, expected: String)

    /// An input holds NaN or an infinity at this element, and the policy refuses them.
    case inputNotFinite(String, at: Int)

    /// An input of text has an element that the engine would not take as it is.
    case inputText(String, at: Int, reason: String)

    /// All inputs together have more bytes than the policy allows.
    case inputsTooLarge(bytes: Int, limit: Int)

    /// A model gave something else for an output than it declares, or nothing.
    case output(String, expected: String, found: String)

    /// A model gave an output that it does not declare.
    case unknownOutput(String, known: [String])

    /// With this output, those of one call have more bytes than the policy allows.
    case outputsTooLarge(String, bytes: Int, limit: Int)

    /// There is no memory to copy an output of so many bytes.
    case noMemory(String, bytes: Int)

    /// A golden vector cannot be read for this model, or its file is not there.
    case golden(name: String, reason: String)

    /// The text of tensors is not in the form it must have.
    case text(reason: String, offset: Int)
}

extension InferenceError: RuntimeFailure {
    /// Whether the same model and values would fail again: not where memory ran out.
    public var isModelAtFault: Bool { !isForWantOfMemory }

    /// Whether an output could not be copied.
    public var isForWantOfMemory: Bool {
        if case .noMemory = self { true } else { false }
    }
}

extension InferenceError: CustomStringConvertible {
    /// For people.
    public var description: String {
        switch self {
        case .shape(let shape):
            "the shape \(shape) is not possible: dimensions are 0 or more, at most 32 of them"
        case .count(let shape, let expected, let found, let unit):
            "the shape \(shape) needs \(expected) \(unit), found \(found)"
        case .element(let expected, let found): "the tensor holds \(found.rawValue), not \(expected)"
        case .unknownInput(let name, let known):
            "the model has no input '\(name)'; it takes \(known.joined(separator: ", "))"
        case .missingInput(let name, let expected):
            "the input '\(name)' is missing; the model takes \(expected)"
        case .inputElement(let name, let expected, let found):
            "the input '\(name)' holds \(found.rawValue); the model takes \(expected.rawValue)"
        case .inputRank(let name, let expected, let found):
            "the input '\(name)' has the shape \(found); the model takes \(expected)"
        case .inputDimension(let name, let axis, let expected, let found):
            "dimension \(axis) of the input '\(name)' is \(found); the model takes \(expected)"
        case .inputSymbol(let name, let symbol, let expected, let boundBy, let found):
            "'\(symbol)' is \(found) in the input '\(name)' but \(expected) in '\(boundBy)'; both must be equal"
        case .inputKind(let name, let expected):
            "the input '\(name)' takes \(expected), which cannot be given here"
        case .inputNotFinite(let name, let index):
            "element \(index) of the input '\(name)' is not a finite number"
        case .inputText(let name, let index, let reason):
            "element \(index) of the input '\(name)' \(reason)"
        case .inputsTooLarge(let bytes, let limit):
            "the inputs have \(bytes) bytes, the limit is \(limit)"
        case .output(let name, let expected, let found):
            "the model declares the output '\(name)' as \(expected), and gave \(found)"
        case .unknownOutput(let name, let known):
            "the model gave an output '\(name)'; it declares \(known.joined(separator: ", "))"
        case .outputsTooLarge(let name, let bytes, let limit):
            "the outputs have \(bytes == .max ? "more" : "\(bytes)") bytes with '\(name)', the limit is \(limit); "
                + "ask the model for less"
        case .noMemory(let name, let bytes):
            "there is no memory for the \(bytes) bytes of the output '\(name)'; end other uses or ask for less"
        case .golden(let name, let reason): "the golden vector cannot be used: '\(name)' \(reason)"
        case .text(let reason, let offset): "not the JSON of tensors: \(reason) (byte \(offset))"
        }
    }
}
