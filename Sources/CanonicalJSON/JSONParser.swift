/// Reads JSON (RFC 8259) from bytes of unknown origin, and takes nothing that two readers could read differently.
///
/// Refused: duplicate keys (also through escapes), fractions and exponents,
/// invalid UTF-8, lone surrogates, raw control characters, a byte-order mark,
/// depth or length beyond the limit, anything after the value. There is no
/// recursion past the depth limit, and no memory is taken by a count that the
/// bytes announce.
package struct JSONParser {
    private let bytes: [UInt8]
    private let maximumDepth: Int
    private var index = 0

    /// Parses one whole document.
    ///
    /// - Parameters:
    ///   - bytes: The document, nothing before or after but white space.
    ///   - maximumLength: In bytes; checked first.
    ///   - maximumDepth: Of nested arrays and objects.
    /// - Returns: The value, its objects sorted by key.
    /// - Throws: `JSONError`, with the offset of the byte that is wrong.
    package static func parse(
        _ bytes: [UInt8],
        maximumLength: Int,
        maximumDepth: Int = 32
    ) throws(JSONError) -> JSONValue {
        guard bytes.count <= maximumLength else {
            throw JSONError(reason: .tooLong(found: bytes.count, limit: maximumLength), offset: 0)
        }
        var parser = JSONParser(bytes: bytes, maximumDepth: maximumDepth)
        parser.skipSpace()
        let value = try parser.value(depth: 0)
        parser.skipSpace()
        guard parser.index == bytes.count else { throw parser.error(.trailingBytes) }
        return value
    }

    private init(bytes: [UInt8], maximumDepth: Int) {
        self.bytes = bytes
        self.maximumDepth = maximumDepth
    }

    private func error(_ reason: JSONError.Reason) -> JSONError { JSONError(reason: reason, offset: index) }

    private var current: UInt8? { index < bytes.count ? bytes[index] : nil }

    private mutating func skipSpace() {
        while let byte = current, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { index += 1 }
    }

    private mutating func value(depth: Int) throws(JSONError) -> JSONValue {
        guard let first = current else { throw error(.endsEarly) }
        switch first {
        case UInt8(ascii: "{"): return try object(depth: depth + 1)
        case UInt8(ascii: "["): return try array(depth: depth + 1)
        case UInt8(ascii: "\""): return .string(try text())
        case UInt8(ascii: "t"):
            try literal("true")
            return .bool(true)
        case UInt8(ascii: "f"):
            try literal("false")
            return .bool(false)
        case UInt8(ascii: "n"):
            try literal("null")
            return .null
        case UInt8(ascii: "-"), 0x30...0x39: return try number()
        default: throw error(.unexpectedByte)
        }
    }

    private mutating func literal(_ word: StaticString) throws(JSONError) {
        for expected in word.description.utf8 {
            guard let byte = current else { throw error(.endsEarly) }
            guard byte == expected else { throw error(.unexpectedByte) }
            index += 1
        }
    }

    private mutating func object(depth: Int) throws(JSONError) -> JSONValue {
        guard depth <= maximumDepth else { throw error(.tooDeep(limit: maximumDepth)) }
        let start = index
        index += 1
        skipSpace()
        var members: [JSONObject.Member] = []
        if current == UInt8(ascii: "}") {
            index += 1
            return .object(JSONObject())
        }
        while true {
            guard current == UInt8(ascii: "\"") else {
                throw error(current == nil ? .endsEarly : .unexpectedByte)
            }
            let key = try text()
            skipSpace()
            guard current == UInt8(ascii: ":") else {
                throw error(current == nil ? .endsEarly : .unexpectedByte)
            }
            index += 1
            skipSpace()
            members.append(JSONObject.Member(key: key, value: try value(depth: depth)))
            skipSpace()
            switch current {
            case UInt8(ascii: ","):
                index += 1
                skipSpace()
            case UInt8(ascii: "}"):
                index += 1
                guard let object = JSONObject(unsorted: members) else {
                    throw JSONError(reason: .duplicateKey, offset: start)
                }
                return .object(object)
            case nil: throw error(.endsEarly)
            default: throw error(.unexpectedByte)
            }
        }
    }

    private mutating func array(depth: Int) throws(JSONError) -> JSONValue {
        guard depth <= maximumDepth else { throw error(.tooDeep(limit: maximumDepth)) }
        index += 1
        skipSpace()
        var elements: [JSONValue] = []
        if current == UInt8(ascii: "]") {
            index += 1
            return .array(elements)
        }
        while true {
            elements.append(try value(depth: depth))
            skipSpace()
            switch current {
            case UInt8(ascii: ","):
                index += 1
                skipSpace()
            case UInt8(ascii: "]"):
                index += 1
                return .array(elements)
            case nil: throw error(.endsEarly)
            default: throw error(.unexpectedByte)
            }
        }
    }

    private mutating func number() throws(JSONError) -> JSONValue {
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
        var magnitude: UInt64 = 0
        for byte in bytes[firstDigit..<index] {
            let (product, overflowed) = magnitude.multipliedReportingOverflow(by: 10)
            let (sum, carried) = product.addingReportingOverflow(UInt64(byte - 0x30))
            guard !overflowed, !carried else { return .bigInteger(Array(bytes[start..<index])) }
            magnitude = sum
        }
        if isNegative {
            guard magnitude <= UInt64(Int64.max) + 1 else { return .bigInteger(Array(bytes[start..<index])) }
            return .integer(Int64(truncatingIfNeeded: 0 &- magnitude))
        }
        guard let value = Int64(exactly: magnitude) else { return .bigInteger(Array(bytes[start..<index])) }
        return .integer(value)
    }
}

