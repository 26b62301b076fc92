/// A SHA-256 digest (FIPS 180-4): always 32 bytes, written as 64 lower-case hexadecimal digits.
package struct Digest: Hashable, Sendable, Comparable {
    package let bytes: [UInt8]

    /// Wraps raw bytes.
    ///
    /// - Returns: `nil` unless there are exactly 32.
    package init?(bytes: [UInt8]) {
        guard bytes.count == 32 else { return nil }
        self.bytes = bytes
    }

    /// Parses the written form.
    ///
    /// - Returns: `nil` unless `hex` is exactly 64 digits of `0-9a-f`.
    package init?(hex: some StringProtocol) {
        guard let bytes = Hex.bytes(hex), bytes.count == 32 else { return nil }
        self.bytes = bytes
    }

    package var hex: String { Hex.text(bytes) }

    package static func < (left: Self, right: Self) -> Bool {
        left.bytes.lexicographicallyPrecedes(right.bytes)
    }
}

extension Digest: CustomStringConvertible {
    package var description: String { hex }
}

/// Lower-case hexadecimal, the only form that Sealift reads and writes.
package enum Hex {
    package static func text(_ bytes: some Sequence<UInt8>) -> String {
        let digits = Array("0123456789abcdef".utf8)
        var text: [UInt8] = []
        for byte in bytes {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// - Returns: `nil` for an odd number of digits or anything outside `0-9a-f`.
    package static func bytes(_ text: some StringProtocol) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count / 2)
        var high: UInt8?
        for digit in text.utf8 {
            let value: UInt8
            switch digit {
            case 0x30...0x39: value = digit - 0x30
            case 0x61...0x66: value = digit - 0x61 + 10
            default: return nil
            }
            if let first = high {
                bytes.append(first << 4 | value)
                high = nil
            } else {
                high = value
            }
        }
        return high == nil ? bytes : nil
    }
}
