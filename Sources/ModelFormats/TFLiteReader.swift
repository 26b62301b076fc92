import Manifest
import Names

/// Reads a TensorFlow Lite model (schema 3) without its weights.
///
/// Every index that an interpreter would follow (tensors, buffers, operator
/// codes, subgraphs) is checked. Where the file has signatures, their names
/// are the interface, since that is how apps call; the tensors' own names are
/// kept in the metadata. Else the first subgraph is the interface.
struct TFLiteReader {
    static let format = ModelFormat.tflite
    private static let magic = Array("TFL3".utf8)

    let buffer: Flatbuffer
    var metadata = ModelMetadata()
    private var metadataBytes: UInt64 = 0
    private var bufferCount = 0
    private var codeCount = 0

    private var signatureValues = 0

    /// What lies behind the flatbuffer and is claimed in it, joined where it touches.
    private var outside: [Range<UInt64>] = []

    var file: FileBytes { buffer.file }

    init(_ source: some ByteSource, limits: FormatLimits) {
        buffer = Flatbuffer(file: FileBytes(source, format: Self.format, limits: limits))
    }

    consuming func inspection() throws(FormatError) -> Inspection {
        guard try file.bytes(at: 4, count: 4, limit: 4, "identifier") == Self.magic else {
            throw file.malformed("identifier", 4, .badMagic)
        }
        let model = try buffer.root("model")
        let version = try model.number(4, "version", default: UInt32(0))
        guard version == 3 else { throw model.error("version", .unknownVersion(UInt64(version))) }
        metadata.documentation = try model.text(10, "description", limit: file.limits.metadataValue) ?? ""
        let buffers = try readBuffers(model)
        try readCodes(model)
        let subgraphs = try readSubgraphs(model)
        guard let first = subgraphs.first else { throw model.error("subgraphs", .missing) }
        var inspection = Inspection(format: .tflite)
        inspection.requires = Requirements(specificationVersion: Int64(version))
        inspection.requires.runtime = try readMetadata(model, buffers)
        if let signed = try readSignatures(model, subgraphs) {
            inspection.interface = signed
        } else {
            inspection.interface = try first.interface()
        }
        try TFLiteExtent.check(model, outside: outside)
        metadata.properties.sort { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
        inspection.metadata = metadata
        return inspection
    }

    /// Counts a value of a signature before its name is noted: what a file has many of are those, not metadata.
    mutating func countSignatureValue(at offset: UInt64) throws(FormatError) {
        let limit = file.limits.signatureValues
        guard signatureValues < limit else {
            throw .limit(
                Self.format,
                which: "inputs and outputs of signatures",
                offset: offset,
                found: UInt64(limit) + 1,
                limit: UInt64(limit)
            )
        }
        signatureValues += 1
    }

    mutating func note(_ key: String, _ value: String, at offset: UInt64) throws(FormatError) {
        metadataBytes += UInt64(key.utf8.count + value.utf8.count)
        let count = metadata.properties.count + 1 - signatureValues
        try file.limits.check(pairs: count, bytes: metadataBytes, Self.format, at: offset)
        metadata.properties.append(ModelMetadata.Property(key: key, value: value))
    }

    /// Weights: inside the flatbuffer, or after it in files over 2 GiB.
    private mutating func readBuffers(_ model: FlatTable) throws(FormatError) -> FlatVector? {
        guard let buffers = try model.vector(12, "buffers")?.atMost(1_000_000) else { return nil }
        bufferCount = buffers.count
        for index in 0..<buffers.count {
            let table = try buffers.table(index)
            let data = try table.vector(4, width: 1, "data")
            guard let place = try table.placeOutside(6, 8, "offset", "size") else { continue }
            guard data?.count ?? 0 == 0 else { throw table.error("offset", .contradiction) }
            try claim(place, table)
        }
        return buffers
    }

    private mutating func claim(_ place: Range<UInt64>, _ table: FlatTable) throws(FormatError) {
        // Writers put one behind the other, with no more between them than an alignment.
        if let last = outside.last, last.upperBound <= place.lowerBound,
            try TFLiteExtent.isAlignment(last.upperBound..<place.lowerBound, in: file)
        {
            outside[outside.count - 1] = last.lowerBound..<place.upperBound
            return
        }
        guard outside.count < 65_536 else {
            throw file.limit("places of buffers", table.position, found: 65_537, limit: 65_536)
        }
        outside.append(place)
    }

    private mutating func readCodes(_ model: FlatTable) throws(FormatError) {
        guard let codes = try model.vector(6, "operator_codes")?.atMost(65_536) else { return }
        codeCount = codes.count
        var custom: Set<String> = []
        for index in 0..<codes.count {
            let table = try codes.table(index)
            if let code = try table.text(6, "custom_code", limit: 1_024) { custom.insert(code) }
        }
        guard !custom.isEmpty else { return }
        try note("custom_operators", custom.sorted().joined(separator: " "), at: codes.start)
    }

    private mutating func readSubgraphs(_ model: FlatTable) throws(FormatError) -> [TFLiteSubgraph] {
        guard let vector = try model.vector(8, "subgraphs")?.atMost(ShapeLimits.functions) else { return [] }
        var subgraphs: [TFLiteSubgraph] = []
        for index in 0..<vector.count {
            let table = try vector.table(index)
            subgraphs.append(try TFLiteSubgraph(table, buffers: bufferCount, operatorCodes: codeCount))
            guard let operators = try table.vector(10, "operators") else { continue }
            for number in 0..<operators.count {
                let operation = try operators.table(number)
                let (offset, size) = ("large_custom_options_offset", "large_custom_options_size")
                guard let place = try operation.placeOutside(22, 24, offset, size) else { continue }
                try claim(place, operation)
            }
        }
        return subgraphs
    }

    /// - Returns: The least runtime, where the file says one.
    private mutating func readMetadata(
        _ model: FlatTable,
        _ buffers: FlatVector?
    ) throws(FormatError) -> Requirements.Minimum? {
        guard let vector = try model.vector(16, "metadata")?.atMost(file.limits.metadataPairs) else {
            return nil
        }
        var runtime: Requirements.Minimum?
        for index in 0..<vector.count {
            let entry = try vector.table(index)
            let name = try entry.text(4, "name", limit: 1_024) ?? ""
            let number = try entry.number(6, "buffer", default: UInt32(0))
            guard let buffers, number < UInt32(buffers.count) else {
                throw entry.error("buffer", .badReference)
            }
            let content = try buffers.table(Int(number)).vector(4, width: 1, "data")
            try note("metadata.\(name)", "\(content?.count ?? 0) bytes", at: entry.position)
            guard name == "min_runtime_version", let content, content.count <= 64 else { continue }
            let bytes = try file.bytes(at: content.start, count: UInt64(content.count), limit: 64, name)
            let text = String(decoding: bytes.prefix { (0x21...0x7E).contains($0) }, as: UTF8.self)
            guard runtime == nil else { throw entry.error("name", .duplicate) }
            if !text.isEmpty { runtime = Requirements.Minimum(name: "tflite", minimum: text) }
        }
        return runtime
    }
}
