import Manifest
import Names

/// TypeProto, brought to the normal form.
extension ONNXReader {
    /// The numbers of the fields of which a TypeProto may have one.
    private static let choices: FieldNumbers = [1, 4, 5, 7, 8, 9]

    mutating func readType(_ message: ProtobufMessage, nesting: Int) throws(FormatError) -> ValueType {
        guard nesting < ShapeLimits.typeNesting else {
            let limit = UInt64(ShapeLimits.typeNesting)
            throw .limit(
                .onnx,
                which: "nesting of types",
                offset: message.range.lowerBound,
                found: UInt64(nesting) + 1,
                limit: limit
            )
        }
        var type: ValueType?
        var fields = ProtobufFields(message, singular: [1, 4, 5, 6, 7, 8, 9], in: reader)
        while let field = try fields.next() {
            guard Self.choices.contains(field.number) else { continue }
            guard type == nil else { throw field.error("value", .contradiction) }
            type = try readChoice(field, nesting: nesting)
        }
        guard let type else {
            throw .malformed(
                .onnx,
                field: "\(message.field).value",
                offset: message.range.lowerBound,
                .missing
            )
        }
        return type
    }

    private mutating func readChoice(_ field: ProtobufField, nesting: Int) throws(FormatError) -> ValueType {
        switch field.number {
        case 1: .tensor(try readTensorType(try field.message("tensor_type", in: reader)))
        case 4: .sequence(of: try readElementType(field, "sequence_type", nesting), count: .any)
        case 5: try readMapType(field, nesting: nesting)
        case 7: try readOpaqueType(try field.message("opaque_type", in: reader))
        case 8: .sparseTensor(try readTensorType(try field.message("sparse_tensor_type", in: reader)))
        default: .maybe(try readElementType(field, "optional_type", nesting))
        }
    }

    private mutating func readElementType(
        _ field: ProtobufField,
        _ name: String,
        _ nesting: Int
    ) throws(FormatError) -> ValueType {
        var type: ValueType?
        var fields = ProtobufFields(try field.message(name, in: reader), singular: [1], in: reader)
        while let inner = try fields.next() {
            guard inner.number == 1 else { continue }
            type = try readType(try inner.message("elem_type", in: reader), nesting: nesting + 1)
        }
        guard let type else { throw field.error("\(name).elem_type", .missing) }
        return type
    }

    private mutating func readMapType(_ field: ProtobufField, nesting: Int) throws(FormatError) -> ValueType {
        var key: ElementType?
        var value: ValueType?
        var fields = ProtobufFields(try field.message("map_type", in: reader), singular: [1, 2], in: reader)
        while let inner = try fields.next() {
            switch inner.number {
            case 1: key = try readElement(inner, "key_type")
            case 2: value = try readType(try inner.message("value_type", in: reader), nesting: nesting + 1)
            default: break
            }
        }
        guard let key, let value else { throw field.error("map_type", .missing) }
        return .map(key: key, of: value)
    }

    private func readOpaqueType(_ message: ProtobufMessage) throws(FormatError) -> ValueType {
        var domain = ""
        var name = ""
        var fields = ProtobufFields(message, singular: [1, 2], in: reader)
        while let field = try fields.next() {
            switch field.number {
            case 1: domain = try field.text("domain", limit: 1_024, in: reader)
            case 2: name = try field.text("name", limit: 1_024, in: reader)
            default: break
            }
        }
        return .opaque(domain: domain, name: name)
    }

    private func readElement(_ field: ProtobufField, _ name: String) throws(FormatError) -> ElementType {
        let number = UInt64(bitPattern: try field.integer(name))
        guard let element = ONNXElements.element(number) else {
            throw field.error(name, .unknownElementType(number))
        }
        return element
    }

    /// A shape that is absent means an unknown rank; one without dimensions means a scalar.
    private mutating func readTensorType(_ message: ProtobufMessage) throws(FormatError) -> TensorType {
        var element: ElementType?
        var shape = Shape.unknownRank
        var fields = ProtobufFields(message, singular: [1, 2], in: reader)
        while let field = try fields.next() {
            switch field.number {
            case 1: element = try readElement(field, "elem_type")
            case 2: shape = .dimensions(try readShape(try field.message("shape", in: reader)))
            default: break
            }
        }
        guard let element else {
            let offset = message.range.lowerBound
            throw .malformed(.onnx, field: "\(message.field).elem_type", offset: offset, .missing)
        }
        return TensorType(element: element, shape: shape)
    }

    private mutating func readShape(_ message: ProtobufMessage) throws(FormatError) -> [Dimension] {
        var dimensions: [Dimension] = []
        var elements: Int64 = 1
        var fields = ProtobufFields(message, in: reader)
        while let field = try fields.next() {
            guard field.number == 1 else { continue }
            guard dimensions.count < ShapeLimits.rank else {
                throw field.limit("dimensions", ShapeLimits.rank)
            }
            let dimension = try readDimension(field)
            if case .fixed(let size) = dimension, size > 0 {
                let (product, overflow) = elements.multipliedReportingOverflow(by: size)
                guard !overflow, product <= ShapeLimits.elements else {
                    let limit = UInt64(ShapeLimits.elements)
                    throw .limit(
                        .onnx,
                        which: "elements of a tensor",
                        offset: field.offset,
                        found: .max,
                        limit: limit
                    )
                }
                elements = product
            }
            try reader.spend(interface: InterfaceCost.dimension(dimension), at: field.offset)
            dimensions.append(dimension)
        }
        return dimensions
    }

    /// A value, a symbol, or neither: then any size, bound to nothing.
    private mutating func readDimension(_ field: ProtobufField) throws(FormatError) -> Dimension {
        var dimension: Dimension?
        var fields = ProtobufFields(try field.message("dim", in: reader), singular: [1, 2, 3], in: reader)
        while let inner = try fields.next() {
            guard inner.number <= 2 else { continue }
            guard dimension == nil else { throw inner.error("value", .contradiction) }
            if inner.number == 1 {
                let size = try inner.integer("dim_value")
                guard size >= 0 else { throw inner.error("dim_value", .outOfRange) }
                guard size <= ShapeLimits.dimension else {
                    let limit = UInt64(ShapeLimits.dimension)
                    throw .limit(
                        .onnx,
                        which: "size of a dimension",
                        offset: inner.offset,
                        found: UInt64(size),
                        limit: limit
                    )
                }
                dimension = .fixed(size)
            } else {
                let text = try inner.text("dim_param", limit: 1_024, in: reader)
                guard !text.isEmpty else {
                    dimension = .any
                    continue
                }
                guard let symbol = FeatureName(text) else { throw inner.error("dim_param", .badName) }
                guard symbols.updateValue(symbol, forKey: symbol.lookAlikeKey) ?? symbol == symbol else {
                    throw inner.error("dim_param `\(symbol)`", .duplicateName)
                }
                dimension = .symbol(symbol)
            }
        }
        return dimension ?? .any
    }
}
