import Manifest
import Names

/// FeatureDescription and FeatureType, brought to the normal form.
extension CoreMLReader {
    /// What a FeatureType says beside the type itself.
    struct Typed {
        var type: ValueType
        var isOptional = false
        var defaultValue: String?
    }

    func readFeature(_ field: ProtobufField, _ what: String) throws(FormatError) -> Feature {
        var name: FeatureName?
        var typed: Typed?
        var fields = ProtobufFields(try field.message(what, in: reader), singular: [1, 2, 3], in: reader)
        while let inner = try fields.next() {
            switch inner.number {
            case 1: name = try inner.name("name", in: reader)
            // Nothing is made of it; Core ML takes no file in which it is no text.
            case 2:
                _ = try inner.text("shortDescription", limit: reader.limits.metadataValue, in: reader)
            case 3: typed = try readType(try inner.message("type", in: reader))
            default: break
            }
        }
        guard let name else { throw field.error("\(what).name", .missing) }
        guard let typed else { throw field.error("\(what).type", .missing) }
        try reader.spend(interface: InterfaceCost.feature(name), at: field.offset)
        return Feature(
            name: name,
            type: typed.type,
            isOptional: typed.isOptional,
            defaultValue: typed.defaultValue
        )
    }

    /// FeatureType: one choice of 1 to 8, and whether it may be left out.
    private func readType(_ message: ProtobufMessage) throws(FormatError) -> Typed {
        var typed: Typed?
        var isOptional = false
        var fields = ProtobufFields(message, singular: [1, 2, 3, 4, 5, 6, 7, 8, 1_000], in: reader)
        while let field = try fields.next() {
            if field.number == 1_000 { isOptional = try field.integer("isOptional") != 0 }
            guard (1...8).contains(field.number) else { continue }
            guard typed == nil else { throw field.error("Type", .contradiction) }
            typed = try readChoice(field)
        }
        guard var typed else {
            throw .malformed(
                Self.format,
                field: "\(message.field).Type",
                offset: message.range.lowerBound,
                .missing
            )
        }
        typed.isOptional = isOptional
        return typed
    }

    private func readChoice(_ field: ProtobufField) throws(FormatError) -> Typed {
        switch field.number {
        case 1: try readEmpty(field, "int64Type", .int64)
        case 2: try readEmpty(field, "doubleType", .float64)
        case 3: try readEmpty(field, "stringType", .string)
        case 4: Typed(type: .image(try readImage(try field.message("imageType", in: reader))))
        case 5: try readArray(try field.message("multiArrayType", in: reader))
        case 6: try readDictionary(try field.message("dictionaryType", in: reader))
        case 7: try readSequence(try field.message("sequenceType", in: reader))
        default: try readState(try field.message("stateType", in: reader))
        }
    }

    /// A type whose presence says it all.
    private func readEmpty(
        _ field: ProtobufField,
        _ name: String,
        _ element: ElementType
    ) throws(FormatError) -> Typed {
        var fields = ProtobufFields(try field.message(name, in: reader), in: reader)
        while try fields.next() != nil {}
        return Typed(type: .scalar(element))
    }

    /// DictionaryFeatureType: the values are always doubles.
    private func readDictionary(_ message: ProtobufMessage) throws(FormatError) -> Typed {
        var key: ElementType?
        var fields = ProtobufFields(message, in: reader)
        while let field = try fields.next() {
            guard field.number <= 2 else { continue }
            guard key == nil else { throw field.error("KeyType", .contradiction) }
            _ = try field.message("keyType", in: reader)
            key = field.number == 1 ? .int64 : .string
        }
        guard let key else { throw missing("KeyType", message) }
        return Typed(type: .map(key: key, of: .scalar(.float64)))
    }

    private func readSequence(_ message: ProtobufMessage) throws(FormatError) -> Typed {
        var element: ElementType?
        var count = Dimension.any
        var fields = ProtobufFields(message, singular: [101], in: reader)
        while let field = try fields.next() {
            switch field.number {
            case 1, 3:
                guard element == nil else { throw field.error("Type", .contradiction) }
                _ = try field.message("elementType", in: reader)
                element = field.number == 1 ? .int64 : .string
            case 101: count = try readRange(try field.message("sizeRange", in: reader))
            default: break
            }
        }
        guard let element else { throw missing("Type", message) }
        return Typed(type: .sequence(of: .scalar(element), count: count))
    }

    private func readState(_ message: ProtobufMessage) throws(FormatError) -> Typed {
        var typed: Typed?
        var fields = ProtobufFields(message, singular: [1], in: reader)
        while let field = try fields.next() {
            guard field.number == 1 else { continue }
            typed = try readArray(try field.message("arrayType", in: reader))
        }
        guard let typed else { throw missing("arrayType", message) }
        return typed
    }

    func missing(_ name: String, _ message: ProtobufMessage) -> FormatError {
        .malformed(Self.format, field: "\(message.field).\(name)", offset: message.range.lowerBound, .missing)
    }

    /// SizeRange: an upper bound below 0 means none.
    func readRange(_ message: ProtobufMessage) throws(FormatError) -> Dimension {
        var minimum: Int64 = 0
        var maximum: Int64 = 0
        var place = message.range.lowerBound
        var fields = ProtobufFields(message, singular: [1, 2], in: reader)
        while let field = try fields.next() {
            place = field.offset
            switch field.number {
            case 1: minimum = try field.integer("lowerBound")
            case 2: maximum = try field.integer("upperBound")
            default: break
            }
        }
        guard (0...ShapeLimits.dimension).contains(minimum), maximum < 0 || maximum >= minimum else {
            throw .malformed(Self.format, field: message.field, offset: place, .outOfRange)
        }
        if maximum == minimum { return .fixed(minimum) }
        // A bound beyond every limit bounds nothing.
        return .range(
            minimum: minimum,
            maximum: maximum < 0 || maximum > ShapeLimits.dimension ? nil : maximum
        )
    }
}
