import Manifest
import Names

/// ModelDescription, or one of its functions.
struct CoreMLDescription {
    var inputs: [Feature] = []
    var outputs: [Feature] = []
    var states: [Feature] = []
    var functions: [FunctionInterface] = []
    var defaultFunction: FeatureName?

    /// What is predicted, of the model or by function.
    var predicted: [Predicted] = []
    var predictedOfFunctions: [FeatureName: [Predicted]] = [:]

    /// The default function is the interface; the others stand beside it.
    var interface: Interface {
        var interface = Interface(inputs: inputs, outputs: outputs)
        interface.states = states
        guard let main = functions.first(where: { $0.name == defaultFunction }) else { return interface }
        interface.inputs = main.inputs
        interface.outputs = main.outputs
        interface.states = main.states
        interface.functions = functions.filter { $0.name != main.name }
        interface.defaultFunction = main.name
        return interface
    }

    /// Puts the labels of a program's functions beside them.
    ///
    /// - Returns: Those of the default function.
    mutating func take(_ program: CoreMLProgram) -> ClassLabels? {
        guard !functions.isEmpty else { return program.main.flatMap { program.labels[$0] } }
        for index in functions.indices { functions[index].labels = program.labels[functions[index].name] }
        return functions.first { $0.name == defaultFunction }?.labels
    }

    /// A class has the kind of what is predicted: a text, or a number.
    func checkPredicted(against labels: ClassLabels?) throws(FormatError) {
        for one in predicted { try one.check(against: labels) }
        for function in functions {
            for one in predictedOfFunctions[function.name] ?? [] { try one.check(against: function.labels) }
        }
    }

    /// The name of an output that tells the class, or what each class has.
    struct Predicted {
        let field: ProtobufField

        /// Of the one class, or of the keys; `nil` where the output's type says none.
        let element: ElementType?

        fileprivate func check(against labels: ClassLabels?) throws(FormatError) {
            guard let labels, let element else { return }
            let isText = if case .texts = labels { true } else { false }
            guard isText == (element == .string) else {
                throw field.error("predictedFeatureName", .contradiction)
            }
        }
    }
}

extension ValueType {
    /// What tells one class from another in such a value.
    fileprivate var classElement: ElementType? {
        switch self {
        case .scalar(let element), .map(let element, _): element
        case .sequence(let element, _), .maybe(let element): element.classElement
        case .tensor, .sparseTensor, .image, .opaque: nil
        }
    }
}

extension CoreMLReader {
    /// The numbers of the fields that hold features, which differ between a model and a function.
    private struct Places {
        let input: UInt32
        let output: UInt32
        let state: UInt32

        static let model = Places(input: 1, output: 10, state: 13)
        static let function = Places(input: 2, output: 3, state: 6)
    }

    mutating func readDescription(
        _ message: ProtobufMessage,
        isInside: Bool
    ) throws(FormatError) -> CoreMLDescription {
        var description = CoreMLDescription()
        var predicted: [ProtobufField] = []
        var fields = ProtobufFields(message, singular: [11, 12, 21, 100], in: reader)
        while let field = try fields.next() {
            switch field.number {
            case 11, 12: predicted.append(field)
            case 20: try readFunction(field, into: &description)
            case 21: description.defaultFunction = try field.name("defaultFunctionName", in: reader)
            case 100:
                let metadata = try field.message("metadata", in: reader)
                if !isInside { try readMetadata(metadata) }
            default:
                try readFeature(field, .model, into: &description)
            }
        }
        try check(description, message)
        description.predicted = try readPredicted(predicted, description.outputs)
        return description
    }

    /// What a classifier predicts is one of its outputs; an empty name is none.
    private func readPredicted(
        _ fields: [ProtobufField],
        _ outputs: [Feature]
    ) throws(FormatError) -> [CoreMLDescription.Predicted] {
        var found: [CoreMLDescription.Predicted] = []
        for field in fields {
            let name = try field.text("predictedFeatureName", limit: 1_024, in: reader)
            guard !name.isEmpty else { continue }
            guard let output = outputs.first(where: { $0.name == FeatureName(name) }) else {
                throw field.error("predictedFeatureName", .badReference)
            }
            found.append(CoreMLDescription.Predicted(field: field, element: output.type.classElement))
        }
        return found
    }

    private func check(_ description: CoreMLDescription, _ message: ProtobufMessage) throws(FormatError) {
        let offset = message.range.lowerBound
        try checkNames(description.inputs + description.states, "input", offset)
        try checkNames(description.outputs, "output", offset)
        let names = description.functions.map(\.name)
        guard !names.isEmpty else {
            guard description.defaultFunction == nil else {
                throw .malformed(Self.format, field: "defaultFunctionName", offset: offset, .contradiction)
            }
            return
        }
        guard description.inputs.isEmpty, description.outputs.isEmpty, description.states.isEmpty else {
            throw .malformed(Self.format, field: "description.functions", offset: offset, .contradiction)
        }
        guard let main = description.defaultFunction, names.contains(main) else {
            throw .malformed(Self.format, field: "defaultFunctionName", offset: offset, .badReference)
        }
        guard Set(names.map(\.lookAlikeKey)).count == names.count else {
            throw .malformed(Self.format, field: "description.functions", offset: offset, .duplicateName)
        }
    }

