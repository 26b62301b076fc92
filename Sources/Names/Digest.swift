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
        bytes(Array(String(text).utf8)[...])
    }

    /// - Returns: `nil` as for text.
    package static func bytes(_ digits: ArraySlice<UInt8>) -> [UInt8]? {
        guard digits.count.isMultiple(of: 2) else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count / 2)
        var index = digits.startIndex
        while index < digits.endIndex {
            guard let high = value(digits[index]), let low = value(digits[index + 1]) else { return nil }
            bytes.append(high << 4 | low)
            index += 2
        }
        return bytes
    }

    /// Whether ``bytes(_:)`` would read `digits`, without keeping what it reads.
    package static func isBytes(_ digits: ArraySlice<UInt8>) -> Bool {
        digits.count.isMultiple(of: 2) && digits.allSatisfy { value($0) != nil }
    }

    private static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case 0x30...0x39: digit - 0x30
        case 0x61...0x66: digit - 0x61 + 10
        default: nil
        }
    }
}
