/// What stands behind a backslash in JSON text.
enum JSONEscape {
    /// Undoes the escapes of text that the parser has accepted.
    static func undone(_ inner: ArraySlice<UInt8>) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(inner.count)
        var index = inner.startIndex
        while index < inner.endIndex {
            let byte = inner[index]
            index += 1
            guard byte == 0x5C, index < inner.endIndex else {
                text.append(byte)
                continue
            }
            let kind = inner[index]
            index += 1
            switch kind {
            case UInt8(ascii: "b"): text.append(0x08)
            case UInt8(ascii: "f"): text.append(0x0C)
            case UInt8(ascii: "n"): text.append(0x0A)
            case UInt8(ascii: "r"): text.append(0x0D)
            case UInt8(ascii: "t"): text.append(0x09)
            case UInt8(ascii: "u"):
                var code = digits(inner[index..<min(index + 4, inner.endIndex)])
                index += 4
                if (0xD800...0xDBFF).contains(code) {
                    // The parser has seen the other half.
                    code = 0x10000 + (code - 0xD800) << 10
                    code += digits(inner[min(index + 2, inner.endIndex)..<min(index + 6, inner.endIndex)])
                    code -= 0xDC00
                    index += 6
                }
                append(code, to: &text)
            default: text.append(kind)
            }
        }
        return text
    }

    private static func digits(_ hex: ArraySlice<UInt8>) -> UInt32 {
        hex.reduce(0) { $0 << 4 | (value(of: $1) ?? 0) }
    }

    /// The value of a hexadecimal digit of either case.
    static func value(of digit: UInt8) -> UInt32? {
        switch digit {
        case 0x30...0x39: UInt32(digit - 0x30)
        case 0x41...0x46: UInt32(digit - 0x41 + 10)
        case 0x61...0x66: UInt32(digit - 0x61 + 10)
        default: nil
        }
    }

    /// UTF-8 (RFC 3629, 3).
    private static func append(_ code: UInt32, to text: inout [UInt8]) {
        guard let scalar = Unicode.Scalar(code), let encoded = UTF8.encode(scalar) else { return }
        text += encoded
    }
}