    private func checkNames(
        _ features: [Feature],
        _ what: String,
        _ offset: UInt64
    ) throws(FormatError) {
        var keys: Set<String> = []
        for feature in features where !keys.insert(feature.name.lookAlikeKey).inserted {
            throw .malformed(
                Self.format,
                field: "description.\(what) `\(feature.name)`",
                offset: offset,
                .duplicateName
            )
        }
    }

    /// FunctionDescription.
    private func readFunction(
        _ field: ProtobufField,
        into description: inout CoreMLDescription
    ) throws(FormatError) {
        guard description.functions.count < ShapeLimits.functions else {
            throw field.limit("functions", ShapeLimits.functions)
        }
        let message = try field.message("functions", in: reader)
        var name: FeatureName?
        var found = CoreMLDescription()
        var predicted: [ProtobufField] = []
        var fields = ProtobufFields(message, singular: [1, 4, 5], in: reader)
        while let field = try fields.next() {
            switch field.number {
            case 1: name = try field.name("name", in: reader)
            case 4, 5: predicted.append(field)
            default: try readFeature(field, .function, into: &found)
            }
        }
        guard let name else { throw field.error("functions.name", .missing) }
        try checkNames(found.inputs + found.states, "functions.input", field.offset)
        try checkNames(found.outputs, "functions.output", field.offset)
        description.predictedOfFunctions[name] = try readPredicted(predicted, found.outputs)
        description.functions.append(
            FunctionInterface(name: name, inputs: found.inputs, outputs: found.outputs, states: found.states)
        )
    }

    private func readFeature(
        _ field: ProtobufField,
        _ places: Places,
        into description: inout CoreMLDescription
    ) throws(FormatError) {
        switch field.number {
        case places.input:
            try checkCount(description.inputs.count, "inputs", field)
            description.inputs.append(try readFeature(field, "input"))
        case places.output:
            try checkCount(description.outputs.count, "outputs", field)
            description.outputs.append(try readFeature(field, "output"))
        case places.state:
            try checkCount(description.states.count, "states", field)
            description.states.append(try readFeature(field, "state"))
        default: break
        }
    }

    private func checkCount(_ count: Int, _ what: String, _ field: ProtobufField) throws(FormatError) {
        guard count < ShapeLimits.features else { throw field.limit(what, ShapeLimits.features) }
    }

    /// Metadata: who made it, and pairs of the author's own.
    private mutating func readMetadata(_ message: ProtobufMessage) throws(FormatError) {
        var fields = ProtobufFields(message, singular: [1, 2, 3, 4], in: reader)
        while let field = try fields.next() {
            switch field.number {
            case 1: metadata.documentation = try text(field, "shortDescription")
            case 2: try note("version", try text(field, "versionString"), at: field.offset)
            case 3: try note("author", try text(field, "author"), at: field.offset)
            case 4: try note("license", try text(field, "license"), at: field.offset)
            case 100: try readPair(field)
            default: break
            }
        }
    }

    private mutating func readPair(_ field: ProtobufField) throws(FormatError) {
        var key = ""
        var value = ""
        var fields = ProtobufFields(
            try field.message("userDefined", in: reader),
            singular: [1, 2],
            in: reader
        )
        while let inner = try fields.next() {
            switch inner.number {
            case 1: key = try text(inner, "key")
            case 2: value = try text(inner, "value")
            default: break
            }
        }
        guard propertyKeys.insert(Array(key.utf8)).inserted else {
            throw field.error("userDefined", .duplicate)
        }
        try note("user.\(key)", value, at: field.offset)
    }

    private func text(_ field: ProtobufField, _ name: String) throws(FormatError) -> String {
        try field.text(name, limit: reader.limits.metadataValue, in: reader)
    }

    mutating func note(_ key: String, _ value: String, at offset: UInt64) throws(FormatError) {
        metadataBytes += UInt64(key.utf8.count + value.utf8.count)
        let count = metadata.properties.count + 1
        try reader.limits.check(pairs: count, bytes: metadataBytes, Self.format, at: offset)
        metadata.properties.append(ModelMetadata.Property(key: key, value: value))
    }
}

extension Interface {
    /// The least specification version that has all that this interface says, whatever the file says of itself.
    func leastSpecification(of kind: String?) -> Int64 {
        var least: Int64 = kind == "mlProgram" ? 6 : 1
        if !functions.isEmpty || defaultFunction != nil || !states.isEmpty { least = 9 }
        let inside = functions.flatMap { $0.inputs + $0.outputs + $0.states }
        for feature in inputs + outputs + states + inside {
            switch feature.type {
            case .tensor(let tensor):
                if tensor.element == .float16 { least = max(least, 7) }
                if tensor.element == .int8 { least = max(least, 10) }
                if tensor.defaultShape != nil { least = max(least, 3) }
            case .image(let image):
                if image.color == .grayscale16 { least = max(least, 7) }
                if image.sizes != .fixed { least = max(least, 3) }
            default: break
            }
        }
        return least
    }
}
