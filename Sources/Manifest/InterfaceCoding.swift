package import CanonicalJSON
import Names

/// The normal form as JSON; lists that are empty are left out, except `inputs` and `outputs`.
extension Interface {
    /// Reads a normal form that stands by itself.
    package init(json: JSONValue) throws(ManifestError) { self = try Interface(json, at: Place(.interface)) }

    init(_ value: JSONValue, at place: Place) throws(ManifestError) {
        var reader = try MemberReader(value, at: place)
        self.init(
            inputs: try Feature.list(try reader.array("inputs"), at: place.member("inputs")),
            outputs: try Feature.list(try reader.array("outputs"), at: place.member("outputs"))
        )
        states = try Feature.list(try reader.optionalArray("states"), at: place.member("states"))
        functions = try FunctionInterface.list(
            try reader.optionalArray("functions"),
            at: place.member("functions")
        )
        defaultFunction = try reader.optionalParsed("default_function", "a name") { FeatureName($0) }
        labels = try ClassLabels(try reader.optionalArray("labels"), at: place.member("labels"))
        for (value, place) in try reader.optionalArray("tokenizers") {
            tokenizers.append(try TokenizerDigest(value, at: place))
        }
        tensors = try reader.optionalReader("tensors").map { (inner) throws(ManifestError) in
            try TensorTable(inner)
        }
        network = try reader.optionalReader("network").map { (inner) throws(ManifestError) in
            try NetworkFacts(inner)
        }
        preprocessing = try reader.optionalObject("preprocessing")
        postprocessing = try reader.optionalObject("postprocessing")
        if reader.optional("declared") != nil {
            guard value["declared"] == .bool(true) else {
                throw place.member("declared").invalid("true or absent", "false")
            }
            isDeclared = true
        }
        try reader.finish()
    }

    package var json: JSONValue {
        var object = JSONObject()
        object["inputs"] = .array(inputs.map(\.json))
        object["outputs"] = .array(outputs.map(\.json))
        object.set("states", nonEmpty: states.map(\.json))
        object.set("functions", nonEmpty: functions.map(\.json))
        object.set("default_function", text: defaultFunction?.description)
        object.set("labels", nonEmpty: labels?.json ?? [])
        object.set("tokenizers", nonEmpty: tokenizers.map(\.json))
        object.set("tensors", tensors?.json)
        object.set("network", network?.json)
        object.set("preprocessing", preprocessing)
        object.set("postprocessing", postprocessing)
        object.set("declared", isDeclared ? .bool(true) : nil)
        return .object(object)
    }

    /// The form as bytes; two interfaces are the same exactly when these are.
    package var canonical: [UInt8] { json.compactJSON }
}

extension Feature {
    static func list(
        _ elements: [(value: JSONValue, place: Place)],
        at place: Place
    ) throws(ManifestError) -> [Feature] {
        guard elements.count <= ShapeLimits.features else {
            throw place.invalid("at most \(ShapeLimits.features)", "\(elements.count)")
        }
        var features: [Feature] = []
        var names: Set<String> = []
        for (value, place) in elements {
            let feature = try Feature(value, at: place)
            guard names.insert(feature.name.lookAlikeKey).inserted else {
                throw place.member("name").invalid("distinct, also in NFC", "\(feature.name)")
            }
            features.append(feature)
        }
        return features
    }

    init(_ value: JSONValue, at place: Place) throws(ManifestError) {
        var reader = try MemberReader(value, at: place)
        name = try reader.parsed("name", "1 to 1,024 bytes without control characters") { FeatureName($0) }
        isOptional = try reader.bool("optional")
        defaultValue = try reader.optionalText("default")
        type = try ValueType(&reader, depth: 0)
        try reader.finish()
    }

    var json: JSONValue {
        var object = JSONObject()
        object["name"] = .text(name.description)
        object["optional"] = .bool(isOptional)
        object.set("default", text: defaultValue)
        type.write(into: &object)
        return .object(object)
    }
}

extension FunctionInterface {
    static func list(
        _ elements: [(value: JSONValue, place: Place)],
        at place: Place
    ) throws(ManifestError) -> [FunctionInterface] {
        guard elements.count <= ShapeLimits.functions else {
            throw place.invalid("at most \(ShapeLimits.functions)", "\(elements.count)")
        }
        var functions: [FunctionInterface] = []
        for (value, place) in elements {
            let function = try FunctionInterface(value, at: place)
            guard !functions.contains(where: { $0.name == function.name }) else {
                throw place.member("name").invalid("distinct", "\(function.name)")
            }
            functions.append(function)
        }
        return functions
    }

    init(_ value: JSONValue, at place: Place) throws(ManifestError) {
        var reader = try MemberReader(value, at: place)
        name = try reader.parsed("name", "a name") { FeatureName($0) }
        inputs = try Feature.list(try reader.array("inputs"), at: place.member("inputs"))
        outputs = try Feature.list(try reader.array("outputs"), at: place.member("outputs"))
        states = try Feature.list(try reader.optionalArray("states"), at: place.member("states"))
        labels = try ClassLabels(try reader.optionalArray("labels"), at: place.member("labels"))
        try reader.finish()
    }

    var json: JSONValue {
        var object = JSONObject()
        object["name"] = .text(name.description)
        object["inputs"] = .array(inputs.map(\.json))
        object["outputs"] = .array(outputs.map(\.json))
        object.set("states", nonEmpty: states.map(\.json))
        object.set("labels", nonEmpty: labels?.json ?? [])
        return .object(object)
    }
}

extension ClassLabels {
    /// Takes texts or integers, not both.
    ///
    /// - Returns: `nil` for no elements.
    init?(_ elements: [(value: JSONValue, place: Place)], at place: Place) throws(ManifestError) {
        guard let first = elements.first else { return nil }
        var texts: [JSONText] = []
        var integers: [Int64] = []
        for (value, place) in elements {
            switch (value, first.value) {
            case (.string(let text), .string): texts.append(text)
            case (.integer(let integer), .integer): integers.append(integer)
            default: throw place.invalid("texts or integers, all of one kind", value)
            }
        }
        self = texts.isEmpty ? .integers(integers) : .texts(texts)
    }

    /// Takes a list that is there, and has an element.
    init(_ value: JSONValue, at place: Place) throws(ManifestError) {
        let elements = (value.array ?? []).enumerated().map { (value: $1, place: place.element($0)) }
        guard let labels = try ClassLabels(elements, at: place) else {
            throw place.invalid("a list of texts or of integers", value)
        }
        self = labels
    }

    var json: [JSONValue] {
        switch self {
        case .texts(let labels): labels.map(JSONValue.string)
        case .integers(let labels): labels.map(JSONValue.integer)
        }
    }
}

extension TokenizerDigest {
    init(_ value: JSONValue, at place: Place) throws(ManifestError) {
        var reader = try MemberReader(value, at: place)
        name = try reader.parsed("name", "a name") { FeatureName($0) }
        sha256 = try reader.digest("sha256")
        try reader.finish()
    }

    var json: JSONValue { .members(["name": .text(name.description), "sha256": .text(sha256.hex)]) }
}

extension TensorTable {
    init(_ reader: MemberReader) throws(ManifestError) {
        var reader = reader
        count = try reader.integer("count", in: 0...1 << 40)
        sha256 = try reader.digest("sha256")
        try reader.finish()
    }

    var json: JSONValue { .members(["count": .integer(count), "sha256": .text(sha256.hex)]) }
}
