/// The two 16-bit floating-point forms, by their bits, so that every platform has them.
enum HalfPrecision {
    /// The value of an IEEE 754 binary16; exact.
    static func float(binary16 word: UInt16) -> Float {
        let sign: Float = word >> 15 == 0 ? 1 : -1
        let exponent = Int(word >> 10 & 0x1F)
        let fraction = UInt32(word & 0x3FF)
        switch exponent {
        case 0: return sign * Float(fraction) * 0x1p-24
        case 0x1F:
            let signBit = UInt32(word >> 15) << 31
            return Float(bitPattern: signBit | 0x7F80_0000 | fraction << 13)
        default:
            let bits = UInt32(word >> 15) << 31 | UInt32(exponent + 112) << 23 | fraction << 13
            return Float(bitPattern: bits)
        }
    }

    /// The binary16 nearest to `value`, ties to even; overflow becomes infinity.
    static func binary16(_ value: Double) -> UInt16 {
        let sign: UInt16 = value.sign == .minus ? 0x8000 : 0
        if value.isNaN { return sign | 0x7E00 }
        let magnitude = value.magnitude
        if magnitude < 0x1p-14 {
            // Subnormal, or rounded up into the smallest normal number, whose bits follow on.
            return sign | UInt16((magnitude * 0x1p24).rounded(.toNearestOrEven))
        }
        // 65,520 is half way between the greatest binary16 and the power of two beyond it.
        guard magnitude < 65_520 else { return sign | 0x7C00 }
        let exponent = Int(magnitude.exponent)
        let steps = (magnitude.significand * 1_024).rounded(.toNearestOrEven)
        return sign | UInt16(Int(steps) - 1_024 + (exponent + 15) << 10)
    }

    /// The value of a bfloat16; exact.
    static func float(bfloat16 word: UInt16) -> Float { Float(bitPattern: UInt32(word) << 16) }

    /// The bfloat16 nearest to `value`, ties to even.
    static func bfloat16(_ value: Float) -> UInt16 {
        if value.isNaN { return UInt16(value.bitPattern >> 16) | 0x40 }
        let rounding = 0x7FFF + (value.bitPattern >> 16 & 1)
        return UInt16(truncatingIfNeeded: (value.bitPattern &+ rounding) >> 16)
    }
}
