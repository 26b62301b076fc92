import Manifest
import Names

/// Reads the head of a GGUF file, version 2 or 3: pairs of metadata, a table of tensors, then their bytes.
///
/// Tensors must follow one another, padded to the alignment, in the order of
/// the table, as ggml demands. Arrays are stepped over; those of the tokenizer
/// are digested as they stand, since equal digests mean equal tokens. A chat
/// template is a program: it is digested and never run.
struct GGUFReader {
    static let format = ModelFormat.gguf

    let file: FileBytes
    var position: UInt64 = 0
    var metadata = ModelMetadata()
    var metadataBytes: UInt64 = 0
    var keys: Set<String> = []
    var tokenizers: [TokenizerDigest] = []
    var split = GGUFSplit()
    var network = GGUFNetwork()

    /// `general.alignment`; every tensor starts at a multiple of it.
    var alignment: UInt64 = 32

    init(_ source: some ByteSource, limits: FormatLimits) {
        file = FileBytes(source, format: Self.format, limits: limits)
    }

    consuming func inspection() throws(FormatError) -> Inspection {
        let version = try readHead()
        let tensorCount = try readCount("tensor count", limit: file.limits.tensors, atLeast: 24)
        let pairCount = try readCount("metadata count", limit: file.limits.pairsOfGGUF, atLeast: 13)
        for _ in 0..<pairCount { try readPair() }
        let tensors = try readTensors(tensorCount)
        metadata.graphName = metadata["general.name"] ?? ""
        metadata.properties.sort { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
        var inspection = Inspection(format: .gguf)
        inspection.requires = Requirements(specificationVersion: Int64(version))
        inspection.metadata = metadata
        inspection.tensors = tensors
        inspection.interface.tensors = tensors.summary
        inspection.interface.network = try networkFacts()
        inspection.interface.tokenizers = tokenizers.sorted { $0.name < $1.name }
        inspection.split = split.isWhole ? nil : split
        return inspection
    }

    private mutating func readHead() throws(FormatError) -> UInt32 {
        let magic = try file.bytes(at: 0, count: 4, limit: 4, "magic")
        guard magic == Array("GGUF".utf8) else { throw file.malformed("magic", 0, .badMagic) }
        let version = try file.number(UInt32.self, at: 4, "version")
        guard version & 0xFFFF != 0 else { throw file.malformed("version", 4, .byteSwapped) }
        guard version == 2 || version == 3 else {
            throw file.malformed("version", 4, .unknownVersion(UInt64(version)))
        }
        position = 8
        return version
    }

    /// A count of things that take at least so many bytes each.
    private mutating func readCount(
        _ field: String,
        limit: Int,
        atLeast width: UInt64
    ) throws(FormatError) -> Int {
        let count: UInt64 = try take(field)
        guard count <= UInt64(limit) else {
            throw file.limit(field, position - 8, found: count, limit: UInt64(limit))
        }
        guard count * width <= file.length - position else {
            throw file.malformed(field, position - 8, .endsEarly)
        }
        return Int(count)
    }

    /// The next number.
    mutating func take<Number: FixedWidthInteger>(
        _ field: @autoclosure () -> String
    ) throws(FormatError) -> Number {
        let number = try file.number(Number.self, at: position, field())
        position += UInt64(Number.bitWidth / 8)
        return number
    }

    /// The next text: its length, then its bytes.
    mutating func takeText(_ field: @autoclosure () -> String, limit: UInt64) throws(FormatError) -> String {
        let start = position
        let count: UInt64 = try take(field())
        guard count <= file.length - position else { throw file.malformed(field(), start, .endsEarly) }
        guard count <= limit else {
            throw file.limit("bytes of \(field())", start, found: count, limit: limit)
        }
        let text = try file.text(at: position, count: count, limit: limit, field())
        position += count
        return text
    }
}

/// The place of a file in a set of several.
package struct GGUFSplit: Equatable, Sendable {
    /// From 0.
    package var number: UInt64 = 0
    package var count: UInt64 = 1

    /// Of the whole set; `nil` where the file does not say.
    package var tensors: UInt64?

    package var isWhole: Bool { count <= 1 }
}
