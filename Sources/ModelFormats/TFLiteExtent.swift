import Manifest
import Names

/// What belongs to nothing in a TFLite file.
///
/// A flatbuffer does not say how long it is: it ends where the last of what
/// it refers to does. Behind it may lie buffers that it claims by place and
/// size (files over 2 GiB), and a ZIP archive of label files that the tools for
/// metadata append. Other bytes are no part of the model, and are refused.
struct TFLiteExtent {
    /// Fewer zeros than this between two parts are an alignment.
    private static let alignment: UInt64 = 64

    private let buffer: Flatbuffer
    private var end: UInt64 = 8

    /// What a field refers to, by its slot; other fields hold numbers.
    private enum Part {
        /// A vector of elements of so many bytes.
        case elements(UInt64)
        case table(Parts)
        case tables(Parts)

        /// A table of one of many kinds, all of whose fields may be numbers or vectors.
        case options
        case manyOptions
    }

    /// Fields by their slots, each with what errors call it: a table may be referred to a million times.
    private struct Parts: ExpressibleByDictionaryLiteral {
        let fields: [(slot: UInt16, name: String, part: Part)]

        init(dictionaryLiteral fields: (UInt16, Part)...) {
            self.fields = fields.map { ($0, "\($0)", $1) }
        }
    }

    private static let text = Part.elements(1)
    private static let numbers = Part.elements(4)

    private static let tensor: Parts = [
        4: numbers, 10: text,
        12: .table([4: numbers, 6: numbers, 8: numbers, 10: .elements(8), 14: .options]),
        16: .table([4: numbers, 6: numbers, 8: .tables([10: .options, 14: .options])]), 18: numbers,
        22: .tables([4: numbers]),
    ]

    private static let operation: Parts = [
        6: numbers, 8: numbers, 12: .options, 14: .elements(1), 18: .elements(1), 20: numbers, 28: .options,
    ]

    private static let model: Parts = [
        6: .tables([6: text]),
        8: .tables([4: .tables(tensor), 6: numbers, 8: numbers, 10: .tables(operation), 12: text]), 10: text,
        12: .tables([4: .elements(1)]), 14: numbers, 16: .tables([4: text]),
        18: .tables([4: .tables([4: text]), 6: .tables([4: text]), 8: text]), 20: .manyOptions,
        22: .manyOptions,
    ]

    /// Refuses bytes that belong to nothing.
    ///
    /// - Parameters:
    ///   - model: The table that the file starts with.
    ///   - outside: The places behind the flatbuffer that it claims.
    /// - Throws: `FormatError`: what belongs to nothing, and where it starts.
    static func check(_ model: FlatTable, outside: [Range<UInt64>]) throws(FormatError) {
        var extent = TFLiteExtent(buffer: model.buffer)
        try extent.claim(model, Self.model)
        for place in outside.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            try extent.checkRest(until: place.lowerBound, .gap)
            extent.end = max(extent.end, place.upperBound)
        }
        let file = model.buffer.file
        guard extent.end < file.length else { return }
        try extent.checkRest(until: try file.appendedArchive() ?? file.length, .trailingBytes)
    }

    private init(buffer: Flatbuffer) { self.buffer = buffer }

    /// Whether what lies between two parts is there to align the second.
    static func isAlignment(_ gap: Range<UInt64>, in file: FileBytes) throws(FormatError) -> Bool {
        let count = gap.upperBound - gap.lowerBound
        guard count < alignment else { return false }
        return try file.read(gap.lowerBound, Int(count)).allSatisfy { $0 == 0 }
    }

    private func checkRest(
        until place: UInt64,
        _ what: FormatError.Malformation
    ) throws(FormatError) {
        guard place > end else { return }
        guard try Self.isAlignment(end..<place, in: buffer.file) else {
            throw buffer.malformed("model", end, what)
        }
    }

    private mutating func claim(_ table: FlatTable, _ parts: Parts) throws(FormatError) {
        claim(table)
        for (slot, name, part) in parts.fields {
            switch part {
            case .elements(let width):
                guard let vector = try table.vector(slot, width: width, name) else { continue }
                // Texts have a zero behind them, which is not counted.
                end = max(end, vector.start + UInt64(vector.count) * width + (width == 1 ? 1 : 0))
            case .table(let parts):
                guard let inner = try table.table(slot, name) else { continue }
                try claim(inner, parts)
            case .options:
                guard let inner = try table.table(slot, name) else { continue }
                try claimOptions(inner)
            case .tables, .manyOptions:
                guard let vector = try table.vector(slot, name) else { continue }
                end = max(end, vector.place(vector.count))
                for index in 0..<vector.count {
                    let inner = try vector.table(index, named: vector.name)
                    if case .tables(let parts) = part {
                        try claim(inner, parts)
                    } else {
                        try claimOptions(inner)
                    }
                }
            }
        }
    }

    private mutating func claim(_ table: FlatTable) {
        end = max(end, table.position + UInt64(table.length), table.vtable + UInt64(table.slots))
    }

    /// Whatever could be a vector is taken for one: too much claimed hides a few bytes, too little refuses a model.
    private mutating func claimOptions(_ table: FlatTable) throws(FormatError) {
        claim(table)
        let file = buffer.file
        for slot in stride(from: UInt16(4), to: min(table.slots, 132), by: 2) {
            let offset = UInt64(try file.number(UInt16.self, at: table.vtable + UInt64(slot), table.name))
            let place = table.position + offset
            guard offset >= 4, offset + 4 <= UInt64(table.length), place % 4 == 0 else { continue }
            let start = place + UInt64(try file.number(UInt32.self, at: place, table.name))
            guard start >= place + 4, start % 4 == 0, start <= file.length - 4 else { continue }
            let count = UInt64(try file.number(UInt32.self, at: start, table.name))
            let room = file.length - start - 4
            if let width = [UInt64(8), 4, 1].first(where: { count * $0 <= room }) {
                end = max(end, start + 4 + count * width)
            }
        }
    }
}

extension FlatTable {
    /// A place behind the flatbuffer that two fields give; `nil` where they are not used.
    func placeOutside(
        _ offset: UInt16,
        _ size: UInt16,
        _ offsetName: String,
        _ sizeName: String
    ) throws(FormatError) -> Range<UInt64>? {
        let start = try number(offset, offsetName, default: UInt64(0))
        let count = try number(size, sizeName, default: UInt64(0))
        // Writers put 1 first, and the place when it is known.
        guard start > 1 else { return nil }
        let length = buffer.file.length
        guard start >= 8, start <= length else { throw error(offsetName, .badReference) }
        guard count <= length - start else { throw error(sizeName, .badReference) }
        return start..<start + count
    }
}

extension FileBytes {
    /// Where an archive starts that ends with the file; `nil` when there is none.
    fileprivate func appendedArchive() throws(FormatError) -> UInt64? {
        do throws(ByteSourceError) {
            guard let archive = try ZipDirectory(source), archive.isAtEnd, archive.start < length,
                try source.bytes(at: archive.start, count: 2) == Array("PK".utf8)
            else { return nil }
            return archive.start
        } catch { throw .unreadable(error) }
    }
}
