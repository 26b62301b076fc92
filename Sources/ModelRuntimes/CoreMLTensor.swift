#if canImport(CoreML)
import CoreML
import Inference

/// Moves tensors into and out of Core ML, whose arrays may have gaps between rows.
enum CoreMLTensor {
    static func element(_ type: MLMultiArrayDataType) -> Tensor.Element {
        switch type {
        case .double: .float64
        case .float32: .float32
        case .float16: .float16
        case .int32: .int32
        @unknown default: .float32
        }
    }

    /// - Throws: `CoreMLError.unsupported` for elements that Core ML's arrays do not have.
    static func array(_ tensor: Tensor, port: String) throws -> MLMultiArray {
        let type: MLMultiArrayDataType
        switch tensor.element {
        case .float64: type = .double
        case .float32: type = .float32
        case .float16: type = .float16
        case .int32: type = .int32
        default:
            throw CoreMLError.unsupported(port: port, what: "a tensor of \(tensor.element.rawValue)")
        }
        let array = try MLMultiArray(shape: tensor.shape.map { NSNumber(value: $0) }, dataType: type)
        let size = tensor.element.size ?? 1
        array.withUnsafeMutableBytes { bytes, strides in
            for (index, offset) in offsets(tensor.shape, strides).enumerated() {
                for byte in 0..<size { bytes[offset * size + byte] = tensor.bytes[index * size + byte] }
            }
        }
        return array
    }

    /// - Throws: `CoreMLError.unsupported` for images, dictionaries and sequences.
    static func tensor(_ value: MLFeatureValue, port: String) throws -> Tensor {
        switch value.type {
        case .int64: return try Tensor([value.int64Value], shape: [])
        case .double: return try Tensor([value.doubleValue], shape: [])
        case .string: return try Tensor(strings: [value.stringValue], shape: [])
        case .multiArray:
            guard let array = value.multiArrayValue else { break }
            let element = element(array.dataType)
            let size = element.size ?? 1
            let shape = array.shape.map(\.intValue)
            var bytes: [UInt8] = []
            bytes.reserveCapacity(array.count * size)
            array.withUnsafeBytes { source in
                for offset in offsets(shape, array.strides.map(\.intValue)) {
                    bytes.append(contentsOf: source[offset * size..<(offset + 1) * size])
                }
            }
            return try Tensor(element: element, shape: shape, bytes: bytes)
        default: break
        }
        throw CoreMLError.unsupported(port: port, what: "kind \(value.type.rawValue) of Core ML")
    }

    /// Where each element lies, in the order of a tensor without gaps.
    private static func offsets(_ shape: [Int], _ strides: [Int]) -> [Int] {
        var offsets = [0]
        for (length, stride) in zip(shape, strides) {
            offsets = offsets.flatMap { base in (0..<length).map { base + $0 * stride } }
        }
        return offsets
    }
}
#endif
