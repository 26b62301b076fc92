import Manifest

/// Where lists of class labels stand in an ONNX file: attributes of classifiers, and constants.
extension ONNXReader {
    /// The labels among a node's attributes; `nil` where it has none, or different ones.
    func readClassLabels(ofNode message: ProtobufMessage) throws(FormatError) -> ClassLabels? {
        var collected: CollectedLabels?
        var fields = ProtobufFields(message, in: reader)
        while let field = try fields.next() {
            guard field.number == 5 else { continue }
            let attribute = try field.message("attribute", in: reader)
            guard ONNXLabels.attributes.contains(try nameOfAttribute(attribute)) else { continue }
            var one = CollectedLabels()
            var values = ProtobufFields(attribute, in: reader)
            while let value = try values.next() {
                switch value.number {
                case 8: try one.appendIntegers(value, "ints", in: reader)
                case 9: try one.appendText(value, "strings", in: reader)
                default: break
                }
            }
            guard one.count > 0 else { continue }
            guard collected == nil || collected == one else { return nil }
            collected = one
        }
        return collected?.labels
    }

    /// Nothing behind the name is looked at.
    private func nameOfAttribute(_ message: ProtobufMessage) throws(FormatError) -> String {
        var fields = ProtobufFields(message, in: reader)
        while let field = try fields.next() {
            if field.number == 1 { return try field.text("name", limit: 1_024, in: reader) }
        }
        return ""
    }

    /// By node, the list out of which what an output tells is chosen.
    func readLists(of graph: ONNXGraph) throws(FormatError) -> [UInt64: FeatureName] {
        var names: [UInt64: FeatureName] = [:]
        for output in graph.outputs {
            guard let origin = labels.origin(of: ONNXScope.Key(of: output.name)), origin.role == .chosen,
                names[origin.node] == nil, let node = try graph.node(at: origin.node, in: reader)
            else { continue }
            var fields = ProtobufFields(node, in: reader)
            while let field = try fields.next() {
                guard field.number == 1 else { continue }
                let text = try field.text("input", limit: ONNXValues.longestName, in: reader)
                names[origin.node] = FeatureName(text)
                break
            }
        }
        return names
    }

    /// A constant as class labels: texts or integers in one dimension, none twice.
    ///
    /// - Returns: `nil` for anything else, and for what a manifest has no room for.
    func readList(_ list: ONNXInitializers.Found) throws(FormatError) -> ClassLabels? {
        let sizes = list.tensor.dimensions.filter { $0 != 1 }
        let message = try list.field.message("initializer", in: reader)
        let length = message.range.upperBound - message.range.lowerBound
        // As JSON a text takes at most a byte more than here, and a number up to 21.
        let limit = min(reader.limits.labelBytes / 22, UInt64(reader.limits.labels))
        guard list.field.number == 5, sizes.count <= 1, (0...Int64(limit)).contains(sizes.first ?? 1),
            length <= reader.limits.labelBytes / 2
        else { return nil }
        var found = CollectedLabels()
        var raw: [UInt8] = []
        var fields = ProtobufFields(message, in: reader)
        while let field = try fields.next() {
            switch (field.number, list.tensor.element) {
            case (6, .string): try found.appendText(field, "string_data", in: reader)
            case (7, .int64), (5, .int32): try found.appendIntegers(field, "int_data", in: reader)
            case (9, .int64), (9, .int32):
                raw = try reader.bytes(field, limit: reader.limits.labelBytes, which: "bytes of class labels")
            default: break
            }
        }
        let labels = raw.isEmpty ? found.labels : list.tensor.element.map { .integers(raw.integers(of: $0)) }
        return labels?.hasDuplicate == true ? nil : labels
    }
}

extension [UInt8] {
    /// Little-endian ones of four or eight bytes.
    fileprivate func integers(of element: ElementType) -> [Int64] {
        let width = element == .int32 ? 4 : 8
        return stride(from: 0, to: count - count % width, by: width).map { start in
            let bits = self[start..<start + width].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            return width == 4 ? Int64(Int32(truncatingIfNeeded: bits)) : Int64(bitPattern: bits)
        }
    }
}

extension ONNXGraph {
    /// A node that was read before, by its place in the file.
    func node(at offset: UInt64, in reader: ProtobufReader) throws(FormatError) -> ProtobufMessage? {
        guard let message, let field = try reader.field(at: offset, in: message) else { return nil }
        return try field.message("node", in: reader)
    }
}

extension ONNXScope.Key {
    init(of name: FeatureName) { self.init(Array(name.description.utf8)) }
}
