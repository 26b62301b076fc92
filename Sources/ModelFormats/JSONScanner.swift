import CanonicalJSON
import Manifest

/// Goes through JSON text piece by piece, so that a reader keeps only what it wants.
///
/// As strict as `JSONParser`, for what is asked of it; errors name the field
/// and the place in the file. What a field is called is put together when
/// there is an error: a file may have as many fields as it has bytes.
struct JSONScanner {
    let format: ModelFormat

    /// Of the first byte in the file.
    let base: UInt64
    let bytes: [UInt8]
    private(set) var index = 0

    init(_ bytes: [UInt8], at base: UInt64, format: ModelFormat) {
        self.bytes = bytes
        self.base = base
        self.format = format
    }

    var offset: UInt64 { base + UInt64(index) }

    func error(_ field: String, _ what: FormatError.Malformation, at offset: UInt64? = nil) -> FormatError {
        .malformed(format, field: field, offset: offset ?? self.offset, what)
    }

    private var current: UInt8? { index < bytes.count ? bytes[index] : nil }

    mutating func passSpace() {
        while let byte = current, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { index += 1 }
    }

    /// Whether the next byte is `byte`; if so, it is taken.
    mutating func take(_ byte: UInt8) -> Bool {
        passSpace()
        guard current == byte else { return false }
        index += 1
        return true
    }

    mutating func expect(_ byte: UInt8, _ field: @autoclosure () -> String) throws(FormatError) {
        guard take(byte) else { throw error(field(), current == nil ? .endsEarly : .unexpectedByte) }
    }

    /// Whether another element follows, after `,`; takes the closing byte if not.
    mutating func another(
        before closing: UInt8,
        _ field: @autoclosure () -> String
    ) throws(FormatError) -> Bool {
        if take(closing) { return false }
        try expect(UInt8(ascii: ","), field())
        return true
    }

    mutating func text(_ field: @autoclosure () -> String, limit: UInt64) throws(FormatError) -> String {
        passSpace()
        let start = index
        try expect(UInt8(ascii: "\""), field())
        var isPlain = true
        while let byte = current, byte != UInt8(ascii: "\"") {
            guard byte >= 0x20 else { throw error(field(), .unexpectedByte) }
            if byte == UInt8(ascii: "\\") {
                isPlain = false
                index += 1
            }
            index += 1
        }
        guard current != nil else { throw error(field(), .endsEarly) }
        index += 1
        let place = base + UInt64(start)
        guard UInt64(index - start) <= limit + 2 else {
            let found = UInt64(index - start - 2)
            throw .limit(format, which: "bytes of \(field())", offset: place, found: found, limit: limit)
        }
        if isPlain {
            guard let text = String(validating: bytes[(start + 1)..<(index - 1)], as: UTF8.self) else {
                throw error(field(), .badText, at: place)
            }
            return text
        }
        let literal = Array(bytes[start..<index])
        guard let value = try? JSONParser.parse(literal, maximumLength: literal.count),
            let text = value.string
        else { throw error(field(), .badText, at: place) }
        return text
    }

    /// A plain integer from 0 to 2^53.
    mutating func count(_ field: @autoclosure () -> String) throws(FormatError) -> UInt64 {
        passSpace()
        let start = index
        var value: UInt64 = 0
        while let byte = current, (0x30...0x39).contains(byte) {
            guard index - start < 16 else { throw error(field(), .outOfRange, at: base + UInt64(start)) }
            value = value * 10 + UInt64(byte - 0x30)
            index += 1
        }
        guard index > start else { throw error(field(), current == nil ? .endsEarly : .unexpectedByte) }
        guard index == start + 1 || bytes[start] != 0x30 else { throw error(field(), .unexpectedByte) }
        guard value <= 1 << 53 else { throw error(field(), .outOfRange, at: base + UInt64(start)) }
        return value
    }

    /// Steps over one value of any kind, none of whose objects may have a key twice; numbers may have fractions.
    mutating func passValue(_ field: @autoclosure () -> String, depth: Int = 0) throws(FormatError) {
        guard depth < 16 else {
            throw .limit(format, which: "nesting of \(field())", offset: offset, found: 17, limit: 16)
        }
        if take(UInt8(ascii: "{")) {
            if take(UInt8(ascii: "}")) { return }
            var keys: Set<[UInt8]> = []
            repeat {
                passSpace()
                let place = offset
                guard keys.insert(Array(try text(field(), limit: 65_536).utf8)).inserted else {
                    throw error(field(), .duplicate, at: place)
                }
                try expect(UInt8(ascii: ":"), field())
                try passValue(field(), depth: depth + 1)
            } while try another(before: UInt8(ascii: "}"), field())
        } else if take(UInt8(ascii: "[")) {
            if take(UInt8(ascii: "]")) { return }
            repeat {
                try passValue(field(), depth: depth + 1)
            } while try another(before: UInt8(ascii: "]"), field())
        } else if current == UInt8(ascii: "\"") {
            _ = try text(field(), limit: 1 << 20)
        } else {
            let start = index
            while let byte = current, Self.isInWord(byte) { index += 1 }
            guard index > start else { throw error(field(), current == nil ? .endsEarly : .unexpectedByte) }
            let word = bytes[start..<index]
            let names = ["true", "false", "null"]
            guard names.contains(where: { word.elementsEqual($0.utf8) }) || Self.isNumber(word) else {
                throw error(field(), .unexpectedByte, at: base + UInt64(start))
            }
        }
    }

    private static func isInWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."), 0x30...0x39, 0x41...0x5A, 0x61...0x7A:
            true
        default: false
        }
    }

    /// As RFC 8259, 6 has it: `-`, an integer without a zero before it, a fraction, an exponent.
    private static func isNumber(_ word: ArraySlice<UInt8>) -> Bool {
        var rest = word
        func takeDigits() -> Int {
            let digits = rest.prefix { (0x30...0x39).contains($0) }.count
            rest = rest.dropFirst(digits)
            return digits
        }
        if rest.first == UInt8(ascii: "-") { rest = rest.dropFirst() }
        let startsWithZero = rest.first == 0x30
        let integer = takeDigits()
        guard integer > 0, !startsWithZero || integer == 1 else { return false }
        if rest.first == UInt8(ascii: ".") {
            rest = rest.dropFirst()
            guard takeDigits() > 0 else { return false }
        }
        guard let mark = rest.first else { return true }
        guard mark == UInt8(ascii: "e") || mark == UInt8(ascii: "E") else { return false }
        rest = rest.dropFirst()
        if rest.first == UInt8(ascii: "+") || rest.first == UInt8(ascii: "-") { rest = rest.dropFirst() }
        return takeDigits() > 0 && rest.isEmpty
    }

    mutating func finish(_ field: @autoclosure () -> String) throws(FormatError) {
        passSpace()
        guard current == nil else { throw error(field(), .unexpectedByte) }
    }
}
