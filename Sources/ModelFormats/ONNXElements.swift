import Manifest

/// The numbers of `TensorProto.DataType` (ONNX 1.23), by name.
///
/// Runtimes number the newest ones differently, so no number is ever passed on.
enum ONNXElements {
    static func element(_ number: UInt64) -> ElementType? {
        guard (1...UInt64(ordered.count)).contains(number) else { return nil }
        return ordered[Int(number) - 1]
    }

    private static let ordered: [ElementType] = [
        .float32, .uint8, .int8, .uint16, .int16, .int32, .int64, .string, .bool, .float16, .float64,
        .uint32, .uint64, .complex64, .complex128, .bfloat16, .float8e4m3fn, .float8e4m3fnuz, .float8e5m2,
        .float8e5m2fnuz, .uint4, .int4, .float4e2m1, .float8e8m0, .uint2, .int2, .float6e2m3, .float6e3m2,
    ]
}
