import CanonicalJSON

/// Members of a value's type stand beside its name: `kind`, and what that kind needs.
extension ValueType {
    init(_ reader: inout MemberReader, depth: Int) throws(ManifestError) {
        guard depth < ShapeLimits.typeNesting else {
            throw reader.place.invalid("nested at most \(ShapeLimits.typeNesting) deep", "deeper")
        }
        let kind = try reader.text("kind")
        switch kind {
        case "tensor": self = .tensor(try TensorType(&reader))
        case "sparse_tensor": self = .sparseTensor(try TensorType(&reader))
        case "image": self = .image(try ImageType(&reader))
        case "scalar": self = .scalar(try Self.element(&reader, "element"))
        case "map":
            let key = try Self.element(&reader, "key")
            self = .map(key: key, of: try Self.inner(&reader, depth: depth))
        case "sequence":
            var count = Dimension.any
            if let value = reader.optional("count") {
                count = try Dimension(value, at: reader.place.member("count"))
                guard count != .any else {
                    throw reader.place.member("count").invalid("absent when any", value)
                }
            }
            self = .sequence(of: try Self.inner(&reader, depth: depth), count: count)
        case "maybe": self = .maybe(try Self.inner(&reader, depth: depth))
        case "opaque": self = .opaque(domain: try reader.text("domain"), name: try reader.text("type_name"))
        default: throw reader.place.member("kind").invalid("a kind that version 1 knows", kind)
        }
    }

    private static func inner(_ reader: inout MemberReader, depth: Int) throws(ManifestError) -> ValueType {
        var inner = try reader.reader("of")
        let type = try ValueType(&inner, depth: depth + 1)
        try inner.finish()
        return type
    }

    static func element(_ reader: inout MemberReader, _ key: String) throws(ManifestError) -> ElementType {
        try reader.parsed(key, "an element type that version 1 knows") { ElementType(rawValue: $0) }
    }

    func write(into object: inout JSONObject) {
        object["kind"] = .text(kind)
        switch self {
        case .tensor(let tensor), .sparseTensor(let tensor): tensor.write(into: &object)
        case .image(let image): image.write(into: &object)
        case .scalar(let element): object["element"] = .text(element.rawValue)
        case .map(let key, let value):
            object["key"] = .text(key.rawValue)
            object["of"] = value.json
        case .sequence(let element, let count):
            object["of"] = element.json
            object.set("count", count == .any ? nil : count.json)
        case .maybe(let value): object["of"] = value.json
        case .opaque(let domain, let name):
            object["domain"] = .text(domain)
            object["type_name"] = .text(name)
        }
    }

    private var json: JSONValue {
        var object = JSONObject()
        write(into: &object)
        return .object(object)
    }
}

extension TensorType {
    init(_ reader: inout MemberReader) throws(ManifestError) {
        element = try ValueType.element(&reader, "element")
        defaultShape = nil
        quantization = nil
        if let enumerated = reader.optional("enumerated_shapes") {
            shape = try Shape(enumerated: enumerated, at: reader.place.member("enumerated_shapes"))
        } else {
            shape = try Shape(try reader.value("shape"), at: reader.place.member("shape"))
        }
        if let value = reader.optional("default_shape") {
            defaultShape = try Shape.sizes(value, at: reader.place.member("default_shape"))
        }
        if var inner = try reader.optionalReader("quantization") {
            quantization = Quantization(
                scale: try inner.text("scale"),
                zero: try inner.integer("zero", in: -(1 << 53) + 1...(1 << 53) - 1)
            )
            try inner.finish()
        }
    }

    func write(into object: inout JSONObject) {
        object["element"] = .text(element.rawValue)
        switch shape {
        case .unknownRank: object["shape"] = .null
        case .dimensions(let dimensions): object["shape"] = .array(dimensions.map(\.json))
        case .enumerated(let shapes):
            object["enumerated_shapes"] = .array(shapes.map { .array($0.map(JSONValue.integer)) })
        }
        object.set("default_shape", (defaultShape?.map(JSONValue.integer)).map(JSONValue.array))
        if let quantization {
            object["quantization"] = .members([
                "scale": .text(quantization.scale), "zero": .integer(quantization.zero),
            ])
        }
    }
}

extension Shape {
    init(_ value: JSONValue, at place: Place) throws(ManifestError) {
        if value == .null {
            self = .unknownRank
            return
        }
        guard let elements = value.array, elements.count <= ShapeLimits.rank else {
            throw place.invalid("null, or at most \(ShapeLimits.rank) dimensions", value)
        }
        var dimensions: [Dimension] = []
        for (index, element) in elements.enumerated() {
            dimensions.append(try Dimension(element, at: place.element(index)))
        }
        self = .dimensions(dimensions)
    }

