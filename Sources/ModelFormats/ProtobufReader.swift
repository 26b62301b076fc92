import Manifest
import Names

/// Reads the protobuf wire format from a source, keeping count of what it costs.
///
/// Stricter than the official parsers, which merge repeated messages, let the
/// last of repeated values win and accept groups: where two readers could see
/// two models, there is none. Payloads are only read when asked for, so that
/// weights are stepped over. Not Sendable: belongs to one reading.
final class ProtobufReader {
    let format: ModelFormat
    let limits: FormatLimits
    private let source: any ByteSource
    private var window: [UInt8] = []
    private var windowStart: UInt64 = 0
    private var bytesLeft: UInt64
    private var fieldsLeft: UInt64

    /// What the interface takes so far, about as bytes of JSON; what nobody keeps may be given back.
    var interfaceBytes: UInt64 = 0

    /// Small, because in a file of weights only the heads of tensors are looked at.
    private static let windowLength: UInt64 = 4_096

    init(_ source: any ByteSource, format: ModelFormat, limits: FormatLimits) {
        self.source = source
        self.format = format
        self.limits = limits
        bytesLeft = limits.bytes
        fieldsLeft = limits.fields
    }

    /// The whole file as a message.
    var root: ProtobufMessage { ProtobufMessage(range: 0..<source.length, depth: 0, field: "model") }

    /// A field of `message` that was met before, by its place.
    func field(at offset: UInt64, in message: ProtobufMessage) throws(FormatError) -> ProtobufField? {
        let rest = ProtobufMessage(
            range: offset..<message.range.upperBound,
            depth: message.depth,
            field: message.field
        )
        var fields = ProtobufFields(rest, in: self)
        return try fields.next()
    }

    func spend(bytes count: UInt64, at offset: UInt64) throws(FormatError) {
        guard count <= bytesLeft else {
            let found = limits.bytes - bytesLeft + count
            throw .limit(
                format,
                which: "bytes of structure",
                offset: offset,
                found: found,
                limit: limits.bytes
            )
        }
        bytesLeft -= count
    }

    func spendField(at offset: UInt64) throws(FormatError) {
        guard fieldsLeft > 0 else {
            throw .limit(
                format,
                which: "fields",
                offset: offset,
                found: limits.fields + 1,
                limit: limits.fields
            )
        }
        fieldsLeft -= 1
    }

    /// Counts `count` bytes of the interface before they are kept.
    func spend(interface count: Int, at offset: UInt64) throws(FormatError) {
        interfaceBytes += UInt64(count)
        guard interfaceBytes <= limits.interfaceBytes else {
            throw .limit(
                format,
                which: "bytes of the interface",
                offset: offset,
                found: interfaceBytes,
                limit: limits.interfaceBytes
            )
        }
    }

    func byte(at offset: UInt64) throws(FormatError) -> UInt8 {
        if offset < windowStart || offset - windowStart >= UInt64(window.count) {
            guard offset < source.length else {
                throw .unreadable(.outOfBounds(offset: offset, count: 1, length: source.length))
            }
            window = try read(offset, Int(min(Self.windowLength, source.length - offset)))
            windowStart = offset
        }
        return window[Int(offset - windowStart)]
    }

    /// The bytes of a payload, after their number was found to be within `limit`.
    func bytes(_ field: ProtobufField, limit: UInt64, which: String) throws(FormatError) -> [UInt8] {
        let range = try field.payload(in: self)
        let count = range.upperBound - range.lowerBound
        guard count <= limit else {
            throw .limit(format, which: which, offset: field.offset, found: count, limit: limit)
        }
        try spend(bytes: count, at: field.offset)
        return try read(range.lowerBound, Int(count))
    }

    /// From the window where it lies in it: most texts are short, and asking the system for each costs most.
    func read(_ offset: UInt64, _ count: Int) throws(FormatError) -> [UInt8] {
        if offset >= windowStart, offset - windowStart <= UInt64(window.count) {
            let first = Int(offset - windowStart)
            if count <= window.count - first { return Array(window[first..<first + count]) }
        }
        do { return try source.bytes(at: offset, count: count) } catch { throw .unreadable(error) }
    }
}

/// A stretch of the file that is one message.
struct ProtobufMessage {
    let range: Range<UInt64>

    /// How many messages contain it.
    let depth: Int

    /// How it is called in the format's own words, for errors.
    let field: String
}

/// One field: its number, and its value or where that lies.
struct ProtobufField {
    enum Value {
        case varint(UInt64)
        case fixed64(at: UInt64)
        case fixed32(at: UInt64)
        case payload(Range<UInt64>)
    }

    let number: UInt32
    let value: Value

    /// Of its first byte in the file.
    let offset: UInt64
    let message: ProtobufMessage
    let format: ModelFormat

    func error(_ name: String, _ what: FormatError.Malformation) -> FormatError {
        .malformed(format, field: "\(message.field).\(name)", offset: offset, what)
    }

    func payload(in reader: ProtobufReader) throws(FormatError) -> Range<UInt64> {
        guard case .payload(let range) = value else { throw error("\(number)", .wrongWireType) }
        return range
    }

