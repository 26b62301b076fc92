import CanonicalJSON
import Manifest
import Names
import Testing

/// One example of a row of the table: what an app was made for, what it meets, and what follows.
struct Row: CustomTestStringConvertible, Sendable {
    /// What stands between the two.
    enum Answer: Sendable {
        case fits

        /// Fits, and a note that contains this says what differs.
        case fitsNoting(String)

        /// Fits because the app declared an adaptation, whose words contain this.
        case adapted(String)

        /// Refused under this very row, by a reason that contains this.
        case refused(String)
        case unknown
        case notRunnable(String)
    }

    /// In the order of the table, from 1.
    let number: Int
    let text: String
    let app: Side
    let model: Side
    let answer: Answer

    /// The least step of the version when the model of the app's side becomes the other; `nil` where the
    /// table says none.
    let step: VersionStep?

    var testDescription: String { "\(number) \(text)" }

    init(
        _ number: Int,
        _ text: String,
        _ app: Side,
        _ model: Side,
        _ answer: Answer,
        _ step: VersionStep? = nil
    ) {
        self.number = number
        self.text = text
        self.app = app
        self.model = model
        self.answer = answer
        self.step = step
    }
}

/// The inputs and outputs of an app or a model, written as `name: element[dimension, …]`.
///
/// A trailing `?` on the name makes it optional. Dimensions are numbers,
/// ranges `1..8`, choices `1|4`, symbols, or `?`; `[*]` is an unknown rank and
/// `[1,8 or 1,16]` are enumerated shapes.
struct Side: Sendable {
    var inputs: [String] = []
    var outputs: [String] = []
    var labels: [String] = []
    var states: [String] = []

    /// Functions by name; each takes and gives one value of the type.
    var functions: KeyValuePairs<String, String> = [:]
    var defaultFunction: String?

    /// Class labels of functions, by name.
    var functionLabels: [String: [String]] = [:]

    /// A byte that stands for the digest of the tokenizer `vocab`.
    var vocabulary: UInt8?
    var preprocessing: KeyValuePairs<String, JSONValue> = [:]
    var postprocessing: KeyValuePairs<String, JSONValue> = [:]

    /// The scale of every tensor.
    var scale: String?
    var defaultShape: [Int64]?
    var isDeclared = false

    /// What only an app says.
    var adaptations: [Manifest.Expectation.Adaptation] = []
    var isPositional = false
    var hasOpenLabels = false
    var isStateAgnostic = false
    var usesBundledTokenizers = false
    var allowsUnknown = false

    /// What only a model's variant has, and the machine that an app runs on.
    var shipsVocabulary = false
    var format = ModelFormat.onnx
    var requires = Requirements()
    var machine: Machine?

    static func takes(_ inputs: String...) -> Side { Side(inputs: inputs) }

    static func gives(_ outputs: String...) -> Side { Side(outputs: outputs) }

    func with(_ change: (inout Side) -> Void) -> Side {
        var side = self
        change(&side)
        return side
    }

    func interface() throws -> Interface {
        var interface = Interface(
            inputs: try inputs.map(feature),
            outputs: try outputs.map(feature),
            isDeclared: isDeclared
        )
        if !labels.isEmpty { interface.labels = .texts(labels.map { JSONText($0) }) }
        interface.states = try states.map(feature)
        interface.functions = try functions.map { name, type in
            FunctionInterface(
                name: try #require(FeatureName(name)),
                inputs: [try feature("x: \(type)")],
                outputs: [try feature("y: \(type)")],
                labels: functionLabels[name].map { .texts($0.map { JSONText($0) }) }
            )
        }
        interface.defaultFunction = defaultFunction.flatMap { FeatureName($0) }
        if let vocabulary {
            let name = try #require(FeatureName("vocab"))
            interface.tokenizers = [TokenizerDigest(name: name, sha256: try Samples.digest(vocabulary))]
        }
        interface.preprocessing = preprocessing.isEmpty ? nil : .members(preprocessing)
        interface.postprocessing = postprocessing.isEmpty ? nil : .members(postprocessing)
        return interface
    }

