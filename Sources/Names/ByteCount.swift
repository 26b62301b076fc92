/// A number of bytes.
package struct ByteCount: RawRepresentable, Comparable, Hashable, Sendable {
    package let rawValue: UInt64

    package init(rawValue: UInt64) { self.rawValue = rawValue }

    package init(_ count: Int) { rawValue = UInt64(max(0, count)) }

    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

    package static func kibibytes(_ count: UInt64) -> ByteCount { ByteCount(rawValue: count << 10) }
    package static func mebibytes(_ count: UInt64) -> ByteCount { ByteCount(rawValue: count << 20) }
}

extension ByteCount: CustomStringConvertible {
    /// For people: `3.1 MB`, decimal units, one digit after the point.
    package var description: String {
        var tenths = rawValue
        guard tenths >= 1_000 else { return "\(tenths) bytes" }
        var unit = 0
        while tenths >= 1_000_000 && unit < 4 {
            tenths /= 1_000
            unit += 1
        }
        let units = ["kB", "MB", "GB", "TB", "PB"]
        return "\(tenths / 1_000).\(tenths / 100 % 10) \(units[unit])"
    }
}
