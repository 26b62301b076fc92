/// The two 16-bit floating-point forms, by their bits, so that every platform has them.
///
/// Whatever is narrowed is rounded once, to the nearest, ties to even; overflow becomes infinity.
struct HalfPrecision: Sendable {
    /// IEEE 754 binary16.
    static let binary16 = HalfPrecision(fractionBits: 10, bias: 15)

    /// The upper half of a float32.
    static let bfloat16 = HalfPrecision(fractionBits: 7, bias: 127)

    private let fractionBits: Int
    private let bias: Int

    /// The bits of infinity, without a sign.
    var infinity: UInt16 { (0x7FFF >> fractionBits) << fractionBits }

    private var sizeOfFraction: Double { Double(1 << fractionBits) }

    /// The value of a binary16; exact.
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

    /// The value of a bfloat16; exact.
    static func float(bfloat16 word: UInt16) -> Float { Float(bitPattern: UInt32(word) << 16) }

    /// The word nearest to `value`.
    func word(_ value: Double) -> UInt16 {
        let sign: UInt16 = value.sign == .minus ? 0x8000 : 0
        if value.isNaN { return sign | infinity | 1 << (fractionBits - 1) }
        guard value.isFinite else { return sign | infinity }
        let (steps, exponent) = steps(value.magnitude)
        // Rounded up into the next power of two, the bits follow on; so they do from subnormal to normal numbers.
        let rounded = Int(steps.rounded(.toNearestOrEven)) + exponent << fractionBits
        return sign | UInt16(min(rounded, Int(infinity)))
    }

    /// The word nearest to a number as JSON writes it.
    ///
    /// A `Double` on the way is on the same side of every tie, or is the tie
    /// itself; only then the digits of the text decide.
    ///
    /// - Returns: `nil` for what is no number or beyond every `Double`.
    func word(text: String) -> UInt16? {
        guard let near = Double(text), near.isFinite else { return nil }
        let steps = steps(near.magnitude).steps
        guard near != 0, steps - steps.rounded(.down) == 0.5,
            let digits = DecimalDigits(text), let isAbove = digits.isGreater(than: near.magnitude)
        else { return word(near) }
        let magnitude = isAbove ? near.magnitude.nextUp : near.magnitude.nextDown
        return word(near.sign == .minus ? -magnitude : magnitude)
    }

    /// How many units of the last place `magnitude` has, and the exponent that they stand for beside the bits of
    /// the leading one.
    private func steps(_ magnitude: Double) -> (steps: Double, exponent: Int) {
        guard magnitude > 0 else { return (0, 0) }
        let exponent = min(Int(magnitude.exponent), bias + 1) + bias
        guard exponent > 0 else {
            // Subnormal: the unit is that of the smallest normal number. In two factors, either of which is finite.
            return (magnitude * sizeOfFraction * Double(sign: .plus, exponent: bias - 1, significand: 1), 0)
        }
        return (magnitude.significand * sizeOfFraction, exponent - 1)
    }
}

/// The digits of a decimal number, to be compared exactly.
private struct DecimalDigits {
    private var whole: Natural
    private let exponent: Int

    /// Reads the form of RFC 8259, 6, whatever its sign.
    init?(_ text: String) {
        var digits: [UInt8] = []
        var fraction = 0
        var isFraction = false
        var rest = text.utf8[...]
        while let byte = rest.first, byte != UInt8(ascii: "e"), byte != UInt8(ascii: "E") {
            rest = rest.dropFirst()
            if byte == UInt8(ascii: ".") { isFraction = true }
            guard (0x30...0x39).contains(byte) else { continue }
            digits.append(byte - 0x30)
            if isFraction { fraction += 1 }
        }
        var power = 0
        if !rest.isEmpty {
            guard let number = Int(String(decoding: rest.dropFirst(), as: UTF8.self)) else { return nil }
            power = number
        }
        // Beyond that no `Double` but 0 and infinity is near.
        guard digits.count <= 1_100, abs(power) <= 3_000 else { return nil }
        whole = Natural(digits)
        exponent = power - fraction
    }

    /// Whether the number is greater than `value`; `nil` when they are equal.
    func isGreater(than value: Double) -> Bool? {
        var (left, right) = (whole, Natural(value.significandBitPattern | 1 << 52))
        let power = Int(value.exponent) - 52
        left.multiply(by: 10, times: max(exponent, 0))
        right.multiply(by: 10, times: max(-exponent, 0))
        left.multiply(by: 2, times: max(-power, 0))
        right.multiply(by: 2, times: max(power, 0))
        return left == right ? nil : left > right
    }
}

/// A whole number of any length.
private struct Natural: Comparable {
    /// Digits to the base of 2^32, the lowest first; the last is not 0.
    private var limbs: [UInt32] = []

    init(_ number: UInt64) {
        limbs = [UInt32(truncatingIfNeeded: number), UInt32(truncatingIfNeeded: number >> 32)]
        while limbs.last == 0 { limbs.removeLast() }
    }

    init(_ digits: [UInt8]) { for digit in digits { multiply(by: 10, adding: UInt32(digit)) } }

    mutating func multiply(by factor: UInt32, times count: Int) {
        // As many at a time as a limb holds.
        let (power, step): (UInt32, Int) = factor == 10 ? (1_000_000_000, 9) : (1 << 31, 31)
        for _ in 0..<count / step { multiply(by: power, adding: 0) }
        for _ in 0..<count % step { multiply(by: factor, adding: 0) }
    }

    private mutating func multiply(by factor: UInt32, adding summand: UInt32) {
        var carry = UInt64(summand)
        for index in limbs.indices {
            carry += UInt64(limbs[index]) * UInt64(factor)
            limbs[index] = UInt32(truncatingIfNeeded: carry)
            carry >>= 32
        }
        if carry > 0 { limbs.append(UInt32(carry)) }
    }

    static func < (left: Natural, right: Natural) -> Bool {
        guard left.limbs.count == right.limbs.count else { return left.limbs.count < right.limbs.count }
        return left.limbs.reversed().lexicographicallyPrecedes(right.limbs.reversed())
    }
}
