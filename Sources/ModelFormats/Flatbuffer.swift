import Manifest
import Names

/// Tables, vectors and texts of a FlatBuffers file, each checked to lie inside the part that may hold them.
///
/// A table may be referred to many times, which is legal and lets a small
/// file describe an endless tree: visits are counted, not bytes.
struct Flatbuffer {
    let file: FileBytes

    func malformed(_ field: String, _ offset: UInt64, _ what: FormatError.Malformation) -> FormatError {
        file.malformed(field, offset, what)
    }

    /// The table that the file starts with.
    func root(_ name: String) throws(FormatError) -> FlatTable { try table(at: 0, name) }

    /// The place that the offset stored at `place` leads to; offsets lead forward only.
    func target(at place: UInt64, _ field: String) throws(FormatError) -> UInt64 {
        let distance = UInt64(try file.number(UInt32.self, at: place, field))
        guard distance >= 4, distance <= file.length - place, place + distance <= file.length - 4 else {
            throw malformed(field, place, .badReference)
        }
        guard (place + distance) % 4 == 0 else { throw malformed(field, place, .misaligned) }
        return place + distance
    }

    /// The table whose offset is stored at `place`.
    func table(at place: UInt64, _ name: String) throws(FormatError) -> FlatTable {
        try file.spendField(at: place)
        let position = try target(at: place, name)
        let back = Int64(try file.number(Int32.self, at: position, name))
        let vtable = Int64(position) - back
        guard vtable >= 4, vtable <= Int64(file.length) - 4, vtable % 2 == 0 else {
            throw malformed(name, position, .badReference)
        }
        let start = UInt64(vtable)
        let slots = try file.number(UInt16.self, at: start, name)
        let length = try file.number(UInt16.self, at: start + 2, name)
        guard slots >= 4, slots % 2 == 0, length >= 4, UInt64(slots) <= file.length - start,
            UInt64(length) <= file.length - position
        else { throw malformed(name, start, .outOfRange) }
        return FlatTable(
            buffer: self,
            position: position,
            vtable: start,
            slots: slots,
            length: length,
            name: name
        )
    }

    /// The vector that starts at `start`, of elements of `width` bytes.
    func vector(at start: UInt64, width: UInt64, _ name: String) throws(FormatError) -> FlatVector {
        let count = UInt64(try file.number(UInt32.self, at: start, name))
        guard count * width <= file.length - start - 4 else { throw malformed(name, start, .endsEarly) }
        guard (start + 4) % min(width, 8) == 0 else { throw malformed(name, start, .misaligned) }
        return FlatVector(buffer: self, start: start + 4, count: Int(count), width: width, name: name)
    }
}

/// A table: what it has of each field, by the place of the field in the vtable.
struct FlatTable {
    let buffer: Flatbuffer
    let position: UInt64
    let vtable: UInt64
    let slots: UInt16
    let length: UInt16
    let name: String

    func error(_ field: String, _ what: FormatError.Malformation) -> FormatError {
        buffer.malformed("\(name).\(field)", position, what)
    }

    /// Where the field lies; `nil` when the table has its default.
    func place(_ slot: UInt16, width: UInt64, _ field: String) throws(FormatError) -> UInt64? {
        guard slot + 2 <= slots else { return nil }
        let offset = try buffer.file.number(UInt16.self, at: vtable + UInt64(slot), field)
        guard offset != 0 else { return nil }
        guard offset >= 4, UInt64(offset) + width <= UInt64(length) else { throw error(field, .badReference) }
        let place = position + UInt64(offset)
        guard place % width == 0 else { throw error(field, .misaligned) }
        return place
    }

    func number<Number: FixedWidthInteger>(
        _ slot: UInt16,
        _ field: String,
        default value: Number
    ) throws(FormatError) -> Number {
        let width = UInt64(Number.bitWidth / 8)
        guard let place = try place(slot, width: width, field) else { return value }
        return try buffer.file.number(Number.self, at: place, "\(name).\(field)")
    }

    func has(_ slot: UInt16, _ field: String) throws(FormatError) -> Bool {
        try place(slot, width: 4, field) != nil
    }

    func table(_ slot: UInt16, _ field: String) throws(FormatError) -> FlatTable? {
        guard let place = try place(slot, width: 4, field) else { return nil }
        return try buffer.table(at: place, "\(name).\(field)")
    }

    /// A vector of elements of so many bytes; offsets have 4.
    func vector(_ slot: UInt16, width: UInt64 = 4, _ field: String) throws(FormatError) -> FlatVector? {
        guard let place = try place(slot, width: 4, field) else { return nil }
        let name = "\(name).\(field)"
        return try buffer.vector(at: try buffer.target(at: place, name), width: width, name)
    }

    func text(_ slot: UInt16, _ field: String, limit: UInt64) throws(FormatError) -> String? {
        guard let bytes = try vector(slot, width: 1, field) else { return nil }
        let name = "\(name).\(field)"
        return try buffer.file.text(at: bytes.start, count: UInt64(bytes.count), limit: limit, name)
    }
}

/// A vector whose elements are all inside the file.
struct FlatVector {
    let buffer: Flatbuffer

    /// Of the first element.
    let start: UInt64
    let count: Int
    let width: UInt64
    let name: String

    func place(_ index: Int) -> UInt64 { start + UInt64(index) * width }

    // Errors call it by its index, or `name` where there are too many to name each.
    func table(_ index: Int, named name: String? = nil) throws(FormatError) -> FlatTable {
        try buffer.table(at: place(index), name ?? "\(self.name)[\(index)]")
    }

    func number<Number: FixedWidthInteger>(_: Number.Type, _ index: Int) throws(FormatError) -> Number {
        try buffer.file.number(Number.self, at: place(index), name)
    }

    /// - Throws: `FormatError.limit` when there are more elements than so many.
    func atMost(_ limit: Int) throws(FormatError) -> FlatVector {
        guard count <= limit else {
            throw buffer.file.limit(
                "elements of \(name)",
                start - 4,
                found: UInt64(count),
                limit: UInt64(limit)
            )
        }
        return self
    }
}
