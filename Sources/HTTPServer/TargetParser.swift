extension HTTPTarget {
    /// Reads `/path?query` (RFC 3986, 3.3 and 3.4), decoding each part once.
    ///
    /// - Throws: `.badTarget` for a character that the grammar lacks, a bad
    ///   escape, an escaped slash, backslash or control character, text that is
    ///   not UTF-8, and an empty, `.` or `..` segment, escaped or not.
    init(parsing bytes: ArraySlice<UInt8>) throws(HTTPRefusal) {
        let mark = bytes.firstIndex(of: UInt8(ascii: "?")) ?? bytes.endIndex
        let path = bytes[..<mark]
        guard path.first == UInt8(ascii: "/") else { throw .badTarget }
        self.path = String(decoding: path, as: UTF8.self)
        segments = try Self.segments(path.dropFirst())
        query = try Self.items(bytes[mark...].dropFirst())
    }

    private static func segments(_ path: ArraySlice<UInt8>) throws(HTTPRefusal) -> [String] {
        guard !path.isEmpty else { return [] }
        let parts = path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        var segments: [String] = []
        for (index, part) in parts.enumerated() {
            guard !part.isEmpty || index == parts.count - 1 else { throw .badTarget }
            guard part.allSatisfy(isPathCharacter) else { throw .badTarget }
            let bytes = try decoded(part)
            guard !bytes.contains(UInt8(ascii: "/")), !bytes.contains(UInt8(ascii: "\\")),
                !bytes.elementsEqual(".".utf8), !bytes.elementsEqual("..".utf8)
            else { throw .badTarget }
            segments.append(try text(bytes))
        }
        return segments
    }

    private static func items(_ query: ArraySlice<UInt8>) throws(HTTPRefusal) -> [QueryItem] {
        var items: [QueryItem] = []
        for pair in query.split(separator: UInt8(ascii: "&")) {
            guard
                pair.allSatisfy({
                    isPathCharacter($0) || $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?")
                })
            else { throw .badTarget }
            let spaced = pair.map { $0 == UInt8(ascii: "+") ? 0x20 : $0 }
            let sides = spaced.split(
                separator: UInt8(ascii: "="),
                maxSplits: 1,
                omittingEmptySubsequences: false
            )
            let name = try text(try decoded(sides[0]))
            let value = sides.count == 2 ? try text(try decoded(sides[1])) : ""
            items.append(QueryItem(name: name, value: value))
        }
        return items
    }

    /// Replaces each `%` and two hexadecimal digits by the byte they mean.
    private static func decoded(_ bytes: ArraySlice<UInt8>) throws(HTTPRefusal) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var rest = bytes
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                result.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(hexadecimal),
                let low = rest.popFirst().flatMap(hexadecimal)
            else { throw .badTarget }
            result.append(high << 4 | low)
        }
        return result
    }

    private static func text(_ bytes: [UInt8]) throws(HTTPRefusal) -> String {
        guard bytes.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }),
            let text = String(validating: bytes, as: UTF8.self)
        else { throw .badTarget }
        return text
    }
}

private func hexadecimal(_ digit: UInt8) -> UInt8? {
    switch digit {
    case 0x30...0x39: digit - 0x30
    case 0x41...0x46: digit - 0x41 + 10
    case 0x61...0x66: digit - 0x61 + 10
    default: nil
    }
}

/// `pchar` of RFC 3986, 3.3, with the per cent sign of an escape.
private func isPathCharacter(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
    case 0x2D, 0x2E, 0x5F, 0x7E: true  // - . _ ~
    case 0x21, 0x24, 0x26...0x2C, 0x3B, 0x3D: true  // ! $ & ' ( ) * + , ; =
    case 0x3A, 0x40, 0x25: true  // : @ %
    default: false
    }
}
