import Manifest
import Names

/// Reads an ONNX model (ModelProto, ONNX 1.23) without reading its weights.
///
/// In order: the fields of the model; its graph, with every nested graph,
/// attribute and local function, because external data and foreign operators
/// can hide in each; then what only the whole can say: which inputs are real,
/// which operator domains are defined, which files belong to the model.
struct ONNXReader {
    let reader: ProtobufReader
    var metadata = ModelMetadata()
    var metadataBytes: UInt64 = 0
    var propertyKeys: Set<[UInt8]> = []
    var irVersion: Int64?
    var opsets: [String: Int64] = [:]
    var external: ONNXExternalData

    /// Goes over the model again when all else was found well.
    private let values: ONNXValues
    var labels: ONNXLabels
    var functions: ONNXFunctions

    /// What the function that is being read has called so far, by number; `nil` in the model's graph.
    var calls: Set<Int32>?

    /// Of all dimensions, by what people would see.
    var symbols: [String: FeatureName] = [:]

    /// What the local functions import, each domain in its greatest version.
    private var functionOpsets: [String: Int64] = [:]

    /// Operator domains of nodes, also in nested graphs and functions, with the first place of each.
    var usedDomains: [String: ProtobufField] = [:]

    /// Domains that local functions of this model define.
    var definedDomains: Set<String> = []

    static let format = ModelFormat.onnx

    /// Operators that come with the runtimes that Sealift knows.
    static let knownDomains: Set<String> = ["ai.onnx", "ai.onnx.ml", "com.microsoft"]

    /// Takes the file's own name too, since a file cannot lie beside itself.
    init(_ source: any ByteSource, name: String, limits: FormatLimits) {
        reader = ProtobufReader(source, format: Self.format, limits: limits)
        external = ONNXExternalData(limits: limits, ownName: name)
        labels = ONNXLabels(limits: limits)
        functions = ONNXFunctions(limits: limits)
        values = ONNXValues(source, limits: limits)
    }

