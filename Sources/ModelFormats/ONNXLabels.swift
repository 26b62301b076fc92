import Manifest

/// Which values of a graph tell classes, and which node says what those are.
///
/// ONNX has no place for class labels. The classifiers of `ai.onnx.ml` name
/// theirs, and a model may have many: one for each class, or one for each step
/// on the way. What counts is what makes an output of the graph. So each value
/// that a classifier gives is followed, node by node, through what leaves the
/// classes as they are, and what nothing is known of ends the way.
///
/// Nodes stand in the order in which they run, hence once over them is enough;
/// of each value that is followed a number of its name is kept, and where its
/// node stands.
struct ONNXLabels {
    /// How a value tells a class.
    enum Role {
        /// As its label.
        case label

        /// By its place, one number for each class.
        case scores

        /// As numbers by label, out of a `ZipMap`.
        case answers

        /// As the place of the greatest number.
        case place

        /// As the element at that place of a list that is a constant.
        case chosen
    }

    struct Origin {
        let role: Role

        /// Where the node stands that says the labels, or has the list as its input.
        let node: UInt64
    }

    /// What is known of a node; only the first two of its inputs and outputs count.
    struct Node {
        let operation: String
        let isOfClassifiers: Bool
        let inputs: [ONNXScope.Key?]
        let outputs: [ONNXScope.Key?]
        let offset: UInt64
    }

    static let attributes: Set<String> = ["classlabels_strings", "classlabels_int64s", "classlabels_ints"]

    private static let classifiers: Set<String> = [
        "LinearClassifier", "TreeEnsembleClassifier", "SVMClassifier",
    ]
    private static let followed: Set<String> = [
        "Identity", "Cast", "Reshape", "Flatten", "Squeeze", "Unsqueeze", "Softmax", "ArgMax",
    ]
    private static let followedOfClassifiers: Set<String> = ["Normalizer", "ArrayFeatureExtractor"]

    private let limit: Int
    private var origins: [ONNXScope.Key: Origin] = [:]

    /// Whether any node names classes, also one whose values are not followed.
    private(set) var hasClassifier = false

    init(limits: FormatLimits) { limit = limits.labelledValues }

    /// Whether a node of this operator names classes.
    static func namesClasses(_ operation: String, isOfClassifiers: Bool) -> Bool {
        isOfClassifiers && (operation == "ZipMap" || classifiers.contains(operation))
    }

    /// Whether the names of a node's values are worth reading.
    func concerns(_ operation: String, isOfClassifiers: Bool) -> Bool {
        guard isOfClassifiers else {
            return operation == "ArgMax" || !origins.isEmpty && Self.followed.contains(operation)
        }
        return Self.namesClasses(operation, isOfClassifiers: true)
            || !origins.isEmpty && Self.followedOfClassifiers.contains(operation)
    }

    mutating func noteClassifier() { hasClassifier = true }

    func origin(of value: ONNXScope.Key) -> Origin? { origins[value] }

    mutating func follow(_ node: Node) {
        switch (node.operation, node.isOfClassifiers) {
        case ("ZipMap", true): set(node, 0, .answers)
        case ("Normalizer", true), ("Softmax", false): pass(node, [.scores])
        case ("ArrayFeatureExtractor", true):
            guard node.inputs.count > 1, let place = node.inputs[1], origins[place]?.role == .place else {
                return
            }
            set(node, 0, .chosen)
        case (_, true):
            set(node, 0, .label)
            set(node, 1, .scores)
        case ("ArgMax", false): set(node, 0, .place)
        case ("Identity", false): pass(node, [.label, .scores, .answers, .place, .chosen])
        case ("Cast", false): pass(node, [.label, .scores, .place, .chosen])
        default: pass(node, [.label, .place, .chosen])
        }
    }

    private mutating func set(_ node: Node, _ output: Int, _ role: Role) {
        guard output < node.outputs.count, let value = node.outputs[output] else { return }
        keep(Origin(role: role, node: node.offset), of: value)
    }

    private mutating func pass(_ node: Node, _ roles: [Role]) {
        guard let input = node.inputs.first ?? nil, let origin = origins[input], roles.contains(origin.role),
            let output = node.outputs.first ?? nil
        else { return }
        keep(origin, of: output)
    }

    /// Beyond the limit values are no longer followed, and nothing is certain of them.
    private mutating func keep(_ origin: Origin, of value: ONNXScope.Key) {
        if origins.count < limit { origins[value] = origin }
    }
}