// MARK: text

extension JSONParser {
    private mutating func text() throws(JSONError) -> JSONText {
        index += 1
        let start = index
        while let byte = current, byte != 0x22, byte != 0x5C, byte >= 0x20 { index += 1 }
        guard let stop = current else { throw error(.endsEarly) }
        if stop == 0x22 {
            let plain = Array(bytes[start..<index])
            index += 1
            return try validated(plain, at: start)
        }
        var unescaped = Array(bytes[start..<index])
        while let byte = current {
            switch byte {
            case 0x22:
                index += 1
                return try validated(unescaped, at: start)
            case 0x5C:
                index += 1
                try escape(into: &unescaped)
            case 0..<0x20: throw error(.controlCharacter)
            default:
                unescaped.append(byte)
                index += 1
            }
        }
        throw error(.endsEarly)
    }

    private func validated(_ utf8: [UInt8], at offset: Int) throws(JSONError) -> JSONText {
        let isValid = utf8.allSatisfy { $0 < 0x80 } || String(validating: utf8, as: UTF8.self) != nil
        guard isValid else { throw JSONError(reason: .invalidUTF8, offset: offset) }
        return JSONText(validated: utf8)
    }

    private mutating func escape(into text: inout [UInt8]) throws(JSONError) {
        guard let byte = current else { throw error(.endsEarly) }
        index += 1
        switch byte {
        case 0x22, 0x5C, 0x2F: text.append(byte)
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0C)
        case UInt8(ascii: "n"): text.append(0x0A)
        case UInt8(ascii: "r"): text.append(0x0D)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "u"): try unicodeEscape(into: &text)
        default:
            index -= 1
            throw error(.badEscape)
        }
    }

    private mutating func unicodeEscape(into text: inout [UInt8]) throws(JSONError) {
        var code = try fourHexDigits()
        if (0xD800...0xDBFF).contains(code) {
            guard index + 1 < bytes.count, bytes[index] == 0x5C, bytes[index + 1] == UInt8(ascii: "u") else {
                throw error(.loneSurrogate)
            }
            index += 2
            let low = try fourHexDigits()
            guard (0xDC00...0xDFFF).contains(low) else { throw error(.loneSurrogate) }
            code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)
        }
        guard let scalar = Unicode.Scalar(code) else { throw error(.loneSurrogate) }
        text.append(contentsOf: Array(String(Character(scalar)).utf8))
    }

    private mutating func fourHexDigits() throws(JSONError) -> UInt32 {
        var code: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = current else { throw error(.endsEarly) }
            let digit: UInt32
            switch byte {
            case 0x30...0x39: digit = UInt32(byte - 0x30)
            case 0x41...0x46: digit = UInt32(byte - 0x41 + 10)
            case 0x61...0x66: digit = UInt32(byte - 0x61 + 10)
            default: throw error(.badEscape)
            }
            code = code << 4 | digit
            index += 1
        }
        return code
    }
}
