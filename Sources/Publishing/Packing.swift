import Names

/// How a file is compressed, by its first bytes; joblib and others unpack each of these by itself.
package enum Packing: String, Sendable {
    case gzip, zlib, bzip2, xz, lzma, zstd, lz4

    /// - Returns: `nil` for what is not compressed in a way that is known here.
    init?(_ source: any ByteSource) throws(ByteSourceError) {
        let head = try source.bytes(at: 0, count: Int(min(source.length, 64)))
        let known: [(Packing, [UInt8])] = [
            (.gzip, [0x1F, 0x8B, 8]), (.xz, [0xFD, 0x37, 0x7A, 0x58, 0x5A, 0]),
            (.zstd, [0x28, 0xB5, 0x2F, 0xFD]), (.lz4, [0x04, 0x22, 0x4D, 0x18]),
        ]
        if let found = known.first(where: { head.starts(with: $0.1) }) {
            self = found.0
        } else if Self.isBzip2(head) {
            self = .bzip2
        } else if Self.isLZMA(head) {
            self = .lzma
        } else if Self.isZlib(head) {
            self = .zlib
        } else {
            return nil
        }
    }

    /// `BZh`, a size of 1 to 9, and the mark of a block or of the end.
    private static func isBzip2(_ head: [UInt8]) -> Bool {
        guard head.count >= 10, head.starts(with: Array("BZh".utf8)), (0x31...0x39).contains(head[3]) else {
            return false
        }
        return [[0x31, 0x41, 0x59, 0x26, 0x53, 0x59], [0x17, 0x72, 0x45, 0x38, 0x50, 0x90]]
            .contains(Array(head[4..<10]))
    }

    /// LZMA alone has no mark: its usual properties, a dictionary of a power of two, and a length that is known or not.
    private static func isLZMA(_ head: [UInt8]) -> Bool {
        guard head.count >= 14, head[0] == 0x5D else { return false }
        let dictionary = head[1..<5].reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        let isUsual = dictionary >= 1 << 12 && dictionary & (dictionary - 1) == 0
        let length = head[5..<13]
        return isUsual && (length.allSatisfy { $0 == 0xFF } || length.suffix(3).allSatisfy { $0 == 0 })
            && head[13] == 0
    }

    /// RFC 1950: a window of 32 KiB, one of four levels, and the beginning of a block as RFC 1951 has it.
    ///
    /// Two bytes say little, so the block must be one, and text to the end of
    /// what was read is none.
    private static func isZlib(_ head: [UInt8]) -> Bool {
        guard head.count >= 8, head[0] == 0x78, [0x01, 0x5E, 0x9C, 0xDA].contains(head[1]) else {
            return false
        }
        let isText = head.allSatisfy { (0x20...0x7E).contains($0) || (9...13).contains($0) }
        guard !isText else { return false }
        switch head[2] >> 1 & 3 {
        case 0: return head[3] == ~head[5] && head[4] == ~head[6]
        // Zeros end such a block at once, and begin one that is none: so do lengths of headers, as safetensors have.
        case 1: return !head[3..<8].allSatisfy { $0 == 0 }
        case 2: return hasCodes(head)
        default: return false
        }
    }

    /// Whether a block says codes that can be: counts within bounds, and lengths that leave nothing over (3.2.7).
    private static func hasCodes(_ head: [UInt8]) -> Bool {
        func bits(_ place: Int, _ count: Int) -> Int {
            (0..<count).reduce(0) { number, bit in
                let place = place + bit
                guard place / 8 < head.count else { return number }
                return number | Int(head[place / 8] >> UInt8(place % 8) & 1) << bit
            }
        }
        guard bits(19, 5) <= 29, bits(24, 5) <= 29 else { return false }
        let lengths = (0..<(bits(29, 4) + 4)).map { bits(33 + 3 * $0, 3) }
        return lengths.filter { $0 > 0 }.reduce(0) { $0 + (128 >> $1) } == 128
    }
}