    func expectation() throws -> Manifest.Expectation {
        let interface = try interface()
        var expectation = Manifest.Expectation(inputs: interface.inputs, outputs: interface.outputs)
        expectation.labels = interface.labels
        expectation.states = interface.states
        expectation.functions = interface.functions
        expectation.defaultFunction = interface.defaultFunction
        expectation.tokenizers = interface.tokenizers
        expectation.preprocessing = interface.preprocessing
        expectation.postprocessing = interface.postprocessing
        expectation.adaptations = adaptations
        expectation.isPositional = isPositional
        expectation.hasOpenLabels = hasOpenLabels
        expectation.isStateAgnostic = isStateAgnostic
        expectation.usesBundledTokenizers = usesBundledTokenizers
        expectation.allowsUnknown = allowsUnknown
        return expectation
    }

    func manifest() throws -> ModelManifest {
        var manifest = try Samples.manifest()
        manifest.interface = try interface()
        manifest.variants[0].format = format
        manifest.variants[0].requires = requires
        if shipsVocabulary, let vocabulary {
            manifest.variants[0].files.append(try Samples.file("vocab.txt", 100, vocabulary))
        }
        return manifest
    }

    private func feature(_ text: String) throws -> Feature {
        var feature = try Self.feature(text)
        guard case .tensor(var tensor) = feature.type else { return feature }
        tensor.quantization = scale.map { Quantization(scale: $0, zero: 0) }
        tensor.defaultShape = defaultShape
        feature.type = .tensor(tensor)
        return feature
    }

    static func feature(_ text: String) throws -> Feature {
        let halves = text.split(separator: ": ", maxSplits: 1)
        let isOptional = halves[0].hasSuffix("?")
        let name = try #require(FeatureName(isOptional ? halves[0].dropLast() : halves[0]))
        return Feature(name: name, type: try type(halves[1]), isOptional: isOptional)
    }

    private static func type(_ text: Substring) throws -> ValueType {
        if text.hasPrefix("image ") { return .image(try image(text.dropFirst(6))) }
        if text.hasPrefix("list of ") { return .sequence(of: try type(text.dropFirst(8)), count: .any) }
        if text.hasPrefix("map to ") { return .map(key: .string, of: try type(text.dropFirst(7))) }
        let open = try #require(text.firstIndex(of: "["))
        let element = try #require(ElementType(rawValue: String(text[..<open])))
        return .tensor(TensorType(element: element, shape: try shape(text[open...].dropFirst().dropLast())))
    }

    private static func shape(_ text: Substring) throws -> Shape {
        if text == "*" { return .unknownRank }
        let shapes = text.split(separator: " or ")
        if shapes.count > 1 {
            return .enumerated(shapes.map { $0.split(separator: ",").compactMap { Int64($0) } })
        }
        return .dimensions(try text.split(separator: ",").map(dimension))
    }

    private static func dimension(_ text: Substring) throws -> Dimension {
        if let size = Int64(text) { return .fixed(size) }
        if text == "?" { return .any }
        if text.contains("|") { return .oneOf(text.split(separator: "|").compactMap { Int64($0) }) }
        let ends = text.split(separator: "..", omittingEmptySubsequences: false)
        if ends.count == 2 { return .range(minimum: try #require(Int64(ends[0])), maximum: Int64(ends[1])) }
        return .symbol(try #require(FeatureName(text)))
    }

    private static func image(_ text: Substring) throws -> ImageType {
        let words = text.split(separator: " ")
        let color = try #require(ImageType.Color(rawValue: String(words[0])))
        let sizes = words.dropFirst().map { word in
            let pair = word.split(separator: "x").compactMap { Int64($0) }
            return ImageSize(width: pair[0], height: pair[1])
        }
        let flexible = sizes.count == 1 ? ImageSizes.fixed : .enumerated(sizes)
        return ImageType(color: color, width: sizes[0].width, height: sizes[0].height, sizes: flexible)
    }
}
