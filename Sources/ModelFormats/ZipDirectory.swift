package import Names

/// The list of members at the end of a ZIP archive (APPNOTE 6.3.10, 4.3.12 to 4.3.16).
package struct ZipDirectory {
    package struct Member {
        package let name: [UInt8]

        /// Where its bytes lie in the archive as they are; `nil` when they are compressed, or elsewhere.
        package let stored: Range<UInt64>?
    }

    package let members: [Member]

    /// Where the first member starts, behind whatever stands before the archive.
    let start: UInt64

    /// Whether the file ends where the archive does.
    let isAtEnd: Bool

    private static let mostBytes: UInt64 = 16 << 20

    /// Reads the list.
    ///
    /// - Returns: `nil` when there is none that a reader of archives would take.
    /// - Throws: `ByteSourceError` when the file cannot be read.
    package init?(_ source: any ByteSource) throws(ByteSourceError) {
        // The end record, behind which a comment of up to 65,535 bytes may stand.
        let tailLength = min(source.length, 65_535 + 22)
        let tail = try source.bytes(at: source.length - tailLength, count: Int(tailLength))
        guard tail.count >= 22,
            let found = (0...tail.count - 22).last(where: { Self.has(0x0605_4B50, tail, $0) })
        else { return nil }
        isAtEnd = tail.count - found - 22 == Int(Self.number(tail, found + 20, 2))
        var end = source.length - tailLength + UInt64(found)
        var size = Self.number(tail, found + 12, 4)
        var offset = Self.number(tail, found + 16, 4)
        if let wide = try Self.wideEnd(source, before: end) { (end, size, offset) = wide }
        // As readers do, so that bytes before the archive move everything in it.
        guard size <= end, size <= Self.mostBytes, offset <= end - size else { return nil }
        let shift = end - size - offset
        let list = try source.bytes(at: end - size, count: Int(size))
        var members: [Member] = []
        var start = end - size
        var place = 0
        while place < list.count {
            guard place + 46 <= list.count, Self.has(0x0201_4B50, list, place) else { return nil }
            let nameLength = Int(Self.number(list, place + 28, 2))
            let rest = Int(Self.number(list, place + 30, 2) + Self.number(list, place + 32, 2))
            guard place + 46 + nameLength + rest <= list.count else { return nil }
            let header = shift &+ Self.number(list, place + 42, 4)
            start = min(start, header)
            let isStored = Self.number(list, place + 10, 2) == 0
            members.append(
                Member(
                    name: Array(list[(place + 46)..<(place + 46 + nameLength)]),
                    stored: isStored
                        ? try Self.bytes(of: header, length: Self.number(list, place + 24, 4), in: source)
                        : nil
                )
            )
            place += 46 + nameLength + rest
        }
        self.members = members
        self.start = start
    }

    /// The end record of large archives, and what it says; `nil` for others.
    private static func wideEnd(
        _ source: any ByteSource,
        before end: UInt64
    ) throws(ByteSourceError) -> (end: UInt64, size: UInt64, offset: UInt64)? {
        guard end >= 76 else { return nil }
        let bytes = try source.bytes(at: end - 76, count: 76)
        guard has(0x0706_4B50, bytes, 56), has(0x0606_4B50, bytes, 0) else { return nil }
        return (end - 76, number(bytes, 40, 8), number(bytes, 48, 8))
    }

    /// Steps over a member's own header.
    private static func bytes(
        of header: UInt64,
        length: UInt64,
        in source: any ByteSource
    ) throws(ByteSourceError) -> Range<UInt64>? {
        guard header < source.length, source.length - header >= 30 else { return nil }
        let bytes = try source.bytes(at: header, count: 30)
        guard has(0x0403_4B50, bytes, 0) else { return nil }
        let start = header + 30 + number(bytes, 26, 2) + number(bytes, 28, 2)
        guard start <= source.length else { return nil }
        // A length of all ones stands elsewhere; the archive's end is then far enough.
        return start..<(start + min(length, source.length - start))
    }

    private static func has(_ signature: UInt64, _ bytes: [UInt8], _ place: Int) -> Bool {
        place + 4 <= bytes.count && number(bytes, place, 4) == signature
    }

    /// Little-endian.
    private static func number(_ bytes: [UInt8], _ place: Int, _ width: Int) -> UInt64 {
        bytes[place..<(place + width)].reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
}
