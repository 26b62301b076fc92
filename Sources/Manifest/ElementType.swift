/// What one element of a tensor is, by names that no runtime's numbering can shift.
package enum ElementType: String, Sendable, CaseIterable {
    case float16, float32, float64, bfloat16
    case int8, int16, int32, int64
    case uint8, uint16, uint32, uint64
    case int2, int4, uint2, uint4
    case float4e2m1, float6e2m3, float6e3m2
    case float8e4m3fn, float8e4m3fnuz, float8e5m2, float8e5m2fnuz, float8e8m0
    case complex64, complex128
    case bool, string

    /// Bytes an element; `nil` for text and for elements smaller than a byte.
    package var byteWidth: Int? {
        switch self {
        case .float16, .bfloat16, .int16, .uint16: 2
        case .float32, .int32, .uint32: 4
        case .float64, .int64, .uint64, .complex64: 8
        case .complex128: 16
        case .int8, .uint8, .bool, .float8e4m3fn, .float8e4m3fnuz, .float8e5m2, .float8e5m2fnuz, .float8e8m0:
            1
        case .int2, .int4, .uint2, .uint4, .float4e2m1, .float6e2m3, .float6e3m2, .string: nil
        }
    }
}
