import CanonicalJSON
package import Names

/// Whether a model can take the place that an app has for it.
///
/// Compatible when everything that the app sends is accepted and everything
/// that the model produces can be read. Both are questions of set inclusion,
/// in opposite directions: what the app may send must lie within what the
/// model takes, and what the model may give within what the app reads. Values
/// are found by name; their order counts only for an app that says so.
package enum Compatibility {
    /// Compares what an app sends and reads with what a model takes and gives.
    ///
    /// - Parameters:
    ///   - expectation: The app's side.
    ///   - interface: The model's side, of the variant that would run.
    ///   - version: When given, it must be within `expectation.accepts`.
    /// - Returns: A verdict that names every obstacle, not only the first.
    package static func verdict(
        _ expectation: Expectation,
        _ interface: Interface,
        version: ModelVersion? = nil
    ) -> Verdict {
        var comparison = Comparison(adaptations: expectation.adaptations)
        if let version, let accepts = expectation.accepts, !accepts.contains(version) {
            comparison.reasons.append("the app accepts versions \(accepts), this is \(version)")
        }
        comparison.compareInputs(expectation, interface)
        comparison.compareOutputs(expectation, interface)
        comparison.compareSymbols(expectation, interface)
        comparison.compareLabels(expectation, interface)
        if interface.isDeclared, !expectation.allowsUnknown {
            let unread =
                "no file of the model says its interface, and the app does not take a person's word for it"
            return .unknown([unread] + comparison.reasons)
        }
        if !comparison.reasons.isEmpty { return .incompatible(comparison.reasons) }
        if comparison.used.isEmpty { return .compatible(notes: comparison.notes) }
        return .compatibleWithAdaptations(comparison.used, notes: comparison.notes)
    }
}

/// What has been found so far.
struct Comparison {
    let adaptations: [Expectation.Adaptation]
    var reasons: [String] = []
    var used: [String] = []
    var notes: [String] = []

    init(adaptations: [Expectation.Adaptation]) { self.adaptations = adaptations }

    mutating func compareInputs(_ expectation: Expectation, _ interface: Interface) {
        let (sentInputs, takenInputs) = (expectation.inputs.byName, interface.inputs.byName)
        for input in interface.inputs where sentInputs[input.name] == nil {
            if input.isOptional {
                notes.append("input `\(input.name)` is optional, and the app does not send it")
            } else {
                reasons.append("input `\(input.name)`: the model needs it, and the app does not send it")
            }
        }
        for (index, sent) in expectation.inputs.enumerated() {
            let what = "input `\(sent.name)`"
            guard let taken = takenInputs[sent.name] else {
                reasons.append("\(what): the app sends it, and the model has no input of that name")
                continue
            }
            if sent.isOptional && !taken.isOptional {
                reasons.append("\(what): the model needs it, and the app does not always send it")
            }
            checkPosition(index, interface.inputs, sent.name, what, expectation)
            include(sent.type, in: taken.type, Subject(what, isInput: true))
        }
    }

    mutating func compareOutputs(_ expectation: Expectation, _ interface: Interface) {
        let givenOutputs = interface.outputs.byName
        for (index, read) in expectation.outputs.enumerated() {
            let what = "output `\(read.name)`"
            guard let given = givenOutputs[read.name] else {
                if read.isOptional {
                    notes.append("\(what) is not given, and the app can do without")
                } else {
                    reasons.append("\(what): the app reads it, and the model has no output of that name")
                }
                continue
            }
            if given.isOptional && !read.isOptional {
                reasons.append("\(what): the app always reads it, and the model does not always give it")
            }
            checkPosition(index, interface.outputs, read.name, what, expectation)
            include(given.type, in: read.type, Subject(what, isInput: false))
        }
    }

    private mutating func checkPosition(
        _ index: Int,
        _ features: [Feature],
        _ name: FeatureName,
        _ what: String,
        _ expectation: Expectation
    ) {
        guard expectation.isPositional, index >= features.count || features[index].name != name else {
            return
        }
        reasons.append("\(what): the app finds values by position, and \(index) is another one in the model")
    }

    /// Labels are read by index, or, where every output names its classes, by name.
    mutating func compareLabels(_ expectation: Expectation, _ interface: Interface) {
        guard let known = expectation.labels, known != interface.labels else { return }
        guard let given = interface.labels else {
            reasons.append("the app knows \(known.count) class labels, and the model does not say its own")
            return
        }
        let isKeyed = !expectation.outputs.isEmpty && expectation.outputs.allSatisfy(\.type.namesClasses)
        if isKeyed && known.sorted == given.sorted {
            notes.append("the class labels are in another order, and the app finds them by name")
            return
        }
        reasons.append("the class labels differ: \(known.firstDifference(from: given))")
    }
}

/// Which value of the interface a finding is about, and in which direction it flows.
struct Subject {
    let name: String
    let isInput: Bool

    init(_ name: String, isInput: Bool) {
        self.name = name
        self.isInput = isInput
    }

    /// `sub` is what is sent, `super` what must take all of it.
    func refusal(
        _ sub: some CustomStringConvertible,
        _ sup: some CustomStringConvertible,
        _ why: String
    ) -> String {
        let sides =
            isInput
            ? "the app sends \(sub), the model takes \(sup)" : "the model gives \(sub), the app reads \(sup)"
        return "\(name): \(sides): \(why)"
    }
}

extension ValueType {
    /// Whether results carry their classes' names, so that indices do not matter.
    var namesClasses: Bool {
        switch self {
        case .map: true
        case .sequence(let element, _), .maybe(let element): element.namesClasses
        case .tensor(let tensor): tensor.element == .string
        case .scalar(let element): element == .string
        case .sparseTensor, .image, .opaque: false
        }
    }
}

extension ClassLabels {
    var sorted: ClassLabels {
        switch self {
        case .texts(let labels): .texts(labels.sorted())
        case .integers(let labels): .integers(labels.sorted())
        }
    }

    private var shown: [String] {
        switch self {
        case .texts(let labels): labels.map(\.string)
        case .integers(let labels): labels.map(String.init)
        }
    }

    /// For people: the first index at which the two differ.
    func firstDifference(from other: ClassLabels) -> String {
        let (mine, theirs) = (shown, other.shown)
        for (index, pair) in zip(mine, theirs).enumerated() where !pair.0.utf8.elementsEqual(pair.1.utf8) {
            return "\(index) is `\(pair.0)` for the app and `\(pair.1)` for the model"
        }
        return "the app knows \(mine.count), the model has \(theirs.count)"
    }
}
