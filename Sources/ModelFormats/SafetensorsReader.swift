import Manifest
import Names

/// Reads the header of a safetensors file: a length, a JSON object of tensors, then their bytes.
///
/// Tensors must fill the data from its first byte to its last, without gap or
/// overlap, and each key may stand once: the official library takes the last
/// of two (safetensors 0.8.0), so that two readers would see two models.
struct SafetensorsReader {
    private static let format = ModelFormat.safetensors

    /// Where a tensor's bytes are in the data, and its entry in the file.
    private struct Extent {
        let begin: UInt64
        let end: UInt64
        let offset: UInt64
    }

    /// Bits of one element.
    private static let widths: [String: UInt64] = [
        "BOOL": 8, "U8": 8, "I8": 8, "F8_E4M3": 8, "F8_E5M2": 8, "F8_E8M0": 8, "F8_E4M3FNUZ": 8,
        "F8_E5M2FNUZ": 8, "F4": 4, "F6_E2M3": 6, "F6_E3M2": 6, "I16": 16, "U16": 16, "F16": 16, "BF16": 16,
        "I32": 32, "U32": 32, "F32": 32, "C64": 64, "I64": 64, "U64": 64, "F64": 64,
    ]

    private var scanner: JSONScanner
    private let limits: FormatLimits
    private let dataLength: UInt64
    private var rows: [TensorRow] = []
    private var extents: [Extent] = []

    /// Bytes of all names.
    private var named: UInt64 = 0

    /// A number of each name, equal for two in which people see the same; its seed is another one in each process.
    private var keys: Set<Int> = []
    private var metadata = ModelMetadata()
    private var hasMetadata = false

    init(_ source: some ByteSource, limits: FormatLimits) throws(FormatError) {
        let file = FileBytes(source, format: Self.format, limits: limits)
        let length = try file.number(UInt64.self, at: 0, "header length")
        guard length <= file.length - 8 else { throw file.malformed("header length", 0, .endsEarly) }
        let header = try file.bytes(at: 8, count: length, limit: limits.tensorHeader, "header")
        scanner = JSONScanner(header, at: 8, format: Self.format)
        dataLength = file.length - 8 - length
        self.limits = limits
        // As many as there may be in so many bytes: lists that grow hold what they had a second time.
        let most = min(limits.tensors, header.count / 48)
        rows.reserveCapacity(most)
        extents.reserveCapacity(most)
        guard header.first == UInt8(ascii: "{") else { throw scanner.error("header", .unexpectedByte) }
    }

