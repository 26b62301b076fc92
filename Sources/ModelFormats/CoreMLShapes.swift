import Manifest

/// Arrays and images, whose sizes may be fixed, one of several, or in a range.
extension CoreMLReader {
    private static let elements: [Int64: ElementType] = [
        65_568: .float32, 65_600: .float64, 131_104: .int32, 65_552: .float16, 131_080: .int8,
    ]

    /// ArrayFeatureType.
    func readArray(_ message: ProtobufMessage) throws(FormatError) -> Typed {
        var sizes: [Int64] = []
        var element: ElementType?
        var shape: Shape?
        var defaultValue: String?
        var fields = ProtobufFields(message, singular: [2, 21, 31, 41, 51, 61], in: reader)
        while let field = try fields.next() {
            switch field.number {
            case 1: try field.append(to: &sizes, "shape", limit: ShapeLimits.rank, in: reader)
            case 2:
                let number = try field.integer("dataType")
                guard let known = Self.elements[number] else {
                    throw field.error("dataType", .unknownElementType(UInt64(bitPattern: number)))
                }
                element = known
            case 21, 31:
                guard shape == nil else { throw field.error("ShapeFlexibility", .contradiction) }
                shape =
                    try field.number == 21
                    ? readEnumerated(try field.message("enumeratedShapes", in: reader))
                    : readRanges(try field.message("shapeRange", in: reader))
            case 41, 51, 61:
                guard defaultValue == nil else { throw field.error("defaultOptionalValue", .contradiction) }
                defaultValue = try readDefault(field)
            default: break
            }
        }
        guard let element else { throw missing("dataType", message) }
        try checkSizes(sizes, message)
        var type = TensorType(
            element: element,
            shape: shape ?? (sizes.isEmpty ? .unknownRank : .fixed(sizes))
        )
        for size in sizes where shape == nil {
            try reader.spend(interface: InterfaceCost.dimension(.fixed(size)), at: message.range.lowerBound)
        }
        if let shape, !sizes.isEmpty {
            guard shape.rank == sizes.count, shape.contains(sizes) else {
                throw .malformed(
                    Self.format,
                    field: "\(message.field).shape",
                    offset: message.range.lowerBound,
                    .contradiction
                )
            }
            type.defaultShape = sizes
        }
        return Typed(type: .tensor(type), defaultValue: defaultValue)
    }

    private func readDefault(_ field: ProtobufField) throws(FormatError) -> String {
        let number: Double
        switch field.number {
        case 41: return String(try field.integer("intDefaultValue"))
        case 51:
            let value = try field.float("floatDefaultValue", in: reader)
            guard value.isFinite else { throw field.error("floatDefaultValue", .notFinite) }
            return "\(value)"
        default: number = try field.double("doubleDefaultValue", in: reader)
        }
        guard number.isFinite else { throw field.error("doubleDefaultValue", .notFinite) }
        return "\(number)"
    }

    private func checkSizes(_ sizes: [Int64], _ message: ProtobufMessage) throws(FormatError) {
        var elements: Int64 = 1
        for size in sizes {
            let product = elements.multipliedReportingOverflow(by: max(size, 1))
            guard (0...ShapeLimits.dimension).contains(size), !product.overflow,
                product.partialValue <= ShapeLimits.elements
            else {
                throw .malformed(
                    Self.format,
                    field: "\(message.field).shape",
                    offset: message.range.lowerBound,
                    .outOfRange
                )
            }
            elements = product.partialValue
        }
    }

    /// EnumeratedShapes: whole shapes, of one rank, each once.
    private func readEnumerated(_ message: ProtobufMessage) throws(FormatError) -> Shape {
        var shapes: [[Int64]] = []
        var seen: Set<[Int64]> = []
        var fields = ProtobufFields(message, in: reader)
        while let field = try fields.next() {
            guard field.number == 1 else { continue }
            guard shapes.count < ShapeLimits.enumeratedShapes else {
                throw field.limit("enumerated shapes", ShapeLimits.enumeratedShapes)
            }
            var sizes: [Int64] = []
            let inner = try field.message("shapes", in: reader)
            var numbers = ProtobufFields(inner, in: reader)
            while let number = try numbers.next() {
                guard number.number == 1 else { continue }
                try number.append(to: &sizes, "shape", limit: ShapeLimits.rank, in: reader)
            }
            try checkSizes(sizes, inner)
            guard sizes.count == shapes.first?.count ?? sizes.count else {
                throw field.error("shapes", .contradiction)
            }
            guard seen.insert(sizes).inserted else { throw field.error("shapes", .duplicate) }
            try reader.spend(interface: InterfaceCost.shape(sizes.count), at: field.offset)
            shapes.append(sizes)
        }
        guard !shapes.isEmpty else { throw missing("shapes", message) }
        return .enumerated(shapes)
    }

