import Inference

/// ONNX Runtime's numbers for element types and kinds of values.
enum ORTElement {
    private static let elements: [(number: Int32, element: Tensor.Element)] = [
        (1, .float32), (2, .uint8), (3, .int8), (4, .uint16), (5, .int16), (6, .int32), (7, .int64),
        (8, .string), (9, .bool), (10, .float16), (11, .float64), (12, .uint32), (13, .uint64),
        (16, .bfloat16),
    ]

    /// The element of a number; `nil` for complex numbers, 8-bit floats and what is newer than this.
    static func element(_ number: Int32) -> Tensor.Element? {
        elements.first { $0.number == number }?.element
    }

    static func number(_ element: Tensor.Element) -> Int32 {
        elements.first { $0.element == element }?.number ?? 0
    }
}

/// `ONNXType`.
enum ORTKind: Int32 {
    case unknown = 0
    case tensor, sequence, map, opaque, sparseTensor, optional

    var text: String {
        switch self {
        case .unknown: "a value of unknown kind"
        case .tensor: "a tensor"
        case .sequence: "a sequence"
        case .map: "a map"
        case .opaque: "an opaque value"
        case .sparseTensor: "a sparse tensor"
        case .optional: "an optional value"
        }
    }
}
