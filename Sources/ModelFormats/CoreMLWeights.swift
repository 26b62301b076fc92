import Manifest
import Names

/// The file of weights beside an ML Program: records of 64 bytes, each saying where its data lies.
enum CoreMLWeights {
    static let recordLength: UInt64 = 64
    private static let sentinel: UInt32 = 0xDEAD_BEEF

    /// Checks each record that the program names; the data itself is not read.
    static func check(
        _ source: any ByteSource,
        _ path: FilePath,
        records: [UInt64],
        limits: FormatLimits
    ) throws(FormatError) {
        let file = FileBytes(source, format: .coreMLPackage, limits: limits)
        for record in records {
            try file.spendField(at: record)
            let field = "\(path) record"
            guard try file.number(UInt32.self, at: record, field) == sentinel else {
                throw file.malformed(field, record, .badMagic)
            }
            let size = try file.number(UInt64.self, at: record + 8, "\(field).sizeInBytes")
            let start = try file.number(UInt64.self, at: record + 16, "\(field).offset")
            guard start % 64 == 0 else { throw file.malformed("\(field).offset", record + 16, .misaligned) }
            guard start <= file.length, size <= file.length - start else {
                throw file.malformed("\(field).sizeInBytes", record + 8, .badReference)
            }
        }
    }
}
