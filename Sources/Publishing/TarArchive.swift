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
            guard Self.isHeader(header), let length = Self.number(header[124..<136]),
                members.count < Self.mostMembers
            else {
                guard place > 0 else { return nil }
                isWhole = false
                return
            }
            let start = place + Self.block
            let end = start + min(length, source.length - start)
            let name = String(decoding: header[..<100].prefix { $0 != 0 }, as: UTF8.self)
            members.append(Member(name: name, place: start..<end))
            let padded = (end - start + Self.block - 1) / Self.block * Self.block
            place = start + padded
        }
        if members.isEmpty { return nil }
    }

    /// The sum of all bytes, with spaces for the sum itself.
    private static func isHeader(_ header: [UInt8]) -> Bool {
        guard header[0] != 0, let sum = number(header[148..<156]) else { return false }
        let sums = header.indices.map { (148..<156).contains($0) ? 0x20 : UInt64(header[$0]) }
        return sums.reduce(0, +) == sum
    }

    /// Octal digits, or with the first bit set a number of base 256.
    private static func number(_ field: ArraySlice<UInt8>) -> UInt64? {
        guard let first = field.first else { return nil }
        if first == 0x80 {
            guard field.dropFirst().dropLast(8).allSatisfy({ $0 == 0 }) else { return nil }
            return field.suffix(8).reduce(0) { $0 << 8 | UInt64($1) }
        }
        let digits = field.drop { $0 == 0x20 }.prefix { $0 != 0 && $0 != 0x20 }
        guard digits.allSatisfy({ (0x30...0x37).contains($0) }) else { return nil }
        return digits.reduce(0) { $0 << 3 | UInt64($1 - 0x30) }
    }
}