    /// This field as a message called `name`.
    func message(_ name: String, in reader: ProtobufReader) throws(FormatError) -> ProtobufMessage {
        guard case .payload(let range) = value else { throw error(name, .wrongWireType) }
        guard message.depth < reader.limits.depth else {
            throw .limit(
                format,
                which: "nesting of messages",
                offset: offset,
                found: UInt64(message.depth + 1),
                limit: UInt64(reader.limits.depth)
            )
        }
        return ProtobufMessage(range: range, depth: message.depth + 1, field: name)
    }

    func integer(_ name: String) throws(FormatError) -> Int64 {
        guard case .varint(let value) = value else { throw error(name, .wrongWireType) }
        return Int64(bitPattern: value)
    }

    func text(_ name: String, limit: UInt64, in reader: ProtobufReader) throws(FormatError) -> String {
        guard case .payload = value else { throw error(name, .wrongWireType) }
        let bytes = try reader.bytes(self, limit: limit, which: "bytes of \(message.field).\(name)")
        guard let text = String(validating: bytes, as: UTF8.self) else { throw error(name, .badText) }
        return text
    }

    func name(_ name: String, in reader: ProtobufReader) throws(FormatError) -> FeatureName {
        let text = try text(name, limit: 1_024, in: reader)
        guard let result = FeatureName(text) else { throw error(name, .badName) }
        return result
    }
}

/// Numbers of fields: those below 64, which nearly all are, without memory of their own.
struct FieldNumbers: ExpressibleByArrayLiteral {
    private var low: UInt64 = 0
    private var high: [UInt32] = []

    init() {}

    init(arrayLiteral numbers: UInt32...) { for number in numbers { insert(number) } }

    func contains(_ number: UInt32) -> Bool {
        number < 64 ? low & (1 << UInt64(number)) != 0 : high.contains(number)
    }

    /// - Returns: Whether it was not there before.
    @discardableResult
    mutating func insert(_ number: UInt32) -> Bool {
        guard !contains(number) else { return false }
        if number < 64 { low |= 1 << UInt64(number) } else { high.append(number) }
        return true
    }
}

/// Goes through the fields of one message, in the order of the file.
struct ProtobufFields {
    private let reader: ProtobufReader
    private let message: ProtobufMessage
    private let singular: FieldNumbers
    private var seen = FieldNumbers()
    private var offset: UInt64

    /// Starts at the first field.
    ///
    /// - Parameters:
    ///   - message: Which one.
    ///   - singular: The numbers of fields that may stand only once.
    ///   - reader: Where it lies.
    init(_ message: ProtobufMessage, singular: FieldNumbers = [], in reader: ProtobufReader) {
        self.message = message
        self.singular = singular
        self.reader = reader
        offset = message.range.lowerBound
    }

    mutating func next() throws(FormatError) -> ProtobufField? {
        guard offset < message.range.upperBound else { return nil }
        let start = offset
        try reader.spendField(at: start)
        let key = try varint(start)
        let number = key >> 3
        guard (1...0x1FFF_FFFF).contains(number) else { throw error(start, .badFieldNumber) }
        let value: ProtobufField.Value
        switch key & 7 {
        case 0: value = .varint(try varint(start))
        case 1:
            value = .fixed64(at: try skip(8, start).lowerBound)
        case 2:
            let length = try varint(start)
            value = .payload(try skip(length, start))
        case 3, 4: throw error(start, .group)
        case 5:
            value = .fixed32(at: try skip(4, start).lowerBound)
        default: throw error(start, .badWireType)
        }
        let field = ProtobufField(
            number: UInt32(number),
            value: value,
            offset: start,
            message: message,
            format: reader.format
        )
        if singular.contains(field.number), !seen.insert(field.number) {
            throw field.error("\(number)", .duplicate)
        }
        return field
    }

    private func error(_ offset: UInt64, _ what: FormatError.Malformation) -> FormatError {
        .malformed(reader.format, field: message.field, offset: offset, what)
    }

    private mutating func skip(_ count: UInt64, _ start: UInt64) throws(FormatError) -> Range<UInt64> {
        guard count <= message.range.upperBound - offset else {
            throw error(start, message.depth == 0 ? .endsEarly : .beyondParent)
        }
        let range = offset..<offset + count
        offset += count
        return range
    }

    /// At most ten bytes, of which the tenth may only be 1 (64 bits).
    private mutating func varint(_ start: UInt64) throws(FormatError) -> UInt64 {
        var value: UInt64 = 0
        for index in 0..<10 {
            guard offset < message.range.upperBound else {
                throw error(start, message.depth == 0 ? .endsEarly : .beyondParent)
            }
            let byte = try reader.byte(at: offset)
            try reader.spend(bytes: 1, at: start)
            offset += 1
            guard index < 9 || byte <= 1 else { throw error(start, .varintTooLong) }
            value |= UInt64(byte & 0x7F) << UInt64(index * 7)
            if byte & 0x80 == 0 { return value }
        }
        throw error(start, .varintTooLong)
    }
}
