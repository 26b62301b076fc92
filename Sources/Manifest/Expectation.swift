package import CanonicalJSON
package import Names

/// What an app sends to a model and reads from it: `sealift/expectation@1`.
///
/// It ships with the app, and decides on the device which versions the app
/// can live with.
package struct Expectation: CanonicalDocument {
    package static let documentType = DocumentType.expectation

    /// Something that the app does by itself when a model asks for it.
    package enum Adaptation: String, Sendable, CaseIterable {
        /// Widening casts of elements: `int8` to `int32`, `float16` to `float32`.
        case cast

        /// Moving the channels of images in tensors, from first to last or the other way.
        case transpose

        /// Bringing images that it sends to a size that the model takes; never their colours.
        case resize
    }

    package var model: ModelName?

    /// Which versions are considered at all; `nil` for any.
    package var accepts: VersionRange?

    /// What the app sends; `optional` here means that it does not always send it.
    package var inputs: [Feature]

    /// What the app reads; `optional` here means that it can do without.
    package var outputs: [Feature]

    /// The class labels that the app knows, by index.
    package var labels: ClassLabels?

    /// Whether the app can meet labels that it does not know, behind or beside those it knows.
    package var hasOpenLabels: Bool

    /// The tokenizers that the app has built in, by the name of their use.
    package var tokenizers: [TokenizerDigest]

    /// Whether the app takes every tokenizer that it has not built in from the model's files.
    package var usesBundledTokenizers: Bool

    /// What the app relies on in a network whose file has no inputs and outputs; what it leaves out may be any.
    package var network: NetworkFacts?

    /// The one table of tensors that the app takes, of a file that has nothing else; `nil` for any.
    package var tensors: TensorTable?

    /// What the app does to inputs before, and to outputs after; objects, carried as they stand.
    package var preprocessing: JSONValue?
    package var postprocessing: JSONValue?

    /// The states that the app keeps between calls.
    package var states: [Feature]

    /// Whether the runtime makes and keeps states, so that the app need not know them.
    package var isStateAgnostic: Bool

    /// Functions that the app calls by name; `inputs` and `outputs` are the default function's.
    package var functions: [FunctionInterface]

    /// The name that the default function must have; `nil` when the app does not care.
    package var defaultFunction: FeatureName?

    package var adaptations: [Adaptation]

    /// The formats that the app's runtimes load, which are those of its platform; empty for any.
    ///
    /// Of a version with several variants the app gets one of these, so that
    /// another that would serve does not help it.
    package var formats: [ModelFormat]

    /// Whether the app finds values by their position instead of their names.
    package var isPositional: Bool

    /// Whether a model whose interface no file says is taken all the same.
    package var allowsUnknown: Bool

    package init(inputs: [Feature], outputs: [Feature], accepts: VersionRange? = nil, model: ModelName? = nil)
    {
        self.model = model
        self.accepts = accepts
        self.inputs = inputs
        self.outputs = outputs
        hasOpenLabels = false
        tokenizers = []
        usesBundledTokenizers = false
        states = []
        isStateAgnostic = false
        functions = []
        adaptations = []
        formats = []
        isPositional = false
        allowsUnknown = false
    }

    /// The narrowest expectation that a model with `interface` satisfies: all it must be sent, all it gives.
    ///
    /// Optional inputs are left out, because an app that sends none of them
    /// needs none of them. Where the model takes any size the app sends any.
    package static func satisfied(
        by interface: Interface,
        of model: ModelName? = nil,
        accepts: VersionRange? = nil
    ) -> Expectation {
        var expectation = Expectation(
            inputs: interface.inputs.filter { !$0.isOptional },
            outputs: interface.outputs,
            accepts: accepts,
            model: model
        )
        expectation.labels = interface.labels
        expectation.tokenizers = interface.tokenizers
        expectation.network = interface.network
        if interface.network == nil { expectation.tensors = interface.tensors }
        expectation.preprocessing = interface.preprocessing
        expectation.postprocessing = interface.postprocessing
        expectation.states = interface.states
        expectation.functions = interface.functions.map { function in
            var used = function
            used.inputs = function.inputs.filter { !$0.isOptional }
            return used
        }
        expectation.defaultFunction = interface.defaultFunction
        expectation.allowsUnknown = interface.isDeclared
        return expectation
    }
}

