/// What stands behind a backslash in JSON text.
enum JSONEscape {
    /// The bytes of text that the parser has accepted, its escapes undone, one by one and with no copy.
    struct Undone: Sequence, IteratorProtocol {
        private var rest: ArraySlice<UInt8>
        private var pending: UTF8.EncodedScalar.Iterator?

        /// - Parameter inner: What stands between the quotes.
        init(_ inner: ArraySlice<UInt8>) { rest = inner }

        mutating func next() -> UInt8? {
            if let byte = pending?.next() { return byte }
            pending = nil
            guard let byte = rest.popFirst() else { return nil }
            guard byte == 0x5C, let kind = rest.popFirst() else { return byte }
            switch kind {
            case UInt8(ascii: "b"): return 0x08
            case UInt8(ascii: "f"): return 0x0C
            case UInt8(ascii: "n"): return 0x0A
            case UInt8(ascii: "r"): return 0x0D
            case UInt8(ascii: "t"): return 0x09
            case UInt8(ascii: "u"): return scalar()
            default: return kind
            }
        }

        /// Reads the digits, and those of the other half of a pair, and gives the first byte (RFC 3629, 3).
        private mutating func scalar() -> UInt8? {
            var code = digits()
            if (0xD800...0xDBFF).contains(code) {
                // The parser has seen the other half.
                rest = rest.dropFirst(2)
                code = 0x10000 + (code - 0xD800) << 10 + digits() - 0xDC00
            }
            pending = Unicode.Scalar(code).flatMap { UTF8.encode($0) }?.makeIterator()
            return pending?.next()
        }

        private mutating func digits() -> UInt32 {
            let code = rest.prefix(4).reduce(0) { $0 << 4 | (JSONEscape.value(of: $1) ?? 0) }
            rest = rest.dropFirst(4)
            return code
        }
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
}
