import Manifest
import Names

/// The table of tensors.
extension GGUFReader {
    /// A type of block: its name, the elements in it and its bytes.
    private struct Block {
        let name: String
        let elements: UInt64
        let bytes: UInt64

        init(_ name: String, _ elements: UInt64, _ bytes: UInt64) {
            self.name = name
            self.elements = elements
            self.bytes = bytes
        }
    }

    /// By the numbers of ggml; those that are missing were withdrawn.
    private static let blocks: [UInt32: Block] = [
        0: Block("F32", 1, 4), 1: Block("F16", 1, 2), 2: Block("Q4_0", 32, 18), 3: Block("Q4_1", 32, 20),
        6: Block("Q5_0", 32, 22), 7: Block("Q5_1", 32, 24), 8: Block("Q8_0", 32, 34),
        9: Block("Q8_1", 32, 40), 10: Block("Q2_K", 256, 84), 11: Block("Q3_K", 256, 110),
        12: Block("Q4_K", 256, 144), 13: Block("Q5_K", 256, 176), 14: Block("Q6_K", 256, 210),
        15: Block("Q8_K", 256, 292), 16: Block("IQ2_XXS", 256, 66), 17: Block("IQ2_XS", 256, 74),
        18: Block("IQ3_XXS", 256, 98), 19: Block("IQ1_S", 256, 50), 20: Block("IQ4_NL", 32, 18),
        21: Block("IQ3_S", 256, 110), 22: Block("IQ2_S", 256, 82), 23: Block("IQ4_XS", 256, 136),
        24: Block("I8", 1, 1), 25: Block("I16", 1, 2), 26: Block("I32", 1, 4), 27: Block("I64", 1, 8),
        28: Block("F64", 1, 8), 29: Block("IQ1_M", 256, 56), 30: Block("BF16", 1, 2),
        34: Block("TQ1_0", 256, 54), 35: Block("TQ2_0", 256, 66), 39: Block("MXFP4", 32, 17),
        40: Block("NVFP4", 64, 36), 41: Block("Q1_0", 128, 18),
    ]

    mutating func readTensors(_ count: Int) throws(FormatError) -> [TensorRow] {
        var rows: [TensorRow] = []

        // A number of each name, equal for two in which people see the same; its seed is another one in each process.
        var names: Set<Int> = []
        var end: UInt64 = 0
        var dataEnd: UInt64 = 0
        var last = position
        for _ in 0..<count {
            last = position
            let (row, length, start) = try readTensor()
            guard names.insert(row.name.lookAlikeKey.hashValue).inserted else {
                throw file.malformed("tensor `\(row.name)`", last, .duplicateName)
            }
            guard start % alignment == 0 else {
                throw file.malformed("tensor `\(row.name)`.offset", last, .misaligned)
            }
            guard start == end else {
                throw file.malformed("tensor `\(row.name)`.offset", last, start < end ? .overlap : .gap)
            }
            let padded = length.addingReportingOverflow(alignment - 1)
            let next = start.addingReportingOverflow(padded.partialValue / alignment * alignment)
            guard !padded.overflow, !next.overflow else {
                throw file.malformed("tensor `\(row.name)`.offset", last, .outOfRange)
            }
            dataEnd = start + length
            end = next.partialValue
            rows.append(row)
        }
        try checkData(end: dataEnd, padded: end, lastTensor: last)
        return rows
    }

    /// The data ends with the last tensor and its padding, which some writers leave out.
    private func checkData(end: UInt64, padded: UInt64, lastTensor: UInt64) throws(FormatError) {
        let start = (position + alignment - 1) / alignment * alignment
        guard end == 0 || start < file.length && end <= file.length - start else {
            throw file.malformed("last tensor", lastTensor, .endsEarly)
        }
        guard file.length <= start || file.length - start <= padded else {
            throw file.malformed("data", start + padded, .trailingBytes)
        }
    }

    /// Name, dimensions, type and offset.
    private mutating func readTensor() throws(FormatError) -> (row: TensorRow, length: UInt64, start: UInt64)
    {
        let place = position
        let text = try takeText("tensor name", limit: 64)
        guard let name = FeatureName(text) else { throw file.malformed("tensor name", place, .badName) }
        func field(_ member: String = "") -> String { "tensor `\(name)`\(member)" }
        let rankPlace = position
        let rank: UInt32 = try take(field(".dimensions"))
        guard rank <= 4 else {
            throw file.limit("dimensions of \(field())", rankPlace, found: UInt64(rank), limit: 4)
        }
        var shape: [Int64] = []
        for _ in 0..<rank {
            let size: UInt64 = try take(field(".dimensions"))
            guard size <= UInt64(ShapeLimits.dimension) else {
                let limit = UInt64(ShapeLimits.dimension)
                throw file.limit("size of a dimension of \(field())", position - 8, found: size, limit: limit)
            }
            shape.append(Int64(size))
        }
        let type: UInt32 = try take(field(".type"))
        guard let block = Self.blocks[type] else {
            throw file.malformed(field(".type"), position - 4, .unknownElementType(UInt64(type)))
        }
        let row = TensorRow(name: name, type: block.name, shape: shape)
        let elements = try row.elements(.gguf, field(), rankPlace)
        guard (shape.first.map { UInt64($0) } ?? 1) % block.elements == 0 else {
            throw file.malformed(field(".dimensions"), rankPlace, .outOfRange)
        }
        let length = (elements / block.elements).multipliedReportingOverflow(by: block.bytes)
        guard !length.overflow else { throw file.malformed(field(".dimensions"), rankPlace, .outOfRange) }
        let start: UInt64 = try take(field(".offset"))
        return (row, length.partialValue, start)
    }
}
