/// Numbers and text.
extension JSONParser {
    mutating func number() throws(JSONError) {
        let start = index
        let isNegative = current == UInt8(ascii: "-")
        if isNegative { index += 1 }
        let firstDigit = index
        while let byte = current, (0x30...0x39).contains(byte) { index += 1 }
        guard index > firstDigit else { throw error(current == nil ? .endsEarly : .unexpectedByte) }
        guard index == firstDigit + 1 || bytes[firstDigit] != 0x30 else {
            throw JSONError(reason: .leadingZero, offset: firstDigit)
        }
        if let byte = current, byte == 0x2E || byte == 0x65 || byte == 0x45 { throw error(.notAnInteger) }
        if isNegative && index == firstDigit + 1 && bytes[firstDigit] == 0x30 {
            throw JSONError(reason: .notAnInteger, offset: start)
        }
    }

    /// Checks text from its opening quote to behind its closing one.
    ///
    /// - Returns: Whether it is canonical as it stands, and whether anything in it is escaped.
    mutating func text() throws(JSONError) -> (isCanonical: Bool, hasEscape: Bool) {
        index += 1
        let start = index
        var isCanonical = true
        var hasEscape = false
        var seen: UInt8 = 0
        while true {
            index = endOfPlainText(&seen)
            guard let stop = current else { throw error(.endsEarly) }
            switch stop {
            case 0x22:
                if seen >= 0x80, String(validating: bytes[start..<index], as: UTF8.self) == nil {
                    throw JSONError(reason: .invalidUTF8, offset: start)
                }
                index += 1
                return (isCanonical, hasEscape)
            case 0x5C:
                hasEscape = true
                index += 1
                if try !escape() { isCanonical = false }
            default: throw error(.controlCharacter)
            }
        }
    }

    /// Where the next byte stands that is a quote, a backslash or a control character.
    ///
    /// - Parameter seen: Gathers the bits of all bytes passed: above 0x7F there was more than ASCII.
    /// - Returns: That place, or the end.
    private func endOfPlainText(_ seen: inout UInt8) -> Int {
        let span = bytes.span
        var next = index
        var bits = seen
        while next < span.count {
            let byte = span[next]
            guard byte >= 0x20, byte != 0x22, byte != 0x5C else { break }
            bits |= byte
            next += 1
        }
        seen = bits
        return next
    }

    /// - Returns: Whether canonical text has this escape too: only `\"` and `\\`.
    private mutating func escape() throws(JSONError) -> Bool {
        guard let byte = current else { throw error(.endsEarly) }
        switch byte {
        case 0x22, 0x5C:
            index += 1
            return true
        case 0x2F, UInt8(ascii: "b"), UInt8(ascii: "f"), UInt8(ascii: "n"), UInt8(ascii: "r"),
            UInt8(ascii: "t"):
            index += 1
        case UInt8(ascii: "u"):
            index += 1
            try unicodeEscape()
        default: throw error(.badEscape)
        }
        return false
    }

    private mutating func unicodeEscape() throws(JSONError) {
        let code = try fourHexDigits()
        guard (0xD800...0xDFFF).contains(code) else { return }
        guard code < 0xDC00, index + 1 < bytes.count, bytes[index] == 0x5C,
            bytes[index + 1] == UInt8(ascii: "u")
        else { throw error(.loneSurrogate) }
        index += 2
        guard (0xDC00...0xDFFF).contains(try fourHexDigits()) else { throw error(.loneSurrogate) }
    }

    private mutating func fourHexDigits() throws(JSONError) -> UInt32 {
        var code: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = current else { throw error(.endsEarly) }
            guard let digit = JSONEscape.value(of: byte) else { throw error(.badEscape) }
            code = code << 4 | digit
            index += 1
        }
        return code
    }
}

extension JSONValue {
    /// The integer that the parser accepted as `digits`.
    init(digits: ArraySlice<UInt8>) {
        let isNegative = digits.first == UInt8(ascii: "-")
        var magnitude: UInt64 = 0
        for byte in digits.dropFirst(isNegative ? 1 : 0) {
            let (product, overflowed) = magnitude.multipliedReportingOverflow(by: 10)
            let (sum, carried) = product.addingReportingOverflow(UInt64(byte &- 0x30))
            guard !overflowed, !carried else {
                self = .bigInteger(Array(digits))
                return
            }
            magnitude = sum
        }
        let greatest = UInt64(Int64.max) + (isNegative ? 1 : 0)
        guard magnitude <= greatest else {
            self = .bigInteger(Array(digits))
            return
        }
        self = .integer(Int64(truncatingIfNeeded: isNegative ? 0 &- magnitude : magnitude))
    }
}
