import Manifest
import Names

/// Whether each value of a model is made, once, and before it is used (ONNX IR, "Graphs"), as `onnx.checker` asks.
///
/// A node sees the inputs and initializers of its graph, what the nodes
/// before it made, and all that is seen by the node that the graph is an
/// attribute of; a function sees nothing from outside. What a node makes has
/// no name that it sees; inputs and initializers of an inner graph may have
/// one. What a graph gives must be its own.
///
/// In a file, nodes stand before the inputs and initializers that they use.
/// So this goes over the model once more, and over each graph thrice, with a
/// budget of its own.
struct ONNXValues {
    private let reader: ProtobufReader

    /// The graph or function that is looked at, after those that it is inside of.
    private var scopes: [ONNXScope] = []

    /// Values of all of them.
    private var count = 0

    /// Of a value, in bytes.
    static let longestName: UInt64 = 65_536

    init(_ source: any ByteSource, limits: FormatLimits) {
        reader = ProtobufReader(source, format: .onnx, limits: limits)
    }

    /// Looks at a model that was read and found whole.
    ///
    /// - Throws: `FormatError.malformed` at the first value that nothing makes, or that is made twice.
    consuming func check() throws(FormatError) {
        var fields = ProtobufFields(reader.root, in: reader)
        while let field = try fields.next() {
            switch field.number {
            case 7: try checkGraph(try field.message("graph", in: reader))
            case 25: try checkFunction(try field.message("function", in: reader))
            default: break
            }
        }
    }

    private mutating func checkGraph(_ message: ProtobufMessage) throws(FormatError) {
        scopes.append(ONNXScope())
        var fields = ProtobufFields(message, in: reader)
        while let field = try fields.next() {
            switch field.number {
            case 5: try make(try name(of: field, 8, "initializer"), by: .initializer)
            case 11: try make(try name(of: field, 1, "input"), by: .input)
            case 15: try make(try sparseName(of: field), by: .initializer)
            default: break
            }
        }
        try checkNodes(message, 1)
        var outputs = ProtobufFields(message, in: reader)
        while let field = try outputs.next() {
            guard field.number == 12 else { continue }
            let value = try name(of: field, 1, "output")
            let makers = scopes.last?.makers(of: value.key) ?? []
            guard !makers.isEmpty else { throw value.error(.neverMade) }
        }
        leave()
    }

    /// FunctionProto: what it gives is only asked to stand there once.
    private mutating func checkFunction(_ message: ProtobufMessage) throws(FormatError) {
        var outputs = ONNXScope()
        scopes.append(ONNXScope())
        var fields = ProtobufFields(message, in: reader)
        while let field = try fields.next() {
            switch field.number {
            case 4: try make(try text(of: field, "input"), by: .input)
            case 5:
                let value = try text(of: field, "output")
                guard outputs.makers(of: value.key).isEmpty else { throw value.error(.madeTwice) }
                try checkRoom(beside: outputs.count, for: value)
                outputs.insert(value.key, by: .node)
            default: break
            }
        }
        try checkNodes(message, 7)
        leave()
    }

    private mutating func checkNodes(_ message: ProtobufMessage, _ number: UInt32) throws(FormatError) {
        var fields = ProtobufFields(message, in: reader)
        while let field = try fields.next() {
            if field.number == number { try checkNode(try field.message("node", in: reader)) }
        }
    }

    /// NodeProto: what it makes is seen by the nodes after it, and not by graphs inside it.
    private mutating func checkNode(_ message: ProtobufMessage) throws(FormatError) {
        var fields = ProtobufFields(message, in: reader)
        while let field = try fields.next() {
            switch field.number {
            case 1:
                let value = try text(of: field, "input")
                guard value.isNone || isSeen(value.key) else { throw value.error(.neverMade) }
            case 5: try checkAttribute(try field.message("attribute", in: reader))
            default: break
            }
        }
        var outputs = ProtobufFields(message, in: reader)
        while let field = try outputs.next() {
            if field.number == 2 { try make(try text(of: field, "output"), by: .node) }
        }
    }

    private mutating func checkAttribute(_ message: ProtobufMessage) throws(FormatError) {
        var fields = ProtobufFields(message, in: reader)
        while let field = try fields.next() {
            switch field.number {
            case 6: try checkGraph(try field.message("g", in: reader))
            case 11: try checkGraph(try field.message("graphs", in: reader))
            default: break
            }
        }
    }

    // MARK: What is seen

    private func isSeen(_ key: ONNXScope.Key) -> Bool { scopes.contains { !$0.makers(of: key).isEmpty } }

    private mutating func make(_ value: Value, by makers: ONNXScope.Makers) throws(FormatError) {
        guard !value.isNone, let scope = scopes.indices.last else { return }
        let isTwice =
            makers == .node
            ? isSeen(value.key) : !scopes[scope].makers(of: value.key).isDisjoint(with: makers)
        guard !isTwice else { throw value.error(.madeTwice) }
        try checkRoom(beside: count, for: value)
        let before = scopes[scope].count
        scopes[scope].insert(value.key, by: makers)
        count += scopes[scope].count - before
    }

    private mutating func leave() { count -= scopes.popLast()?.count ?? 0 }

    private func checkRoom(beside count: Int, for value: Value) throws(FormatError) {
        let limit = reader.limits.values
        guard count < limit else { throw value.field.limit("values of graphs", limit) }
    }
}

// MARK: Names

extension ONNXValues {
    /// The name of a value, and where it stands.
    private struct Value {
        let name: [UInt8]
        let key: ONNXScope.Key
        let field: ProtobufField
        let what: String

        init(_ name: [UInt8], at field: ProtobufField, _ what: String) {
            self.name = name
            self.field = field
            self.what = what
            key = ONNXScope.Key(name)
        }

        /// Whether it is an optional one that is left out.
        var isNone: Bool { name.isEmpty }

        func error(_ malformation: FormatError.Malformation) -> FormatError {
            field.error("\(what) `\(String(decoding: name.prefix(128), as: UTF8.self))`", malformation)
        }
    }

    private func text(of field: ProtobufField, _ what: String) throws(FormatError) -> Value {
        Value(try bytes(field, what), at: field, what)
    }

    /// The name in field `number` of a message.
    private func name(
        of field: ProtobufField,
        _ number: UInt32,
        _ what: String
    ) throws(FormatError) -> Value {
        Value(try name(in: try field.message(what, in: reader), number), at: field, what)
    }

    /// SparseTensorProto: it has the name of its values.
    private func sparseName(of field: ProtobufField) throws(FormatError) -> Value {
        let what = "sparse_initializer"
        var name: [UInt8] = []
        var fields = ProtobufFields(try field.message(what, in: reader), in: reader)
        while let inner = try fields.next() {
            if inner.number == 1 { name = try self.name(in: try inner.message("values", in: reader), 8) }
        }
        return Value(name, at: field, what)
    }

    private func name(in message: ProtobufMessage, _ number: UInt32) throws(FormatError) -> [UInt8] {
        var name: [UInt8] = []
        var fields = ProtobufFields(message, in: reader)
        while let field = try fields.next() {
            if field.number == number { name = try bytes(field, "name") }
        }
        return name
    }

    private func bytes(_ field: ProtobufField, _ what: String) throws(FormatError) -> [UInt8] {
        try reader.bytes(field, limit: Self.longestName, which: "bytes of \(field.message.field).\(what)")
    }
}
