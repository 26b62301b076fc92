import Manifest
import Names

/// Nodes, attributes and local functions, walked for what may hide in them.
extension ONNXReader {
    /// NodeProto.
    mutating func readNode(_ field: ProtobufField, isNested: Bool) throws(FormatError) {
        let message = try field.message("node", in: reader)
        var operation = ""
        var domain = ""
        var overload = ""
        var names = ONNXNodeNames()
        var fields = ProtobufFields(message, singular: [3, 4, 6, 7, 8], in: reader)
        while let inner = try fields.next() {
            switch inner.number {
            case 1, 2: names.add(inner)
            case 4: operation = try inner.text("op_type", limit: 1_024, in: reader)
            case 5: try readAttribute(try inner.message("attribute", in: reader))
            case 7: domain = try inner.text("domain", limit: 1_024, in: reader)
            case 8: overload = try inner.text("overload", limit: 1_024, in: reader)
            default: break
            }
        }
        if operation == "EPContext" {
            throw .refused(.onnx, field: "node", offset: field.offset, .deviceContext)
        }
        let written = Self.written(domain)
        try note(domain: written, at: field)
        let isForeign = !Self.knownDomains.contains(written)
        if isForeign || calls != nil {
            let identity = ONNXFunctions.Identity(domain: written, name: operation, overload: overload)
            let number = try functions.call(identity, operation, isForeign: isForeign, at: field)
            calls?.insert(number)
        }
        guard !isForeign, written != "com.microsoft" else { return }
        let isOfClassifiers = written == "ai.onnx.ml"
        let namesClasses = ONNXLabels.namesClasses(operation, isOfClassifiers: isOfClassifiers)
        if namesClasses { labels.noteClassifier() }
        guard !isNested else { return }
        if namesClasses, try readClassLabels(ofNode: message)?.hasDuplicate == true {
            throw field.error("classlabels", .duplicateName)
        }
        guard labels.concerns(operation, isOfClassifiers: isOfClassifiers) else { return }
        labels.follow(
            ONNXLabels.Node(
                operation: operation,
                isOfClassifiers: isOfClassifiers,
                inputs: try names.inputs(in: reader),
                outputs: try names.outputs(in: reader),
                offset: field.offset
            )
        )
    }

    /// FunctionProto: a domain of its own, operator sets of its own, and nodes.
    mutating func readFunction(_ message: ProtobufMessage) throws(FormatError) {
        var name = ""
        var domain: String?
        var overload = ""
        var imported: [String: Int64] = [:]
        calls = []
        defer { calls = nil }
        var fields = ProtobufFields(message, singular: [1, 8, 10, 13], in: reader)
        while let field = try fields.next() {
            switch field.number {
            case 1: name = try field.text("name", limit: 1_024, in: reader)
            case 7: try readNode(field, isNested: true)
            case 9: try readOpset(ofFunction: field, after: &imported)
            case 10: domain = try field.text("domain", limit: 1_024, in: reader)
            case 11: try readAttribute(try field.message("attribute_proto", in: reader))
            case 13: overload = try field.text("overload", limit: 1_024, in: reader)
            default: break
            }
        }
        let written = Self.written(domain ?? "")
        try note(definedDomain: written, at: message)
        let identity = ONNXFunctions.Identity(domain: written, name: name, overload: overload)
        try functions.define(identity, calling: calls ?? [], at: message)
    }

    /// AttributeProto: every way in which it can hold tensors.
    private mutating func readAttribute(_ message: ProtobufMessage) throws(FormatError) {
        var fields = ProtobufFields(message, singular: [1, 2, 3, 4, 5, 6, 13, 14, 20, 21, 22], in: reader)
        while let field = try fields.next() {
            switch field.number {
            case 1: _ = try field.text("name", limit: 1_024, in: reader)
            case 5: _ = try readTensor(try field.message("t", in: reader))
            case 6: try walkGraph(try field.message("g", in: reader))
            case 10: _ = try readTensor(try field.message("tensors", in: reader))
            case 11: try walkGraph(try field.message("graphs", in: reader))
            case 22: _ = try readSparseTensor(try field.message("sparse_tensor", in: reader))
            case 23: _ = try readSparseTensor(try field.message("sparse_tensors", in: reader))
            default: break
            }
        }
    }
}

/// The first two inputs and outputs of a node, read when they are worth it.
private struct ONNXNodeNames {
    private var inputs: (ProtobufField?, ProtobufField?)
    private var outputs: (ProtobufField?, ProtobufField?)

    mutating func add(_ field: ProtobufField) {
        if field.number == 1 { Self.add(field, to: &inputs) } else { Self.add(field, to: &outputs) }
    }

    private static func add(_ field: ProtobufField, to pair: inout (ProtobufField?, ProtobufField?)) {
        if pair.0 == nil { pair.0 = field } else if pair.1 == nil { pair.1 = field }
    }

    func inputs(in reader: ProtobufReader) throws(FormatError) -> [ONNXScope.Key?] {
        [try Self.key(inputs.0, reader), try Self.key(inputs.1, reader)]
    }

    func outputs(in reader: ProtobufReader) throws(FormatError) -> [ONNXScope.Key?] {
        [try Self.key(outputs.0, reader), try Self.key(outputs.1, reader)]
    }

    /// - Returns: `nil` for one that is left out.
    private static func key(
        _ field: ProtobufField?,
        _ reader: ProtobufReader
    ) throws(FormatError) -> ONNXScope.Key? {
        guard let field else { return nil }
        let limit = ONNXValues.longestName
        let name = try reader.bytes(field, limit: limit, which: "bytes of node.\(field.number)")
        return name.isEmpty ? nil : ONNXScope.Key(name)
    }
}