extension Expectation {
    /// Takes an expectation as an app ships it: any valid JSON, since nobody signs it.
    ///
    /// - Throws: `ManifestError`, naming the member that is wrong.
    package init(bytes: [UInt8]) throws(ManifestError) {
        let value: JSONValue
        do { value = try JSONParser.parse(bytes, maximumLength: Self.maximumLength) } catch {
            throw .notJSON(.expectation, error)
        }
        try self.init(json: value)
    }

    package init(json: JSONValue) throws(ManifestError) {
        var reader = try Self.reader(json)
        let place = reader.place
        self.init(
            inputs: try Feature.list(try reader.array("inputs"), at: place.member("inputs")),
            outputs: try Feature.list(try reader.array("outputs"), at: place.member("outputs")),
            accepts: try reader.optionalParsed("accepts", "a range such as `>=2.1 <3`") { VersionRange($0) },
            model: try reader.optionalParsed("model", "NAMESPACE/MODEL") { ModelName($0) }
        )
        labels = try ClassLabels(try reader.optionalArray("labels"), at: place.member("labels"))
        hasOpenLabels = try Self.flag(&reader, "open_labels")
        for (value, place) in try reader.optionalArray("tokenizers") {
            tokenizers.append(try TokenizerDigest(value, at: place))
        }
        network = try reader.optionalReader("network").map { (inner) throws(ManifestError) in
            try NetworkFacts(inner)
        }
        tensors = try reader.optionalReader("tensors").map { (inner) throws(ManifestError) in
            try TensorTable(inner)
        }
        usesBundledTokenizers = try Self.flag(&reader, "bundled_tokenizers")
        preprocessing = try reader.optionalObject("preprocessing")
        postprocessing = try reader.optionalObject("postprocessing")
        states = try Feature.list(try reader.optionalArray("states"), at: place.member("states"))
        isStateAgnostic = try Self.flag(&reader, "state_agnostic")
        functions = try FunctionInterface.list(
            try reader.optionalArray("functions"),
            at: place.member("functions")
        )
        defaultFunction = try reader.optionalParsed("default_function", "a name") { FeatureName($0) }
        for (value, place) in try reader.optionalArray("adaptations") {
            guard let adaptation = value.string.flatMap(Adaptation.init(rawValue:)),
                !adaptations.contains(adaptation)
            else { throw place.invalid("an adaptation that version 1 knows, once", value) }
            adaptations.append(adaptation)
        }
        for (value, place) in try reader.optionalArray("formats") {
            guard let format = value.string.flatMap(ModelFormat.init(rawValue:)), !formats.contains(format)
            else { throw place.invalid("a format that version 1 knows, once", value) }
            formats.append(format)
        }
        isPositional = try Self.flag(&reader, "positional")
        allowsUnknown = try Self.flag(&reader, "allow_unknown")
        try reader.finish()
    }

    func loads(_ format: ModelFormat) -> Bool { formats.isEmpty || formats.contains(format) }

    /// A flag is `true` or absent, so that it has one written form.
    private static func flag(_ reader: inout MemberReader, _ key: String) throws(ManifestError) -> Bool {
        guard let value = reader.optional(key) else { return false }
        guard value == .bool(true) else { throw reader.place.member(key).invalid("true or absent", value) }
        return true
    }

    package var json: JSONValue {
        var object = JSONObject()
        object["type"] = .text(Self.documentType.rawValue)
        object.set("model", text: model?.description)
        object.set("accepts", text: accepts?.description)
        object["inputs"] = .array(inputs.map(\.json))
        object["outputs"] = .array(outputs.map(\.json))
        object.set("labels", nonEmpty: labels?.json ?? [])
        object.set("open_labels", hasOpenLabels ? .bool(true) : nil)
        object.set("tokenizers", nonEmpty: tokenizers.map(\.json))
        object.set("bundled_tokenizers", usesBundledTokenizers ? .bool(true) : nil)
        object.set("network", network?.json)
        object.set("tensors", tensors?.json)
        object.set("preprocessing", preprocessing)
        object.set("postprocessing", postprocessing)
        object.set("states", nonEmpty: states.map(\.json))
        object.set("state_agnostic", isStateAgnostic ? .bool(true) : nil)
        object.set("functions", nonEmpty: functions.map(\.json))
        object.set("default_function", text: defaultFunction?.description)
        object.set("adaptations", nonEmpty: adaptations.map { .text($0.rawValue) })
        object.set("formats", nonEmpty: formats.map { .text($0.rawValue) })
        object.set("positional", isPositional ? .bool(true) : nil)
        object.set("allow_unknown", allowsUnknown ? .bool(true) : nil)
        return .object(object)
    }
}