    /// ShapeRange: one range for each dimension.
    private func readRanges(_ message: ProtobufMessage) throws(FormatError) -> Shape {
        var dimensions: [Dimension] = []
        var fields = ProtobufFields(message, in: reader)
        while let field = try fields.next() {
            guard field.number == 1 else { continue }
            guard dimensions.count < ShapeLimits.rank else {
                throw field.limit("dimensions", ShapeLimits.rank)
            }
            let dimension = try readRange(try field.message("sizeRanges", in: reader))
            try reader.spend(interface: InterfaceCost.dimension(dimension), at: field.offset)
            dimensions.append(dimension)
        }
        return .dimensions(dimensions)
    }

    // MARK: images

    /// ImageFeatureType.
    func readImage(_ message: ProtobufMessage) throws(FormatError) -> ImageType {
        let colors: [Int64: ImageType.Color] = [10: .grayscale, 20: .rgb, 30: .bgr, 40: .grayscale16]
        var color: ImageType.Color?
        var width: Int64?
        var height: Int64?
        var sizes = ImageSizes.fixed
        var fields = ProtobufFields(message, singular: [1, 2, 3, 21, 31], in: reader)
        while let field = try fields.next() {
            switch field.number {
            case 1: width = try readSide(field, "width")
            case 2: height = try readSide(field, "height")
            case 3:
                color = colors[try field.integer("colorSpace")]
                guard color != nil else { throw field.error("colorSpace", .outOfRange) }
            case 21, 31:
                guard sizes == .fixed else { throw field.error("SizeFlexibility", .contradiction) }
                sizes =
                    try field.number == 21
                    ? .enumerated(readSizes(try field.message("enumeratedSizes", in: reader)))
                    : readSizeRange(try field.message("imageSizeRange", in: reader))
            default: break
            }
        }
        guard let color else { throw missing("colorSpace", message) }
        guard let width, let height else { throw missing("width and height", message) }
        return ImageType(color: color, width: width, height: height, sizes: sizes)
    }

    private func readSide(_ field: ProtobufField, _ name: String) throws(FormatError) -> Int64 {
        let side = try field.integer(name)
        guard (1...ShapeLimits.dimension).contains(side) else { throw field.error(name, .outOfRange) }
        return side
    }

    private func readSizes(_ message: ProtobufMessage) throws(FormatError) -> [ImageSize] {
        var sizes: [ImageSize] = []
        var seen: Set<[Int64]> = []
        var fields = ProtobufFields(message, in: reader)
        while let field = try fields.next() {
            guard field.number == 1 else { continue }
            guard sizes.count < ShapeLimits.enumeratedShapes else {
                throw field.limit("enumerated sizes", ShapeLimits.enumeratedShapes)
            }
            let inner = try field.message("sizes", in: reader)
            var size = ImageSize(width: 0, height: 0)
            var sides = ProtobufFields(inner, singular: [1, 2], in: reader)
            while let side = try sides.next() {
                switch side.number {
                case 1: size.width = try readSide(side, "width")
                case 2: size.height = try readSide(side, "height")
                default: break
                }
            }
            guard size.width > 0, size.height > 0 else { throw missing("width and height", inner) }
            guard seen.insert([size.width, size.height]).inserted else {
                throw field.error("sizes", .duplicate)
            }
            try reader.spend(interface: InterfaceCost.imageSize, at: field.offset)
            sizes.append(size)
        }
        guard !sizes.isEmpty else { throw missing("sizes", message) }
        return sizes
    }

    private func readSizeRange(_ message: ProtobufMessage) throws(FormatError) -> ImageSizes {
        var width: Dimension?
        var height: Dimension?
        var fields = ProtobufFields(message, singular: [1, 2], in: reader)
        while let field = try fields.next() {
            switch field.number {
            case 1: width = try readRange(try field.message("widthRange", in: reader))
            case 2: height = try readRange(try field.message("heightRange", in: reader))
            default: break
            }
        }
        guard let width, let height else { throw missing("widthRange and heightRange", message) }
        return .ranges(width: width, height: height)
    }
}
