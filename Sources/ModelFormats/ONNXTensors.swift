import Manifest
import Names

/// What is kept of a TensorProto or SparseTensorProto.
struct ONNXTensor {
    var name = ""
    var element: ElementType?
    var dimensions: [Int64] = []
}

/// Tensors inside the model: their data must be as long as their type and shape say.
///
/// A runtime that believes the shape reads beyond data that is shorter, and
/// two runtimes that differ on which of several kinds of data counts run two
/// models. Data is counted and not read, except numbers of variable length,
/// which are counted by their last bytes.
extension ONNXReader {
    /// TensorProto: 4 to 7, 10 and 11 are data by its kind, 9 is data as bytes, 13 says where it lies if outside.
    mutating func readTensor(_ message: ProtobufMessage) throws(FormatError) -> ONNXTensor {
        var tensor = ONNXTensor()
        var entries: [ONNXExternalData.Entry] = []
        var data = ONNXTensorData()
        var externalField: ProtobufField?
        var fields = ProtobufFields(message, singular: [2, 3, 8, 9, 12, 14], in: reader)
        while let field = try fields.next() {
            switch field.number {
            case 1: try field.append(to: &tensor.dimensions, "dims", limit: ShapeLimits.rank, in: reader)
            case 2:
                let number = try field.integer("data_type")
                guard let element = ONNXElements.element(UInt64(bitPattern: number)) else {
                    throw field.error("data_type", .unknownElementType(UInt64(bitPattern: number)))
                }
                tensor.element = element
            case 4, 5, 6, 7, 9, 10, 11: try data.add(field, in: reader)
            case 8: tensor.name = try field.text("name", limit: 1_024, in: reader)
            case 13: entries.append(try ONNXExternalData.Entry(field, in: reader))
            case 14:
                let location = try field.integer("data_location")
                guard (0...1).contains(location) else { throw field.error("data_location", .outOfRange) }
                externalField = location == 1 ? field : nil
            default: break
            }
        }
        let start = message.range.lowerBound
        guard (externalField != nil) == !entries.isEmpty else {
            throw .malformed(.onnx, field: "\(message.field).external_data", offset: start, .contradiction)
        }
        guard let element = tensor.element else {
            throw .malformed(.onnx, field: "\(message.field).data_type", offset: start, .missing)
        }
        let count = try elements(of: tensor, message)
        guard let externalField else {
            try data.check(count, of: element, in: message)
            return tensor
        }
        guard let needed = element.bytes(count), data.kinds.isEmpty else {
            throw externalField.error("data_location", .contradiction)
        }
        try external.add(entries, needed: needed, at: message)
        return tensor
    }

    private func elements(of tensor: ONNXTensor, _ message: ProtobufMessage) throws(FormatError) -> UInt64 {
        var count: UInt64 = 1
        for size in tensor.dimensions {
            let (product, overflow) = count.multipliedReportingOverflow(by: UInt64(bitPattern: size))
            guard (0...ShapeLimits.dimension).contains(size), !overflow,
                product <= UInt64(ShapeLimits.elements)
            else {
                let field = "\(message.field).dims"
                throw .malformed(.onnx, field: field, offset: message.range.lowerBound, .outOfRange)
            }
            count = product
        }
        return count
    }

    /// SparseTensorProto: two tensors, and the shape of the whole; the values' name is its own.
    mutating func readSparseTensor(_ message: ProtobufMessage) throws(FormatError) -> ONNXTensor {
        var tensor = ONNXTensor()
        var dimensions: [Int64] = []
        var fields = ProtobufFields(message, singular: [1, 2], in: reader)
        while let field = try fields.next() {
            switch field.number {
            case 1: tensor = try readTensor(try field.message("values", in: reader))
            case 2: _ = try readTensor(try field.message("indices", in: reader))
            case 3: try field.append(to: &dimensions, "dims", limit: ShapeLimits.rank, in: reader)
            default: break
            }
        }
        tensor.dimensions = dimensions
        return tensor
    }
}

