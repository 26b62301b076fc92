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
        var found = ONNXLabels()
        var fields = ProtobufFields(message, singular: [3, 4, 6, 7, 8], in: reader)
        while let inner = try fields.next() {
            switch inner.number {
            case 4: operation = try inner.text("op_type", limit: 1_024, in: reader)
            case 5: try readAttribute(try inner.message("attribute", in: reader), into: &found)
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
        if !isNested, domain == "ai.onnx.ml", ONNXLabels.operations.contains(operation) {
            guard !found.hasDuplicate else { throw field.error("classlabels", .duplicateName) }
            labels.merge(found)
        }
    }

    /// FunctionProto: a domain of its own, operator sets of its own, and nodes.
    mutating func readFunction(_ message: ProtobufMessage) throws(FormatError) {
        var name = ""
        var domain: String?
        var overload = ""
        var imported: Set<String> = []
        calls = []
        defer { calls = nil }
        var ignored = ONNXLabels()
        var fields = ProtobufFields(message, singular: [1, 8, 10, 13], in: reader)
        while let field = try fields.next() {
            switch field.number {
            case 1: name = try field.text("name", limit: 1_024, in: reader)
            case 7: try readNode(field, isNested: true)
            case 9: try readOpset(ofFunction: field, after: &imported)
            case 10: domain = try field.text("domain", limit: 1_024, in: reader)
            case 11: try readAttribute(try field.message("attribute_proto", in: reader), into: &ignored)
            case 13: overload = try field.text("overload", limit: 1_024, in: reader)
            default: break
            }
        }
        let written = Self.written(domain ?? "")
        try note(definedDomain: written, at: message)
        let identity = ONNXFunctions.Identity(domain: written, name: name, overload: overload)
        try functions.define(identity, calling: calls ?? [], at: message)
    }

    /// AttributeProto: every way in which it can hold tensors, and class labels.
    private mutating func readAttribute(
        _ message: ProtobufMessage,
        into found: inout ONNXLabels
    ) throws(FormatError) {
        var name = ""
        var values = ONNXLabels()
        var fields = ProtobufFields(message, singular: [1, 2, 3, 4, 5, 6, 13, 14, 20, 21, 22], in: reader)
        while let field = try fields.next() {
            switch field.number {
            case 1: name = try field.text("name", limit: 1_024, in: reader)
            case 5: _ = try readTensor(try field.message("t", in: reader))
            case 6: try walkGraph(try field.message("g", in: reader))
            case 8: try values.addIntegers(field, in: reader, isLabels: ONNXLabels.attributes.contains(name))
            case 9: try values.addText(field, in: reader, isLabels: ONNXLabels.attributes.contains(name))
            case 10: _ = try readTensor(try field.message("tensors", in: reader))
            case 11: try walkGraph(try field.message("graphs", in: reader))
            case 22: _ = try readSparseTensor(try field.message("sparse_tensor", in: reader))
            case 23: _ = try readSparseTensor(try field.message("sparse_tensors", in: reader))
            default: break
            }
        }
        if ONNXLabels.attributes.contains(name) { found.merge(values) }
    }
}
