import Manifest
import Names

/// Little-endian numbers and texts at any place of a file, through a small cache, counting what they cost.
///
/// For formats that refer to places: every read is within the file or an
/// error that names the field, which is put together only then. Not Sendable: belongs to one reading.
final class FileBytes {
    let format: ModelFormat
    let limits: FormatLimits
    let length: UInt64
    let source: any ByteSource
    private var pages = [Page](repeating: Page(start: 0, bytes: []), count: pageCount)
    private let mostBytes: UInt64
    private let mostFields: UInt64
    private var bytesLeft: UInt64
    private var fieldsLeft: UInt64

    private struct Page {
        var start: UInt64
        var bytes: [UInt8]
    }

    private static let pageCount = 32
    private static let pageLength: UInt64 = 16_384

    init(_ source: any ByteSource, format: ModelFormat, limits: FormatLimits) {
        self.source = source
        self.format = format
        self.limits = limits
        length = source.length
        // Where a part may be referred to many times, a file of some length could ask for more than that length.
        let own = min(source.length, 1 << 40)
        mostBytes = min(limits.bytes, own * 32 + 1 << 20)
        mostFields = min(limits.fields, own + 1 << 16)
        bytesLeft = mostBytes
        fieldsLeft = mostFields
    }

    func malformed(_ field: String, _ offset: UInt64, _ what: FormatError.Malformation) -> FormatError {
        .malformed(format, field: field, offset: offset, what)
    }

    func limit(_ which: String, _ offset: UInt64, found: UInt64, limit: UInt64) -> FormatError {
        .limit(format, which: which, offset: offset, found: found, limit: limit)
    }

    /// Counts one table, pair, tensor or element.
    func spendField(at offset: UInt64) throws(FormatError) {
        guard fieldsLeft > 0 else {
            throw limit("fields", offset, found: mostFields + 1, limit: mostFields)
        }
        fieldsLeft -= 1
    }

    func spend(bytes count: UInt64, at offset: UInt64) throws(FormatError) {
        guard count <= bytesLeft else {
            let found = mostBytes - bytesLeft + count
            throw limit("bytes of structure", offset, found: found, limit: mostBytes)
        }
        bytesLeft -= count
    }

    /// A little-endian number.
    func number<Number: FixedWidthInteger>(
        _: Number.Type,
        at offset: UInt64,
        _ field: @autoclosure () -> String
    ) throws(FormatError) -> Number {
        let width = UInt64(Number.bitWidth / 8)
        try check(offset, width, field())
        try spend(bytes: width, at: offset)
        var value: Number = 0
        let slot = try page(at: offset)
        let first = offset - pages[slot].start
        if first + width <= UInt64(pages[slot].bytes.count) {
            for index in 0..<Int(width) {
                value |=
                    Number(truncatingIfNeeded: pages[slot].bytes[Int(first) + index]) << Number(index * 8)
            }
            return value
        }
        for (index, byte) in try read(offset, Int(width)).enumerated() {
            value |= Number(truncatingIfNeeded: byte) << Number(index * 8)
        }
        return value
    }

    /// Whether `count` bytes from `offset` are inside the file.
    func check(_ offset: UInt64, _ count: UInt64, _ field: @autoclosure () -> String) throws(FormatError) {
        guard offset <= length, count <= length - offset else {
            throw malformed(field(), min(offset, length), .endsEarly)
        }
    }

    /// The bytes of a stretch that was found to be within `limit`.
    func bytes(
        at offset: UInt64,
        count: UInt64,
        limit: UInt64,
        _ field: @autoclosure () -> String
    ) throws(FormatError) -> [UInt8] {
        try check(offset, count, field())
        guard count <= limit else {
            throw self.limit("bytes of \(field())", offset, found: count, limit: limit)
        }
        try spend(bytes: count, at: offset)
        return try read(offset, Int(count))
    }

    func text(
        at offset: UInt64,
        count: UInt64,
        limit: UInt64,
        _ field: @autoclosure () -> String
    ) throws(FormatError) -> String {
        let bytes = try bytes(at: offset, count: count, limit: limit, field())
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw malformed(field(), offset, .badText)
        }
        return text
    }

    /// Bytes that were checked and counted before, or are not structure.
    func read(_ offset: UInt64, _ count: Int) throws(FormatError) -> [UInt8] {
        do { return try source.bytes(at: offset, count: count) } catch { throw .unreadable(error) }
    }

    private func page(at offset: UInt64) throws(FormatError) -> Int {
        let start = offset / Self.pageLength * Self.pageLength
        let slot = Int(offset / Self.pageLength % UInt64(Self.pageCount))
        guard pages[slot].bytes.isEmpty || pages[slot].start != start else { return slot }
        pages[slot] = Page(start: start, bytes: try read(start, Int(min(Self.pageLength, length - start))))
        return slot
    }
}
