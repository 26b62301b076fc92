import CanonicalJSON
import Manifest
import Names

/// Class labels of an ONNX model: those that its outputs have for certain, or else those of its metadata.
///
/// An output has the labels of the node that makes it, where `ONNXLabels` could
/// follow it that far, they are of its kind, and, for scores, as many as it has
/// columns. Where two outputs have different ones, or classifiers are there
/// and none is certain, there are none, and that is told.
extension ONNXReader {
    /// Lists are read again when they are needed, so that at most three are in memory.
    struct FoundLabels {
        var labels: ClassLabels?
        var notes: [String] = []

        fileprivate init(_ labels: ClassLabels?) { self.labels = labels }

        fileprivate init(none reason: String, remedy: String = "say them in the card, `labels`") {
            notes = ["class labels are not taken: \(reason); \(remedy)"]
        }
    }

    /// What a node says, without its list.
    private struct Said {
        let isText: Bool
        let count: Int

        init(_ labels: ClassLabels) {
            isText = if case .texts = labels { true } else { false }
            count = labels.count
        }
    }

    /// One output, and which node decides its classes.
    private struct Traced {
        let output: Feature
        let origin: ONNXLabels.Origin
    }

    /// What has been found so far, in the order of the outputs.
    private struct Search {
        var said: [UInt64: Said?] = [:]
        var taken: Set<UInt64> = []

        /// What has the labels, and they.
        var found: (output: Feature, labels: ClassLabels)?
        var misfit: String?
    }

    /// Decides what the labels of the model are.
    ///
    /// - Parameters:
    ///   - graph: The model's own.
    ///   - interface: What a caller may give, which no label may come from.
    /// - Returns: Labels, or why there are none.
    /// - Throws: `FormatError` where a list cannot be read again.
    func foundLabels(in graph: ONNXGraph, _ interface: Interface) throws(FormatError) -> FoundLabels {
        let traced = graph.outputs.compactMap { output in
            labels.origin(of: ONNXScope.Key(of: output.name)).map { Traced(output: output, origin: $0) }
        }
        var search = Search()
        // What comes out as a label before what has only its place.
        for one in traced where [.label, .answers, .chosen].contains(one.origin.role) {
            if let conflict = try take(one, graph, interface, &search) { return conflict }
        }
        let isNamed = search.found != nil
        for one in traced where one.origin.role == .scores {
            if let conflict = try take(one, graph, interface, &search) { return conflict }
        }
        if isNamed { return FoundLabels(search.found?.labels) }
        guard let labels = search.found?.labels ?? labelsOfMetadata else {
            if let misfit = search.misfit { return FoundLabels(none: misfit) }
            guard self.labels.hasClassifier else { return FoundLabels(nil) }
            return FoundLabels(
                none: "there are classifiers inside, and which classes the outputs have is not certain"
            )
        }
        if case .integers = labels, let other = graph.outputs.first(where: { $0.type.tellsTexts }) {
            let whose = search.found.map { "output `\($0.output.name)` has" } ?? "the metadata has"
            return FoundLabels(none: "\(whose) numbers, and output `\(other.name)` is \(other.type)")
        }
        return FoundLabels(labels)
    }

    /// - Returns: That there are none, because this output has others than one before it.
    private func take(
        _ traced: Traced,
        _ graph: ONNXGraph,
        _ interface: Interface,
        _ search: inout Search
    ) throws(FormatError) -> FoundLabels? {
        let node = traced.origin.node
        var labels: ClassLabels?
        if search.said[node] == nil {
            labels = try readLabels(of: traced.origin, graph, interface)
            search.said[node] = .some(labels.map(Said.init))
        }
        guard let said = search.said[node] ?? nil else { return nil }
        guard traced.output.type.fits(traced.origin.role, isText: said.isText, count: said.count) else {
            let what = Counted.words(said.count, said.isText ? "text" : "number")
            search.misfit = "output `\(traced.output.name)` is \(traced.output.type), and has \(what)"
            return nil
        }
        guard search.taken.insert(node).inserted else { return nil }
        if labels == nil { labels = try readLabels(of: traced.origin, graph, interface) }
        guard let labels else { return nil }
        guard let found = search.found else {
            search.found = (traced.output, labels)
            return nil
        }
        // The last step of a chain may know classes by their places alone.
        let isByPlace = traced.origin.role == .scores && labels.areThePlaces(of: found.labels)
        guard labels != found.labels, !isByPlace else { return nil }
        return FoundLabels(
            none: "outputs `\(found.output.name)` and `\(traced.output.name)` have different ones",
            remedy: "say in the card, `labels`, by which an app goes"
        )
    }

    private func readLabels(
        of origin: ONNXLabels.Origin,
        _ graph: ONNXGraph,
        _ interface: Interface
    ) throws(FormatError) -> ClassLabels? {
        guard origin.role == .chosen else {
            guard let node = try graph.node(at: origin.node, in: reader) else { return nil }
            return try readClassLabels(ofNode: node)
        }
        guard let name = graph.lists[origin.node], let list = graph.initializers[name],
            !interface.inputs.contains(where: { $0.name == name })
        else { return nil }
        return try readList(list)
    }

    /// The property `class_labels`, a JSON array.
    private var labelsOfMetadata: ClassLabels? {
        guard let text = metadata["class_labels"] else { return nil }
        let limit = Int(reader.limits.metadataValue)
        guard let value = try? JSONParser.parse(Array(text.utf8), maximumLength: limit),
            let elements = value.array, !elements.isEmpty
        else { return nil }
        let texts = elements.compactMap { element -> JSONText? in
            if case .string(let text) = element { text } else { nil }
        }
        if texts.count == elements.count { return .texts(texts) }
        let integers = elements.compactMap(\.integer)
        return integers.count == elements.count ? .integers(integers) : nil
    }
}

extension ClassLabels {
    /// Whether they are 0, 1, 2 and so on, one for each of `others`.
    fileprivate func areThePlaces(of others: ClassLabels) -> Bool {
        guard case .integers(let labels) = self, labels.count == others.count else { return false }
        return labels.enumerated().allSatisfy { $0.offset == $0.element }
    }
}

extension ValueType {
    /// Whether so many classes, named so, can be what such an output tells.
    fileprivate func fits(_ role: ONNXLabels.Role, isText: Bool, count: Int) -> Bool {
        switch (self, role) {
        case (.sequence(let element, _), .answers): element.fits(role, isText: isText, count: count)
        case (.map(let key, _), .answers): isText == (key == .string)
        case (.tensor(let tensor), .label), (.tensor(let tensor), .chosen):
            isText == (tensor.element == .string)
        case (.tensor(let tensor), .scores): tensor.element != .string && tensor.shape.hasColumns(count)
        default: false
        }
    }

    /// Whether it is text, or says its classes in text.
    fileprivate var tellsTexts: Bool {
        switch self {
        case .tensor(let tensor): tensor.element == .string
        case .map(let key, _): key == .string
        case .sequence(let element, _), .maybe(let element): element.tellsTexts
        case .sparseTensor, .image, .scalar, .opaque: false
        }
    }
}

extension Shape {
    fileprivate func hasColumns(_ count: Int) -> Bool {
        guard case .dimensions(let dimensions) = self else { return true }
        guard let last = dimensions.last else { return false }
        if case .fixed(let size) = last { return size == count }
        return true
    }
}
