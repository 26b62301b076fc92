/// What a Range field asks of content of a known length (RFC 9110, 14).
package enum ByteRange: Hashable, Sendable {
    /// No range, several, another unit, or nonsense: all may be ignored.
    case whole
    case part(Range<UInt64>)
    case unsatisfiable

    /// Reads `bytes=first-last`, `bytes=first-` or `bytes=-suffix`.
    package init(field: [UInt8]?, length: UInt64) {
        self = .whole
        guard let field, field.starts(with: "bytes=".utf8) else { return }
        let sides = field.dropFirst(6).split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard sides.count == 2, sides.allSatisfy({ $0.allSatisfy { (0x30...0x39).contains($0) } }) else {
            return
        }
        switch (Self.number(sides[0]), Self.number(sides[1])) {
        case (nil, nil): break
        case (nil, let suffix?):
            self = suffix == 0 || length == 0 ? .unsatisfiable : .part(length - min(suffix, length)..<length)
        case (let first?, nil):
            self = first < length ? .part(first..<length) : .unsatisfiable
        case (let first?, let last?):
            guard first <= last else { return }
            self = first < length ? .part(first..<min(last, length - 1) + 1) : .unsatisfiable
        }
    }

    /// The number, held at the greatest that fits; nil for no digits.
    private static func number(_ digits: ArraySlice<UInt8>) -> UInt64? {
        guard !digits.isEmpty else { return nil }
        var value: UInt64 = 0
        for digit in digits {
            let (product, overflow) = value.multipliedReportingOverflow(by: 10)
            let (sum, carry) = product.addingReportingOverflow(UInt64(digit - 0x30))
            if overflow || carry { return .max }
            value = sum
        }
        return value
    }
}
