package import Manifest
package import Names

/// A file that is one ONNX tensor (TensorProto, ONNX 1.23), as test data beside models are: `input_0.pb`.
///
/// Read by the rules for tensors inside a model: the data must be exactly what
/// type and shape ask for, in one kind of field, and lie in the file itself.
package struct ONNXTensorFile: Equatable, Sendable {
    /// Bytes that such a file may have.
    package static let longest = ByteCount.mebibytes(64)

    /// Empty where the file does not say.
    package let name: String
    package let element: ElementType
    package let dimensions: [Int64]

    /// The elements, little-endian and row-major.
    package let bytes: [UInt8]

    /// Reads a whole file.
    ///
    /// - Throws: `FormatError` for anything that is not one sound tensor of numbers.
    package init(_ source: any ByteSource) throws(FormatError) {
        var limits = FormatLimits()
        // Once to count what is there, once to read it.
        limits.bytes = Self.longest.rawValue * 3
        guard source.length <= Self.longest.rawValue else {
            throw .limit(
                .onnx,
                which: "bytes of a tensor's file",
                offset: 0,
                found: source.length,
                limit: Self.longest.rawValue
            )
        }
        var model = ONNXReader(source, name: "", limits: limits)
        let whole = model.reader.root
        let root = ProtobufMessage(range: whole.range, depth: whole.depth, field: "tensor")
        let tensor = try model.readTensor(root)
        guard let element = tensor.element, let width = element.byteWidth else {
            throw .malformed(.onnx, field: "tensor.data_type", offset: 0, .outOfRange)
        }
        var bytes: [UInt8] = []
        var numbers: [Int64] = []
        var fields = ProtobufFields(root, in: model.reader)
        while let field = try fields.next() {
            switch (field.number, field.value) {
            case (4, .payload), (9, .payload), (10, .payload):
                bytes += try model.reader.bytes(field, limit: Self.longest.rawValue, which: "bytes of data")
            case (4, .fixed32(let place)): bytes += try model.reader.read(place, 4)
            case (10, .fixed64(let place)): bytes += try model.reader.read(place, 8)
            case (5, _), (7, _), (11, _):
                let most = Int(Self.longest.rawValue)
                try field.append(to: &numbers, "data", limit: most, in: model.reader)
            case (14, .varint(let location)) where location != 0:
                throw field.error("data_location", .outOfRange)
            default: break
            }
        }
        if !numbers.isEmpty {
            bytes.reserveCapacity(numbers.count * width)
            for number in numbers {
                for byte in 0..<width { bytes.append(UInt8(truncatingIfNeeded: number >> (byte * 8))) }
            }
        }
        name = tensor.name
        self.element = element
        dimensions = tensor.dimensions
        self.bytes = bytes
    }
}
