package import CanonicalJSON
package import Names

/// What a model takes and gives, in a form that is the same for every format.
///
/// `inputs`, `outputs`, `states` and `functions` are read out of the file;
/// labels are where the format has a place for them. What no file says
/// (processing before and after, tokenizers) a person declares on the card.
/// Order is the file's, and has no meaning: values are found by name.
package struct Interface: Equatable, Sendable {
    /// Required and optional ones.
    ///
    /// An ONNX initializer that a caller may override is an optional input.
    package var inputs: [Feature]
    package var outputs: [Feature]

    /// Kept by the runtime between calls.
    package var states: [Feature]

    /// Beside the default function, which is what `inputs` and `outputs` describe.
    package var functions: [FunctionInterface]
    package var defaultFunction: FeatureName?

    /// Class labels by index, of the default function where there are several.
    package var labels: ClassLabels?

    /// Digests of tokenizer and vocabulary files, by the name of their use.
    package var tokenizers: [TokenizerDigest]

    /// Of a format that is a list of tensors and has no inputs and outputs: what that list is.
    package var tensors: TensorTable?

    /// Of such a format: what the file says about the network itself.
    package var network: NetworkFacts?

    /// What must be done to inputs before, and to outputs after; objects, carried as they stand.
    package var preprocessing: JSONValue?
    package var postprocessing: JSONValue?

    /// Whether a person said all this, because the format has no place for it.
    package var isDeclared: Bool

    package init(inputs: [Feature], outputs: [Feature], labels: ClassLabels? = nil, isDeclared: Bool = false)
    {
        self.inputs = inputs
        self.outputs = outputs
        states = []
        functions = []
        self.labels = labels
        tokenizers = []
        self.isDeclared = isDeclared
    }

    package func input(_ name: String) -> Feature? { inputs.first { $0.name == FeatureName(name) } }

    package func output(_ name: String) -> Feature? { outputs.first { $0.name == FeatureName(name) } }
}

/// Pre-processing that a model does by itself.
extension Interface {
    /// The member of `preprocessing` that says what is done inside the model, as its file says it.
    ///
    /// Other members are what an app has to do, and a person's word.
    package static let insideKey = "inside_model"

    /// Whether what was read from files, if they say any, is also what this interface says.
    ///
    /// Manifests of before it was read say nothing, which is no contradiction.
    package func hasPreprocessing(of real: Interface) -> Bool {
        guard let said = preprocessing?[Self.insideKey] else { return true }
        return said == real.preprocessing?[Self.insideKey]
    }
}

/// One named value that goes in or comes out.
package struct Feature: Equatable, Sendable {
    package var name: FeatureName
    package var type: ValueType

    /// An input that may be left out; an output that may be missing.
    package var isOptional: Bool

    /// The value taken when an optional input is left out, as decimal text, where the file says one.
    package var defaultValue: String?

    package init(name: FeatureName, type: ValueType, isOptional: Bool = false, defaultValue: String? = nil) {
        self.name = name
        self.type = type
        self.isOptional = isOptional
        self.defaultValue = defaultValue
    }
}

/// One of several functions in one file.
package struct FunctionInterface: Equatable, Sendable {
    package var name: FeatureName
    package var inputs: [Feature]
    package var outputs: [Feature]
    package var states: [Feature]

    /// Class labels by index, where this function chooses from some.
    package var labels: ClassLabels?

    package init(
        name: FeatureName,
        inputs: [Feature],
        outputs: [Feature],
        states: [Feature] = [],
        labels: ClassLabels? = nil
    ) {
        self.name = name
        self.inputs = inputs
        self.outputs = outputs
        self.states = states
        self.labels = labels
    }
}

/// The classes that a classifier chooses from, in the order of their indices.
package enum ClassLabels: Equatable, Sendable {
    case texts([JSONText])
    case integers([Int64])

    package var count: Int {
        switch self {
        case .texts(let labels): labels.count
        case .integers(let labels): labels.count
        }
    }
}

/// A file whose bytes decide what tokens mean.
package struct TokenizerDigest: Equatable, Sendable {
    package var name: FeatureName
    package var sha256: Digest

    package init(name: FeatureName, sha256: Digest) {
        self.name = name
        self.sha256 = sha256
    }
}

/// The names, types and shapes of a file's tensors, by their number and a digest.
package struct TensorTable: Equatable, Sendable {
    package var count: Int64
    package var sha256: Digest

    package init(count: Int64, sha256: Digest) {
        self.count = count
        self.sha256 = sha256
    }
}

extension Interface {
    /// What in this interface contradicts what was read out of the file; empty when they agree.
    ///
    /// Declared parts that no file can say are not compared, and labels only
    /// where both sides have some.
    package func disagreements(withExtracted extracted: Interface) -> [String] {
        var found: [String] = []
        Self.compare(inputs, extracted.inputs, "input", into: &found)
        Self.compare(outputs, extracted.outputs, "output", into: &found)
        Self.compare(states, extracted.states, "state", into: &found)
        if !hasFunctions(of: extracted) {
            found.append("the functions differ from those in the file")
        }
        if !hasLabels(of: extracted) {
            found.append("the class labels differ from those in the file")
        }
        return found
    }

    /// Whether the functions that were read from files are those of this interface, but for labels.
    package func hasFunctions(of real: Interface) -> Bool {
        defaultFunction == real.defaultFunction
            && functions.map(\.withoutLabels) == real.functions.map(\.withoutLabels)
    }

    /// Whether the labels that were read from files are those of this interface, in each function that says some.
    ///
    /// Manifests of before they were read say none, which is no
    /// contradiction: an app that knows labels does not take such a version.
    package func hasLabels(of real: Interface) -> Bool {
        let pairs = [(labels, real.labels)] + zip(functions, real.functions).map { ($0.labels, $1.labels) }
        return pairs.allSatisfy { said, found in said == nil || found == nil || said == found }
    }

    private static func compare(
        _ declared: [Feature],
        _ extracted: [Feature],
        _ what: String,
        into found: inout [String]
    ) {
        let (claims, facts) = (declared.byName, extracted.byName)
        for feature in extracted where claims[feature.name] == nil {
            found.append("\(what) `\(feature.name)` of the file is not declared")
        }
        for feature in declared {
            guard let real = facts[feature.name] else {
                found.append("\(what) `\(feature.name)` is declared, but the file has none of that name")
                continue
            }
            guard feature != real else { continue }
            let sides = "declared as \(feature.shown), but the file has \(real.shown)"
            found.append("\(what) `\(feature.name)` is \(sides)")
        }
    }
}

extension FunctionInterface {
    fileprivate var withoutLabels: FunctionInterface {
        var function = self
        function.labels = nil
        return function
    }
}

extension [Feature] {
    /// For look-up; of two with one name, the first.
    var byName: [FeatureName: Feature] {
        Dictionary(map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    }
}
