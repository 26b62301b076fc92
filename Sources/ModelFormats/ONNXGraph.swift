import Manifest
import Names

/// What is kept of the model's own graph.
struct ONNXGraph {
    var name = ""
    var inputs: [Feature] = []
    var outputs: [Feature] = []

    /// The whole, where nodes are looked up again.
    var message: ProtobufMessage?

    /// By the place of a node, the constant out of which it chooses what an output tells.
    var lists: [UInt64: FeatureName] = [:]

    /// Dense and sparse ones that have the name of an input, an output or such a list.
    var initializers: [FeatureName: ONNXInitializers.Found] = [:]

    /// Where each input and output stands in the file.
    var inputOffsets: [UInt64] = []
    var outputOffsets: [UInt64] = []
}

/// Graphs: the model's own, and those inside attributes.
extension ONNXReader {
    /// GraphProto of the model: its interface is the model's.
    mutating func readGraph(_ message: ProtobufMessage) throws(FormatError) -> ONNXGraph {
        var graph = ONNXGraph()
        var initializers = ONNXInitializers(limits: reader.limits)
        var fields = ProtobufFields(message, singular: [2, 10], in: reader)
        while let field = try fields.next() {
            switch field.number {
            case 2: graph.name = try field.text("name", limit: 65_536, in: reader)
            case 11:
                graph.inputs.append(try readFeature(field, "input", after: graph.inputs.count))
                graph.inputOffsets.append(field.offset)
            case 12:
                graph.outputs.append(try readFeature(field, "output", after: graph.outputs.count))
                graph.outputOffsets.append(field.offset)
            default:
                if let tensor = try readContent(field, isNested: false) {
                    try initializers.add(tensor, at: field)
                }
            }
        }
        graph.message = message
        graph.lists = try readLists(of: graph)
        let names = (graph.inputs + graph.outputs).map(\.name) + graph.lists.values
        graph.initializers = try initializers.named(names, in: reader)
        return graph
    }

    /// GraphProto inside an attribute: walked for what may hide there.
    mutating func walkGraph(_ message: ProtobufMessage) throws(FormatError) {
        var fields = ProtobufFields(message, singular: [2, 10], in: reader)
        while let field = try fields.next() { _ = try readContent(field, isNested: true) }
    }

    /// What any graph may hold.
    ///
    /// - Returns: An initializer, if the field is one.
    private mutating func readContent(
        _ field: ProtobufField,
        isNested: Bool
    ) throws(FormatError) -> ONNXTensor? {
        switch field.number {
        case 1: try readNode(field, isNested: isNested)
        case 5: return try readTensor(try field.message("initializer", in: reader))
        case 15: return try readSparseTensor(try field.message("sparse_initializer", in: reader))
        default: break
        }
        return nil
    }

    /// An initializer of the name of an input or output must be a value of its type.
    private func checkInitializers(_ graph: ONNXGraph) throws(FormatError) {
        for feature in graph.inputs + graph.outputs {
            guard let (tensor, field) = graph.initializers[feature.name] else { continue }
            let declared: TensorType
            switch feature.type {
            case .tensor(let type), .sparseTensor(let type): declared = type
            default: throw field.error("initializer `\(feature.name)`", .contradiction)
            }
            guard declared.element == tensor.element, declared.shape.takes(tensor.dimensions) else {
                throw field.error("initializer `\(feature.name)`", .contradiction)
            }
        }
    }

    /// ValueInfoProto of an input or output.
    private mutating func readFeature(
        _ field: ProtobufField,
        _ what: String,
        after count: Int
    ) throws(FormatError) -> Feature {
        guard count < ShapeLimits.features else { throw field.limit("\(what)s", ShapeLimits.features) }
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
        try reader.spend(interface: InterfaceCost.feature(name), at: field.offset)
        if case .maybe(let inner) = type { return Feature(name: name, type: inner, isOptional: true) }
        return Feature(name: name, type: type)
    }

    /// Real inputs first, then initializers that a caller may override.
    ///
    /// Before IR version 4 every initializer had to be listed as an input and
    /// is a constant; since then one that is listed is an optional input.
    func interface(of graph: ONNXGraph, irVersion: Int64) throws(FormatError) -> Interface {
        try checkDistinct(graph.inputs, graph.inputOffsets, "input")
        try checkDistinct(graph.outputs, graph.outputOffsets, "output")
        try checkInitializers(graph)
        let real = graph.inputs.filter { graph.initializers[$0.name] == nil }
        var overridable: [Feature] = []
        if irVersion >= 4 {
            overridable = graph.inputs.filter { graph.initializers[$0.name] != nil }
            for index in overridable.indices { overridable[index].isOptional = true }
        }
        return Interface(inputs: real + overridable, outputs: graph.outputs)
    }

    private func checkDistinct(
        _ features: [Feature],
        _ offsets: [UInt64],
        _ what: String
    ) throws(FormatError) {
        var keys: Set<String> = []
        for (feature, offset) in zip(features, offsets)
        where !keys.insert(feature.name.lookAlikeKey).inserted {
            let field = "graph.\(what) `\(feature.name)`"
            throw .malformed(.onnx, field: field, offset: offset, .duplicateName)
        }
    }
}

extension Shape {
    /// Whether a declared shape has room for these sizes; a symbol has room for any.
    fileprivate func takes(_ sizes: [Int64]) -> Bool {
        guard case .dimensions(let dimensions) = self else { return true }
        return dimensions.count == sizes.count
            && zip(dimensions, sizes).allSatisfy { dimension, size in
                if case .fixed(let only) = dimension { only == size } else { true }
            }
    }
}