    consuming func inspection() throws(FormatError) -> Inspection {
        try readEntries()
        try checkExtents()
        var inspection = Inspection(format: Self.format)
        inspection.tensors = rows
        rows = []
        inspection.interface.tensors = inspection.tensors.summary
        metadata.properties.sort { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
        inspection.metadata = metadata
        return inspection
    }

    private mutating func readEntries() throws(FormatError) {
        try scanner.expect(UInt8(ascii: "{"), "header")
        if !scanner.take(UInt8(ascii: "}")) {
            repeat { try readEntry() } while try scanner.another(before: UInt8(ascii: "}"), "header")
        }
        try scanner.finish("header")
    }

    private mutating func readEntry() throws(FormatError) {
        scanner.passSpace()
        let offset = scanner.offset
        let key = try scanner.text("tensor name", limit: 1_024)
        try scanner.expect(UInt8(ascii: ":"), "header")
        guard key != "__metadata__" else {
            guard !hasMetadata else { throw scanner.error("__metadata__", .duplicate, at: offset) }
            hasMetadata = true
            return try readMetadata()
        }
        guard let name = FeatureName(key) else { throw scanner.error("tensor name", .badName, at: offset) }
        named += UInt64(key.utf8.count)
        guard named <= limits.tensorNames else {
            throw .limit(
                Self.format,
                which: "bytes of tensor names",
                offset: offset,
                found: named,
                limit: limits.tensorNames
            )
        }
        guard keys.insert(name.lookAlikeKey.hashValue).inserted else {
            throw scanner.error("tensor `\(name)`", .duplicateName, at: offset)
        }
        guard rows.count < limits.tensors else {
            let limit = UInt64(limits.tensors)
            throw .limit(Self.format, which: "tensors", offset: offset, found: limit + 1, limit: limit)
        }
        try readTensor(name, at: offset)
    }

    private mutating func readTensor(_ name: FeatureName, at offset: UInt64) throws(FormatError) {
        func field(_ member: String = "") -> String { "tensor `\(name)`\(member)" }
        var type: String?
        var shape: [UInt64]?
        var ends: [UInt64]?
        try scanner.expect(UInt8(ascii: "{"), field())
        if !scanner.take(UInt8(ascii: "}")) {
            repeat {
                scanner.passSpace()
                let place = scanner.offset
                let key = try scanner.text(field(), limit: 64)
                try scanner.expect(UInt8(ascii: ":"), field())
                switch key {
                case "dtype" where type == nil: type = try scanner.text(field(".dtype"), limit: 64)
                case "shape" where shape == nil:
                    shape = try counts(field(".shape"), limit: ShapeLimits.rank)
                case "data_offsets" where ends == nil: ends = try counts(field(".data_offsets"), limit: 2)
                case "dtype", "shape", "data_offsets":
                    throw scanner.error(field(".\(key)"), .duplicate, at: place)
                default: throw scanner.error(field(".\(key)"), .unexpectedByte, at: place)
                }
            } while try scanner.another(before: UInt8(ascii: "}"), field())
        }
        guard let type, let shape, let ends, ends.count == 2 else {
            throw scanner.error(field(), .missing, at: offset)
        }
        guard let width = Self.widths[type] else {
            throw scanner.error(field(".dtype"), .unknownTypeName(type), at: offset)
        }
        let row = TensorRow(name: name, type: type, shape: shape.map { Int64($0) })
        guard ends[0] <= ends[1], ends[1] <= dataLength else {
            throw scanner.error(field(".data_offsets"), .badReference, at: offset)
        }
        let bits = try row.elements(Self.format, field(), offset).multipliedReportingOverflow(by: width)
        guard !bits.overflow, bits.partialValue % 8 == 0 else {
            throw scanner.error(field(".shape"), .outOfRange, at: offset)
        }
        guard bits.partialValue / 8 == ends[1] - ends[0] else {
            let what = FormatError.Malformation.wrongLength(
                expected: bits.partialValue / 8,
                found: ends[1] - ends[0]
            )
            throw scanner.error(field(".data_offsets"), what, at: offset)
        }
        rows.append(row)
        extents.append(Extent(begin: ends[0], end: ends[1], offset: offset))
    }

    private mutating func counts(
        _ field: @autoclosure () -> String,
        limit: Int
    ) throws(FormatError) -> [UInt64] {
        var counts: [UInt64] = []
        try scanner.expect(UInt8(ascii: "["), field())
        if scanner.take(UInt8(ascii: "]")) { return [] }
        repeat {
            guard counts.count < limit else {
                let found = UInt64(limit)
                throw .limit(
                    Self.format,
                    which: "elements of \(field())",
                    offset: scanner.offset,
                    found: found + 1,
                    limit: found
                )
            }
            counts.append(try scanner.count(field()))
        } while try scanner.another(before: UInt8(ascii: "]"), field())
        return counts
    }

    private mutating func readMetadata() throws(FormatError) {
        try scanner.expect(UInt8(ascii: "{"), "__metadata__")
        if scanner.take(UInt8(ascii: "}")) { return }
        var total: UInt64 = 0
        var seen: Set<[UInt8]> = []
        repeat {
            scanner.passSpace()
            let offset = scanner.offset
            let key = try scanner.text("__metadata__", limit: limits.metadataValue)
            guard seen.insert(Array(key.utf8)).inserted else {
                throw scanner.error("__metadata__", .duplicate, at: offset)
            }
            try scanner.expect(UInt8(ascii: ":"), "__metadata__")
            let value = try scanner.text("__metadata__", limit: limits.metadataValue)
            total += UInt64(key.utf8.count + value.utf8.count)
            try limits.check(pairs: seen.count, bytes: total, Self.format, at: offset)
            metadata.properties.append(ModelMetadata.Property(key: key, value: value))
        } while try scanner.another(before: UInt8(ascii: "}"), "__metadata__")
    }

    /// From the first byte of the data to the last, each byte in one tensor.
    private func checkExtents() throws(FormatError) {
        var end: UInt64 = 0
        // By their places in the list, since there may be many.
        let order = extents.indices.sorted {
            (extents[$0].begin, extents[$0].end) < (extents[$1].begin, extents[$1].end)
        }
        for index in order {
            let extent = extents[index]
            guard extent.begin == end else {
                let what: FormatError.Malformation = extent.begin < end ? .overlap : .gap
                throw scanner.error("tensor `\(rows[index].name)`.data_offsets", what, at: extent.offset)
            }
            end = extent.end
        }
        guard end == dataLength else {
            throw scanner.error("data", .trailingBytes, at: 8 + UInt64(scanner.bytes.count) + end)
        }
    }
}

extension TensorRow {
    /// How many elements; beyond 2^53 is refused.
    func elements(
        _ format: ModelFormat,
        _ field: @autoclosure () -> String,
        _ offset: UInt64
    ) throws(FormatError) -> UInt64 {
        var product: Int64 = 1
        var isEmpty = false
        for size in shape where size != 1 {
            guard size >= 0, size <= ShapeLimits.dimension else {
                let limit = UInt64(ShapeLimits.dimension)
                throw .limit(
                    format,
                    which: "size of a dimension of \(field())",
                    offset: offset,
                    found: UInt64(clamping: size),
                    limit: limit
                )
            }
            if size == 0 {
                isEmpty = true
                continue
            }
            let (next, overflow) = product.multipliedReportingOverflow(by: size)
            guard !overflow, next <= ShapeLimits.elements else {
                let limit = UInt64(ShapeLimits.elements)
                throw .limit(
                    format,
                    which: "elements of \(field())",
                    offset: offset,
                    found: overflow ? .max : UInt64(clamping: next),
                    limit: limit
                )
            }
            product = next
        }
        return isEmpty ? 0 : UInt64(product)
    }
}
