import Names

/// The members of a tape archive, one behind the other (POSIX.1-2017, pax), as they lie in the file.
struct TarArchive {
    struct Member {
        /// For people.
        let name: String
        let place: Range<UInt64>
    }

    private(set) var members: [Member] = []

    /// Whether every header up to the end could be read.
    private(set) var isWhole = true

    private static let mostMembers = 4_096
    private static let block: UInt64 = 512

    /// Reads the headers.
    ///
    /// - Returns: `nil` for what does not begin with a header whose sum is right.
    /// - Throws: `ByteSourceError` when the file cannot be read.
    init?(_ source: any ByteSource) throws(ByteSourceError) {
        var place: UInt64 = 0
        while place < source.length, source.length - place >= Self.block {
            let header = try source.bytes(at: place, count: Int(Self.block))
            if place > 0, header.allSatisfy({ $0 == 0 }) { return }
            guard Self.isHeader(header) else {
                guard place > 0 else { return nil }
                isWhole = false
                return
            }
            guard let length = Self.number(header[124..<136]), length >= 0, members.count < Self.mostMembers
            else {
                isWhole = false
                return
            }
            let start = place + Self.block
            let end = start + min(UInt64(length), source.length - start)
            let name = String(decoding: header[..<100].prefix { $0 != 0 }, as: UTF8.self)
            members.append(Member(name: name, place: start..<end))
            let padded = (end - start + Self.block - 1) / Self.block * Self.block
            place = start + padded
        }
        if members.isEmpty { return nil }
    }

    /// The sum of all bytes, signed or not, with spaces for the sum itself.
    private static func isHeader(_ header: [UInt8]) -> Bool {
        guard let sum = number(header[148..<156]) else { return false }
        let bytes: [UInt8] = header.indices.map { (148..<156).contains($0) ? 0x20 : header[$0] }
        let unsigned = bytes.reduce(Int64(0)) { $0 + Int64($1) }
        let signed = bytes.reduce(Int64(0)) { $0 + Int64(Int8(bitPattern: $1)) }
        return sum == unsigned || sum == signed
    }

    /// Octal digits, or with the first bit set a number of base 256.
    ///
    /// As Python's `tarfile` reads them, which takes most: with a sign, `0o`,
    /// `_` between digits and any white space before them. What it opens must
    /// not pass here for something else.
    private static func number(_ field: ArraySlice<UInt8>) -> Int64? {
        guard let first = field.first else { return nil }
        if first == 0x80 || first == 0xFF {
            let digits = field.dropFirst()
            let filling: UInt8 = first == 0xFF ? 0xFF : 0
            guard digits.dropLast(7).allSatisfy({ $0 == filling }) else { return nil }
            return digits.suffix(7).reduce(first == 0xFF ? Int64(-1) : 0) { $0 << 8 | Int64($1) }
        }
        let text = field.drop { $0 != 0 && $0 <= 0x20 }.prefix { $0 != 0 && $0 != 0x20 }
        let others = Array("+-_oO\t\n\u{B}\u{C}\r\u{1C}\u{1D}\u{1E}\u{1F}".utf8)
        guard text.allSatisfy({ (0x30...0x37).contains($0) || others.contains($0) }) else { return nil }
        let digits = text.filter { (0x30...0x37).contains($0) }
        let value = digits.reduce(Int64(0)) { $0 << 3 | Int64($1 - 0x30) }
        return text.first == UInt8(ascii: "-") ? -value : value
    }
}