    /// Reads the whole model.
    consuming func inspection() throws(FormatError) -> Inspection {
        var graph: ONNXGraph?
        var fields = ProtobufFields(reader.root, singular: [1, 2, 3, 4, 5, 6, 7], in: reader)
        while let field = try fields.next() {
            switch field.number {
            case 1: irVersion = try field.integer("ir_version")
            case 2: metadata.producerName = try text(field, "producer_name")
            case 3: metadata.producerVersion = try text(field, "producer_version")
            case 4: metadata.domain = try text(field, "domain")
            case 5: metadata.modelVersion = try field.integer("model_version")
            case 6: metadata.documentation = try text(field, "doc_string")
            case 7: graph = try readGraph(try field.message("graph", in: reader))
            case 8:
                let (domain, version) = try readOpset(field)
                try checkRoom(for: opsets.count, at: field.offset)
                try Self.take(domain, version, from: field, into: &opsets)
            case 14: try readProperty(field)
            case 20:
                throw FormatError.refused(.onnx, field: "training_info", offset: field.offset, .trainingInfo)
            case 25: try readFunction(try field.message("function", in: reader))
            default: break
            }
        }
        guard let graph else { throw missing("graph") }
        guard let irVersion else { throw missing("ir_version") }
        // Only here, since any file without a name is tried as ONNX.
        let length = reader.root.range.upperBound
        guard length <= UInt64(Int32.max) else {
            throw .refused(.onnx, field: "model", offset: UInt64(Int32.max), .beyondProtobuf(length))
        }
        guard (1...Int64(Int32.max)).contains(irVersion) else {
            throw FormatError.malformed(.onnx, field: "model.ir_version", offset: 0, .outOfRange)
        }
        guard irVersion < 3 || opsets["ai.onnx"] != nil || !opsets.isEmpty else {
            throw missing("opset_import")
        }
        try checkDomains()
        try functions.check(reader.root)
        // A function is run with operator sets of its own: a runtime needs the greatest of all.
        opsets.merge(functionOpsets, uniquingKeysWith: max)
        // Others are imported and never used, as ONNX Runtime's optimizer does with all that it knows.
        opsets = opsets.filter { comesWithModelOrRuntime($0.key) }
        metadata.graphName = graph.name
        metadata.properties.sort { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
        var interface = try interface(of: graph, irVersion: irVersion)
        try values.check()
        let found = try foundLabels(in: graph, interface)
        interface.labels = found.labels
        var inspection = Inspection(
            format: .onnx,
            interface: interface,
            requires: Requirements(irVersion: irVersion, opsets: opsets),
            externalFiles: try external.files(),
            metadata: metadata
        )
        inspection.notes = found.notes
        return inspection
    }

    private func missing(_ name: String) -> FormatError {
        .malformed(.onnx, field: "model.\(name)", offset: reader.root.range.upperBound, .missing)
    }

    private mutating func text(_ field: ProtobufField, _ name: String) throws(FormatError) -> String {
        let text = try field.text(name, limit: reader.limits.metadataValue, in: reader)
        metadataBytes += UInt64(text.utf8.count)
        guard metadataBytes <= reader.limits.metadataTotal else {
            let limit = reader.limits.metadataTotal
            throw .limit(
                .onnx,
                which: "bytes of metadata",
                offset: field.offset,
                found: metadataBytes,
                limit: limit
            )
        }
        return text
    }

    /// OperatorSetIdProto.
    private func readOpset(_ field: ProtobufField) throws(FormatError) -> (domain: String, version: Int64) {
        var domain = ""
        var version: Int64?
        var fields = ProtobufFields(
            try field.message("opset_import", in: reader),
            singular: [1, 2],
            in: reader
        )
        while let inner = try fields.next() {
            switch inner.number {
            case 1: domain = try inner.text("domain", limit: 1_024, in: reader)
            case 2: version = try inner.integer("version")
            default: break
            }
        }
        guard let version, (1...Int64(Int32.max)).contains(version) else {
            throw field.error("opset_import.version", version == nil ? .missing : .outOfRange)
        }
        return (Self.written(domain), version)
    }

    /// Takes an import, or the same one again, as skl2onnx writes it; in two versions it would say nothing.
    private static func take(
        _ domain: String,
        _ version: Int64,
        from field: ProtobufField,
        into imported: inout [String: Int64]
    ) throws(FormatError) {
        guard imported.updateValue(version, forKey: domain) ?? version == version else {
            throw field.error("opset_import", .duplicate)
        }
    }

    /// One that a local function imports, after those that it imported before.
    mutating func readOpset(
        ofFunction field: ProtobufField,
        after imported: inout [String: Int64]
    ) throws(FormatError) {
        let (domain, version) = try readOpset(field)
        if functionOpsets[domain] == nil { try checkRoom(for: functionOpsets.count, at: field.offset) }
        try Self.take(domain, version, from: field, into: &imported)
        functionOpsets[domain] = max(version, functionOpsets[domain] ?? version)
    }

    private mutating func readProperty(_ field: ProtobufField) throws(FormatError) {
        var key: String?
        var value = ""
        var fields = ProtobufFields(
            try field.message("metadata_props", in: reader),
            singular: [1, 2],
            in: reader
        )
        while let inner = try fields.next() {
            switch inner.number {
            case 1: key = try text(inner, "key")
            case 2: value = try text(inner, "value")
            default: break
            }
        }
        guard let key else { throw field.error("metadata_props.key", .missing) }
        guard propertyKeys.insert(Array(key.utf8)).inserted else {
            throw field.error("metadata_props", .duplicate)
        }
        guard metadata.properties.count < reader.limits.metadataPairs else {
            throw field.limit("metadata pairs", reader.limits.metadataPairs)
        }
        metadata.properties.append(ModelMetadata.Property(key: key, value: value))
    }

    /// The domain `""` is `ai.onnx`.
    static func written(_ domain: String) -> String { domain.isEmpty ? "ai.onnx" : domain }

    mutating func note(domain: String, at field: ProtobufField) throws(FormatError) {
        guard usedDomains[domain] == nil else { return }
        try checkRoom(for: usedDomains.count, at: field.offset)
        usedDomains[domain] = field
    }

    mutating func note(definedDomain domain: String, at message: ProtobufMessage) throws(FormatError) {
        try checkRoom(for: definedDomains.count, at: message.range.lowerBound)
        definedDomains.insert(domain)
    }

    private func checkRoom(for count: Int, at offset: UInt64) throws(FormatError) {
        let limit = UInt64(reader.limits.domains)
        guard count < limit else {
            throw .limit(.onnx, which: "operator domains", offset: offset, found: limit + 1, limit: limit)
        }
    }

    private func comesWithModelOrRuntime(_ domain: String) -> Bool {
        let isPlain = domain.utf8.allSatisfy { (0x21...0x7E).contains($0) }
        return Self.knownDomains.contains(domain) || isPlain && definedDomains.contains(domain)
    }

    /// Every operator must come with a runtime, or be defined inside the model.
    private func checkDomains() throws(FormatError) {
        let foreign = usedDomains.filter { !comesWithModelOrRuntime($0.key) }
        guard let first = foreign.min(by: { $0.value.offset < $1.value.offset }) else { return }
        let domain = String(first.key.prefix(128))
        throw .refused(
            .onnx,
            field: first.value.message.field,
            offset: first.value.offset,
            .operatorDomain(domain)
        )
    }
}
