/// An array of numbers or texts with a shape: what a model takes and gives.
///
/// Numbers are little-endian and row-major, one after another without gaps, so
/// that a tensor has one form of bytes on every machine. A tensor always holds
/// exactly as many elements as its shape says; a shape of no dimensions is a
/// single element.
public struct Tensor: Sendable {
    /// What one element of a tensor is.
    public enum Element: String, CaseIterable, Hashable, Sendable {
        /// IEEE 754 binary floating point, and bfloat16, which is the upper half of a float32.
        case float16, bfloat16, float32, float64

        /// Integers in two's complement.
        case int8, int16, int32, int64

        /// Integers without a sign.
        case uint8, uint16, uint32, uint64

        /// One byte, 0 or 1.
        case bool

        /// Text in UTF-8, of any length.
        case string

        /// The bytes of one element; `nil` for text, which has no fixed size.
        public var size: Int? {
            switch self {
            case .int8, .uint8, .bool: 1
            case .float16, .bfloat16, .int16, .uint16: 2
            case .float32, .int32, .uint32: 4
            case .float64, .int64, .uint64: 8
            case .string: nil
            }
        }
    }

    /// The type of each element.
    public let element: Element

    /// The length of each dimension, outermost first; empty for a single element.
    public let shape: [Int]

    /// The elements, little-endian and row-major; empty for text.
    public let bytes: [UInt8]

    /// The elements of a tensor of text; empty for numbers.
    public let strings: [String]

    /// Wraps bytes that have the form above.
    ///
    /// - Parameters:
    ///   - element: Any type but text.
    ///   - shape: The length of each dimension.
    ///   - bytes: As many as shape and element ask for.
    /// - Throws: `InferenceError.shape` when a dimension is negative or the
    ///   product does not fit, `.count` when `bytes` has another length.
    public init(element: Element, shape: [Int], bytes: [UInt8]) throws(InferenceError) {
        let count = try Self.count(of: shape)
        guard let size = element.size else { throw .element(expected: "numbers", found: element) }
        let (length, overflows) = count.multipliedReportingOverflow(by: size)
        guard !overflows else { throw .shape(shape) }
        guard bytes.count == length else {
            throw .count(shape: shape, expected: length, found: bytes.count, unit: "bytes")
        }
        self.element = element
        self.shape = shape
        self.bytes = element == .bool ? bytes.map { $0 == 0 ? 0 : 1 } : bytes
        strings = []
    }

    /// Wraps text.
    ///
    /// - Parameters:
    ///   - strings: The elements, row-major.
    ///   - shape: The length of each dimension.
    /// - Throws: `InferenceError.shape` or `.count`, as for numbers.
    public init(strings: [String], shape: [Int]) throws(InferenceError) {
        let count = try Self.count(of: shape)
        guard strings.count == count else {
            throw .count(shape: shape, expected: count, found: strings.count, unit: "texts")
        }
        element = .string
        self.shape = shape
        bytes = []
        self.strings = strings
    }

    /// The number of elements.
    public var count: Int { element.size.map { bytes.count / $0 } ?? strings.count }

    /// The number of elements that `shape` holds.
    ///
    /// - Throws: `InferenceError.shape` for a negative dimension, more than 32
    ///   dimensions, or a product beyond 2^53.
    static func count(of shape: [Int]) throws(InferenceError) -> Int {
        guard shape.count <= 32, shape.allSatisfy({ $0 >= 0 }) else { throw .shape(shape) }
        if shape.contains(0) { return 0 }
        var count = 1
        for dimension in shape {
            let (product, overflows) = count.multipliedReportingOverflow(by: dimension)
            guard !overflows, product <= 1 << 53 else { throw .shape(shape) }
            count = product
        }
        return count
    }
}

extension Tensor: Equatable {
    /// Equal in type, shape and every byte: a NaN equals itself, and text is not folded.
    public static func == (left: Tensor, right: Tensor) -> Bool {
        left.element == right.element && left.shape == right.shape && left.bytes == right.bytes
            && left.strings.count == right.strings.count
            && zip(left.strings, right.strings).allSatisfy { $0.utf8.elementsEqual($1.utf8) }
    }
}
