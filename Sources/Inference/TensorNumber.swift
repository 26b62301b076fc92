/// A Swift number that is an element of a tensor, bit for bit.
public protocol TensorNumber: Sendable {
    /// An unsigned integer of the same width.
    associatedtype Bits: FixedWidthInteger & UnsignedInteger

    /// The tensor element that this type is.
    static var element: Tensor.Element { get }

    /// The bits of this number.
    var tensorBits: Bits { get }

    /// The number with these bits.
    init(tensorBits: Bits)
}

extension Tensor {
    /// A tensor of numbers.
    ///
    /// - Parameters:
    ///   - values: The elements, row-major.
    ///   - shape: The length of each dimension.
    /// - Throws: `InferenceError.shape` or `.count` when the two disagree.
    public init<Number: TensorNumber>(_ values: [Number], shape: [Int]) throws(InferenceError) {
        let width = Number.Bits.bitWidth / 8
        let count = try Self.count(of: shape)
        guard values.count == count else {
            throw .count(shape: shape, expected: count, found: values.count, unit: "numbers")
        }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(values.count * width)
        for value in values {
            let bits = value.tensorBits
            for byte in 0..<width { bytes.append(UInt8(truncatingIfNeeded: bits >> (byte * 8))) }
        }
        try self.init(element: Number.element, shape: shape, bytes: bytes)
    }

    /// The elements as Swift numbers, row-major.
    ///
    /// - Throws: `InferenceError.element` unless the tensor holds exactly that type.
    public func values<Number: TensorNumber>(as _: Number.Type) throws(InferenceError) -> [Number] {
        guard element == Number.element else {
            throw .element(expected: Number.element.rawValue, found: element)
        }
        let width = Number.Bits.bitWidth / 8
        return (0..<count).map { index in
            var bits: Number.Bits = 0
            for byte in 0..<width { bits |= Number.Bits(bytes[index * width + byte]) << (byte * 8) }
            return Number(tensorBits: bits)
        }
    }

    /// The elements of any floating-point tensor, widened without loss; `nil` for other elements.
    public var widened: [Double]? {
        switch element {
        case .float64: try? values(as: Double.self)
        case .float32: (try? values(as: Float.self))?.map(Double.init)
        case .float16: halfWords.map { Double(HalfPrecision.float(binary16: $0)) }
        case .bfloat16: halfWords.map { Double(HalfPrecision.float(bfloat16: $0)) }
        default: nil
        }
    }

    /// The elements of a tensor of 16-bit floating point, as words.
    var halfWords: [UInt16] {
        (0..<count).map { UInt16(bytes[$0 * 2]) | UInt16(bytes[$0 * 2 + 1]) << 8 }
    }
}

extension TensorNumber where Self: FixedWidthInteger {
    /// Two's complement.
    public var tensorBits: Bits { Bits(truncatingIfNeeded: self) }

    /// From two's complement.
    public init(tensorBits: Bits) { self.init(truncatingIfNeeded: tensorBits) }
}

extension Float: TensorNumber {
    /// `float32`.
    public static var element: Tensor.Element { .float32 }

    /// IEEE 754 bits.
    public var tensorBits: UInt32 { bitPattern }

    /// From IEEE 754 bits.
    public init(tensorBits: UInt32) { self.init(bitPattern: tensorBits) }
}

extension Double: TensorNumber {
    /// `float64`.
    public static var element: Tensor.Element { .float64 }

    /// IEEE 754 bits.
    public var tensorBits: UInt64 { bitPattern }

    /// From IEEE 754 bits.
    public init(tensorBits: UInt64) { self.init(bitPattern: tensorBits) }
}

extension Bool: TensorNumber {
    /// `bool`.
    public static var element: Tensor.Element { .bool }

    /// 0 or 1.
    public var tensorBits: UInt8 { self ? 1 : 0 }

    /// False for 0 alone.
    public init(tensorBits: UInt8) { self = tensorBits != 0 }
}

extension Int8: TensorNumber {
    /// The unsigned type of the same width.
    public typealias Bits = UInt8

    /// `int8`.
    public static var element: Tensor.Element { .int8 }
}

extension UInt8: TensorNumber {
    /// The unsigned type of the same width.
    public typealias Bits = UInt8

    /// `uint8`.
    public static var element: Tensor.Element { .uint8 }
}

extension Int16: TensorNumber {
    /// The unsigned type of the same width.
    public typealias Bits = UInt16

    /// `int16`.
    public static var element: Tensor.Element { .int16 }
}

extension UInt16: TensorNumber {
    /// The unsigned type of the same width.
    public typealias Bits = UInt16

    /// `uint16`.
    public static var element: Tensor.Element { .uint16 }
}

extension Int32: TensorNumber {
    /// The unsigned type of the same width.
    public typealias Bits = UInt32

    /// `int32`.
    public static var element: Tensor.Element { .int32 }
}

extension UInt32: TensorNumber {
    /// The unsigned type of the same width.
    public typealias Bits = UInt32

    /// `uint32`.
    public static var element: Tensor.Element { .uint32 }
}

extension Int64: TensorNumber {
    /// The unsigned type of the same width.
    public typealias Bits = UInt64

    /// `int64`.
    public static var element: Tensor.Element { .int64 }
}

extension UInt64: TensorNumber {
    /// The unsigned type of the same width.
    public typealias Bits = UInt64

    /// `uint64`.
    public static var element: Tensor.Element { .uint64 }
}
