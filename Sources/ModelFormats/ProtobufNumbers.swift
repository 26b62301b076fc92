import Manifest

extension ProtobufReader {
    /// How many varints a packed run has, counted by their last bytes, without keeping any.
    ///
    /// - Returns: `nil` when the last one has no end.
    func varints(in range: Range<UInt64>) throws(FormatError) -> UInt64? {
        var count: UInt64 = 0
        var start = range.lowerBound
        var isOpen = false
        while start < range.upperBound {
            let bytes = try read(start, Int(min(range.upperBound - start, 65_536)))
            for byte in bytes where byte & 0x80 == 0 { count += 1 }
            isOpen = (bytes.last ?? 0) & 0x80 != 0
            start += UInt64(bytes.count)
        }
        return isOpen ? nil : count
    }
}

/// Numbers that are not one plain varint.
extension ProtobufField {
    /// A `float`.
    func float(_ name: String, in reader: ProtobufReader) throws(FormatError) -> Float {
        guard case .fixed32(let place) = value else { throw error(name, .wrongWireType) }
        var bits: UInt32 = 0
        for index in 0..<4 as Range<UInt64> {
            bits |= UInt32(try reader.byte(at: place + index)) << UInt32(index * 8)
        }
        return Float(bitPattern: bits)
    }

    /// A `double`.
    func double(_ name: String, in reader: ProtobufReader) throws(FormatError) -> Double {
        guard case .fixed64(let place) = value else { throw error(name, .wrongWireType) }
        var bits: UInt64 = 0
        for index in 0..<8 as Range<UInt64> {
            bits |= UInt64(try reader.byte(at: place + index)) << (index * 8)
        }
        return Double(bitPattern: bits)
    }

    /// One field of a repeated integer: one number, or a packed run of them; both are legal, mixed too.
    ///
    /// - Throws: `FormatError.limit` when `numbers` would have more than `limit`.
    func append(
        to numbers: inout [Int64],
        _ name: String,
        limit: Int,
        in reader: ProtobufReader
    ) throws(FormatError) {
        guard case .payload(let range) = value else {
            try check(numbers.count, name, limit)
            numbers.append(try integer(name))
            return
        }
        let bytes = try reader.bytes(
            self,
            limit: UInt64(limit) * 10,
            which: "bytes of \(message.field).\(name)"
        )
        var number: UInt64 = 0
        var shift: UInt64 = 0
        for byte in bytes {
            guard shift < 63 || byte <= 1 else { throw error(name, .varintTooLong) }
            number |= UInt64(byte & 0x7F) << shift
            shift += 7
            guard byte & 0x80 == 0 else { continue }
            try check(numbers.count, name, limit)
            numbers.append(Int64(bitPattern: number))
            number = 0
            shift = 0
        }
        guard shift == 0 else {
            throw .malformed(format, field: "\(message.field).\(name)", offset: range.upperBound, .endsEarly)
        }
    }

    private func check(_ count: Int, _ name: String, _ limit: Int) throws(FormatError) {
        guard count < limit else { throw self.limit("elements of \(message.field).\(name)", limit) }
    }
}

extension ProtobufField {
    /// That this is one more than there may be.
    func limit(_ which: String, _ limit: Int) -> FormatError {
        let limit = UInt64(limit)
        return .limit(format, which: which, offset: offset, found: limit + 1, limit: limit)
    }
}
