import CanonicalJSON
import Manifest
import Names
import Testing

/// One row of the compatibility table: what the app expects, what the model offers, and the verdict.
struct Row: CustomTestStringConvertible, Sendable {
    enum Answer: Sendable {
        case compatible, adapted
        case incompatible(String)
    }

    let testDescription: String
    let app: Side
    let model: Side
    let answer: Answer

    init(_ description: String, app: Side, model: Side, _ answer: Answer) {
        testDescription = description
        self.app = app
        self.model = model
        self.answer = answer
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
    var casts = false
    var isPositional = false
    var labels: [String] = []

    static func takes(_ inputs: String...) -> Side { Side(inputs: inputs) }

    static func gives(_ outputs: String...) -> Side { Side(outputs: outputs) }

    func with(_ change: (inout Side) -> Void) -> Side {
        var side = self
        change(&side)
        return side
    }

    func interface() throws -> Interface {
        var interface = Interface(
            inputs: try inputs.map(Self.feature),
            outputs: try outputs.map(Self.feature)
        )
        if !labels.isEmpty { interface.labels = .texts(labels.map { JSONText($0) }) }
        return interface
    }

    func expectation() throws -> Manifest.Expectation {
        let interface = try interface()
        var expectation = Manifest.Expectation(inputs: interface.inputs, outputs: interface.outputs)
        expectation.adaptations = casts ? [.cast] : []
        expectation.isPositional = isPositional
        expectation.labels = interface.labels
        return expectation
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