/// How much data of which kinds a tensor has.
struct ONNXTensorData {
    /// By the number of the field: values, or bytes for 9.
    private(set) var kinds: [UInt32: UInt64] = [:]
    private var offset: UInt64 = 0

    /// Data that is present and empty says nothing.
    mutating func add(_ field: ProtobufField, in reader: ProtobufReader) throws(FormatError) {
        let count = try Self.count(field, in: reader)
        guard count > 0 else { return }
        offset = field.offset
        kinds[field.number, default: 0] += count
    }

    private static func count(_ field: ProtobufField, in reader: ProtobufReader) throws(FormatError) -> UInt64
    {
        let name = names[field.number] ?? "data"
        switch (field.number, field.value) {
        case (6, .payload): return 1
        case (9, .payload(let range)): return range.upperBound - range.lowerBound
        case (4, .fixed32), (10, .fixed64), (5, .varint), (7, .varint), (11, .varint): return 1
        case (4, .payload(let range)), (10, .payload(let range)):
            let width: UInt64 = field.number == 4 ? 4 : 8
            let length = range.upperBound - range.lowerBound
            guard length % width == 0 else {
                throw field.error(name, .wrongLength(expected: length / width * width, found: length))
            }
            return length / width
        case (5, .payload(let range)), (7, .payload(let range)), (11, .payload(let range)):
            guard let count = try reader.varints(in: range) else { throw field.error(name, .endsEarly) }
            return count
        default: throw field.error(name, .wrongWireType)
        }
    }

    /// Exactly the data that so many elements are made of, in one kind of field.
    func check(_ count: UInt64, of element: ElementType, in message: ProtobufMessage) throws(FormatError) {
        let typed = element.dataField
        let (number, found): (UInt32, UInt64) = kinds.first.map { ($0.key, $0.value) } ?? (typed, 0)
        guard kinds.count <= 1, number == typed || number == 9 && element != .string else {
            throw .malformed(.onnx, field: "\(message.field).data", offset: offset, .contradiction)
        }
        let expected = number == 9 ? element.bytes(count) ?? count : element.values(count)
        guard found == expected else {
            let field = "\(message.field).\(Self.names[number] ?? "data")"
            let place = kinds.isEmpty ? message.range.lowerBound : offset
            let what: FormatError.Malformation =
                number == 9
                ? .wrongLength(expected: expected, found: found)
                : .wrongCount(expected: expected, found: found)
            throw .malformed(.onnx, field: field, offset: place, what)
        }
    }

    private static let names: [UInt32: String] = [
        4: "float_data", 5: "int32_data", 6: "string_data", 7: "int64_data", 9: "raw_data", 10: "double_data",
        11: "uint64_data",
    ]
}

extension ElementType {
    /// Bits of an element in raw data, where those smaller than a byte stand side by side; `nil` for text.
    private var bits: UInt64? {
        switch self {
        case .int2, .uint2: 2
        case .int4, .uint4, .float4e2m1: 4
        case .float6e2m3, .float6e3m2: 6
        default: byteWidth.map { UInt64($0) * 8 }
        }
    }

    /// Bytes of `count` elements, of which there are at most 2^53; `nil` for text.
    func bytes(_ count: UInt64) -> UInt64? { bits.map { (count * $0 + 7) / 8 } }

    /// The field of a TensorProto that holds values of this type.
    fileprivate var dataField: UInt32 {
        switch self {
        case .float32, .complex64: 4
        case .float64, .complex128: 10
        case .int64: 7
        case .uint32, .uint64: 11
        case .string: 6
        default: 5
        }
    }

    /// How many values of that field `count` elements are: complex ones two, small integers by the byte.
    fileprivate func values(_ count: UInt64) -> UInt64 {
        switch self {
        case .complex64, .complex128: count * 2
        case .int2, .uint2, .int4, .uint4, .float4e2m1: bytes(count) ?? count
        default: count
        }
    }
}