    init(enumerated value: JSONValue, at place: Place) throws(ManifestError) {
        guard let elements = value.array, (1...ShapeLimits.enumeratedShapes).contains(elements.count) else {
            throw place.invalid("1 to \(ShapeLimits.enumeratedShapes) shapes", value)
        }
        var shapes: [[Int64]] = []
        var seen: Set<[Int64]> = []
        for (index, element) in elements.enumerated() {
            let sizes = try Self.sizes(element, at: place.element(index))
            guard sizes.count == shapes.first?.count ?? sizes.count, seen.insert(sizes).inserted else {
                throw place.element(index).invalid("distinct shapes of one rank", element)
            }
            shapes.append(sizes)
        }
        self = .enumerated(shapes)
    }

    static func sizes(_ value: JSONValue, at place: Place) throws(ManifestError) -> [Int64] {
        let sizes = value.array?.compactMap(\.integer) ?? []
        guard let array = value.array, array.count == sizes.count, sizes.count <= ShapeLimits.rank,
            sizes.allSatisfy({ (0...ShapeLimits.dimension).contains($0) })
        else { throw place.invalid("at most \(ShapeLimits.rank) sizes from 0 to 2^40", value) }
        return sizes
    }
}

extension Dimension {
    init(_ value: JSONValue, at place: Place) throws(ManifestError) {
        var reader = try MemberReader(value, at: place)
        let sizes = 0...ShapeLimits.dimension
        if value["fixed"] != nil {
            self = .fixed(try reader.integer("fixed", in: sizes))
        } else if value["symbol"] != nil {
            self = .symbol(try reader.parsed("symbol", "a name") { FeatureName($0) })
        } else if value["any"] != nil {
            guard try reader.bool("any") else { throw place.member("any").invalid("true", "false") }
            self = .any
        } else if value["range"] != nil {
            var inner = try reader.reader("range")
            let minimum = try inner.integer("min", in: sizes)
            let maximum = try inner.optionalInteger("max", in: minimum...ShapeLimits.dimension)
            try inner.finish()
            self = .range(minimum: minimum, maximum: maximum)
        } else {
            let place = place.member("one_of")
            let found = try reader.value("one_of")
            let choices = try Shape.sizes(found, at: place)
            guard !choices.isEmpty, zip(choices, choices.dropFirst()).allSatisfy(<) else {
                throw place.invalid("ascending sizes", found)
            }
            self = .oneOf(choices)
        }
        try reader.finish()
    }

    var json: JSONValue {
        switch self {
        case .fixed(let size): return .members(["fixed": .integer(size)])
        case .symbol(let name): return .members(["symbol": .text(name.description)])
        case .any: return .members(["any": .bool(true)])
        case .range(let minimum, let maximum):
            var range = JSONObject()
            range["min"] = .integer(minimum)
            range.set("max", maximum.map(JSONValue.integer))
            return .members(["range": .object(range)])
        case .oneOf(let sizes): return .members(["one_of": .array(sizes.map(JSONValue.integer))])
        }
    }
}

extension ImageType {
    init(_ reader: inout MemberReader) throws(ManifestError) {
        let sizes = 1...ShapeLimits.dimension
        color = try reader.parsed("color", "a colour layout that version 1 knows") { Color(rawValue: $0) }
        width = try reader.integer("width", in: sizes)
        height = try reader.integer("height", in: sizes)
        self.sizes = .fixed
        let place = reader.place
        let enumerated = try reader.optionalArray("enumerated_sizes")
        if !enumerated.isEmpty {
            var pairs: [ImageSize] = []
            for (value, place) in enumerated {
                let pair = try Shape.sizes(value, at: place)
                guard pair.count == 2 else { throw place.invalid("[width, height]", value) }
                pairs.append(ImageSize(width: pair[0], height: pair[1]))
            }
            guard pairs.count <= ShapeLimits.enumeratedShapes else {
                throw place.member("enumerated_sizes").invalid("at most 1,024", "\(pairs.count)")
            }
            self.sizes = .enumerated(pairs)
        } else if let width = reader.optional("width_range") {
            self.sizes = .ranges(
                width: try Dimension(width, at: place.member("width_range")),
                height: try Dimension(try reader.value("height_range"), at: place.member("height_range"))
            )
        }
    }

    func write(into object: inout JSONObject) {
        object["color"] = .text(color.rawValue)
        object["width"] = .integer(width)
        object["height"] = .integer(height)
        switch sizes {
        case .fixed: break
        case .enumerated(let sizes):
            object["enumerated_sizes"] = .array(
                sizes.map { .array([.integer($0.width), .integer($0.height)]) }
            )
        case .ranges(let width, let height):
            object["width_range"] = width.json
            object["height_range"] = height.json
        }
    }
}
