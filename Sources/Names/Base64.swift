/// Standard base64 with padding (RFC 4648, 4), strict: no white space, no other alphabet, no loose bits.
package enum Base64 {
    package static func text(_ bytes: [UInt8]) -> String {
        let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        var index = 0
        while index < bytes.count {
            let left = bytes.count - index
            let first = UInt32(bytes[index]) << 16
            let second = left > 1 ? UInt32(bytes[index + 1]) << 8 : 0
            let third = left > 2 ? UInt32(bytes[index + 2]) : 0
            let group = first | second | third
            text.append(digits[Int(group >> 18 & 63)])
            text.append(digits[Int(group >> 12 & 63)])
            text.append(left > 1 ? digits[Int(group >> 6 & 63)] : 0x3D)
            text.append(left > 2 ? digits[Int(group & 63)] : 0x3D)
            index += 3
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// - Returns: `nil` for anything that `text` would not have written.
    package static func bytes(_ text: some StringProtocol) -> [UInt8]? {
        let digits = Array(text.utf8)
        guard digits.count % 4 == 0 else { return nil }
        let padding = digits.suffix(2).reversed().prefix { $0 == 0x3D }.count
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count / 4 * 3)
        var group: UInt32 = 0
        var held = 0
        for digit in digits.dropLast(padding) {
            guard let value = value(of: digit) else { return nil }
            group = group << 6 | value
            held += 6
            if held >= 8 {
                held -= 8
                bytes.append(UInt8(group >> UInt32(held) & 255))
            }
        }
        guard group & ((1 << UInt32(held)) - 1) == 0, held == padding * 2 else { return nil }
        return bytes
    }

    private static func value(of digit: UInt8) -> UInt32? {
        switch digit {
        case 0x41...0x5A: UInt32(digit - 0x41)
        case 0x61...0x7A: UInt32(digit - 0x61 + 26)
        case 0x30...0x39: UInt32(digit - 0x30 + 52)
        case 0x2B: 62
        case 0x2F: 63
        default: nil
        }
    }
}
