import Manifest
import Names

/// What is kept of the model's own graph.
struct ONNXGraph {
    var name = ""
    var inputs: [Feature] = []
    var outputs: [Feature] = []

    /// Names of dense and sparse initializers.
    var initializers: Set<FeatureName> = []
}

/// Graphs: the model's own, and those inside attributes.
extension ONNXReader {
    /// GraphProto of the model: its interface is the model's.
    mutating func readGraph(_ message: ProtobufMessage) throws(FormatError) -> ONNXGraph {
        var graph = ONNXGraph()
        var fields = ProtobufFields(message, singular: [2, 10], in: reader)
        while let field = try fields.next() {
            switch field.number {
            case 2: graph.name = try field.text("name", limit: 65_536, in: reader)
            case 11: graph.inputs.append(try readFeature(field, "input", after: graph.inputs.count))
            case 12: graph.outputs.append(try readFeature(field, "output", after: graph.outputs.count))
            default: try readContent(field, of: &graph, isNested: false)
            }
        }
        return graph
    }

    /// GraphProto inside an attribute: walked for what may hide there.
    mutating func walkGraph(_ message: ProtobufMessage) throws(FormatError) {
        var graph = ONNXGraph()
        var fields = ProtobufFields(message, singular: [2, 10], in: reader)
        while let field = try fields.next() { try readContent(field, of: &graph, isNested: true) }
    }

    private mutating func readContent(
        _ field: ProtobufField,
        of graph: inout ONNXGraph,
        isNested: Bool
    ) throws(FormatError) {
        switch field.number {
        case 1: try readNode(field, isNested: isNested)
        case 5:
            let name = try readTensor(try field.message("initializer", in: reader))
            if !isNested { try add(name, to: &graph, field) }
        case 15:
            let name = try readSparseTensor(try field.message("sparse_initializer", in: reader))
            if !isNested { try add(name, to: &graph, field) }
        default: break
        }
    }

    private func add(_ name: String, to graph: inout ONNXGraph, _ field: ProtobufField) throws(FormatError) {
        guard let name = FeatureName(name) else { throw field.error("initializer.name", .badName) }
        guard graph.initializers.insert(name).inserted else {
            throw field.error("initializer.name", .duplicateName)
        }
    }

    /// ValueInfoProto of an input or output.
    private func readFeature(
        _ field: ProtobufField,
        _ what: String,
        after count: Int
    ) throws(FormatError) -> Feature {
        guard count < ShapeLimits.features else {
            let limit = UInt64(ShapeLimits.features)
            throw .limit(
                .onnx,
                which: "\(what)s",
                offset: field.offset,
                found: UInt64(count) + 1,
                limit: limit
            )
        }
        var name: FeatureName?
        var type: ValueType?
        var fields = ProtobufFields(try field.message(what, in: reader), singular: [1, 2, 3], in: reader)
        while let inner = try fields.next() {
            switch inner.number {
            case 1: name = try inner.name("name", in: reader)
            case 2: type = try readType(try inner.message("type", in: reader), nesting: 0)
            default: break
            }
        }
        guard let name else { throw field.error("\(what).name", .missing) }
        guard let type else { throw field.error("\(what).type", .missing) }
        if case .maybe(let inner) = type { return Feature(name: name, type: inner, isOptional: true) }
        return Feature(name: name, type: type)
    }

    /// Real inputs first, then initializers that a caller may override.
    ///
    /// Before IR version 4 every initializer had to be listed as an input and
    /// is a constant; since then one that is listed is an optional input.
    func interface(of graph: ONNXGraph, irVersion: Int64) throws(FormatError) -> Interface {
        try checkDistinct(graph.inputs, "input")
        try checkDistinct(graph.outputs, "output")
        let real = graph.inputs.filter { !graph.initializers.contains($0.name) }
        var overridable: [Feature] = []
        if irVersion >= 4 {
            overridable = graph.inputs.filter { graph.initializers.contains($0.name) }
            for index in overridable.indices { overridable[index].isOptional = true }
        }
        return Interface(
            inputs: real + overridable,
            outputs: graph.outputs,
            labels: labels.found(metadata: metadata, limits: reader.limits)
        )
    }

    private func checkDistinct(_ features: [Feature], _ what: String) throws(FormatError) {
        var keys: Set<[UInt8]> = []
        for feature in features where !keys.insert(feature.name.lookAlikeKey).inserted {
            throw .malformed(.onnx, field: "graph.\(what) `\(feature.name)`", offset: 0, .duplicateName)
        }
    }
}
