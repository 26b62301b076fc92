package import Names

/// Whether a model can take the place that an app has for it.
///
/// Compatible when everything that the app sends is accepted, everything that
/// the model produces can be read, the meaning is the same, and it can run
/// here. The first two are questions of set inclusion, in opposite
/// directions: what the app may send must lie within what the model takes, and
/// what the model may give within what the app reads. Values are found by
/// name. A symbol of the model is the size that the app sends for it, in its
/// outputs too. The order of values counts only for an app that says so. `ContractRow` is the
/// table of everything that may differ.
package enum Compatibility {
    /// Compares what an app sends and reads with what a model takes and gives.
    ///
    /// - Parameters:
    ///   - expectation: The app's side.
    ///   - interface: The model's side, of the variant that would run.
    ///   - version: When given, it must be within `expectation.accepts`.
    ///   - variant: When given, what ships along counts, and what it needs of a machine.
    ///   - machine: What would run it; `nil` asks only whether the two fit.
    /// - Returns: A verdict that names every obstacle, not only the first.
    package static func verdict(
        _ expectation: Expectation,
        _ interface: Interface,
        version: ModelVersion? = nil,
        variant: Variant? = nil,
        on machine: Machine? = nil
    ) -> Verdict {
        var comparison = Comparison(adaptations: expectation.adaptations)
        if let version, let accepts = expectation.accepts, !accepts.contains(version) {
            comparison.findings.append(
                Finding(
                    nil,
                    "version",
                    app: "accepts \(accepts)",
                    model: "is \(version)",
                    remedy: "widen `accepts` when the app is ready for it"
                )
            )
        }
        comparison.compareValues(expectation, interface)
        comparison.compareLabels(
            (expectation.labels, expectation.outputs),
            interface.labels,
            isOpen: expectation.hasOpenLabels,
            prefix: ""
        )
        comparison.compareMeaning(expectation, interface, of: variant)
        let obstacles = obstacles(to: variant, expectation, machine)
        let isPinned = expectation.tensors != nil && expectation.tensors == interface.tensors
        if interface.isDeclared, !expectation.allowsUnknown, !isPinned {
            return .unknown([Self.unread] + comparison.findings + obstacles)
        }
        if !comparison.findings.isEmpty { return .incompatible(comparison.findings + obstacles) }
        if !obstacles.isEmpty { return .notRunnable(obstacles) }
        if comparison.used.isEmpty { return .compatible(notes: comparison.notes) }
        return .compatibleWithAdaptations(comparison.used, notes: comparison.notes)
    }

    /// Judges one variant of a version.
    package static func verdict(
        _ expectation: Expectation,
        _ manifest: ModelManifest,
        variant: Variant,
        on machine: Machine? = nil
    ) -> Verdict {
        verdict(
            expectation,
            manifest.interface(of: variant),
            version: manifest.version,
            variant: variant,
            on: machine
        )
    }

    /// Judges a version by its best variant: an app can live with it when one of them serves.
    ///
    /// Of an app that says which formats its runtimes load, only those count.
    package static func verdict(
        _ expectation: Expectation,
        _ manifest: ModelManifest,
        on machine: Machine? = nil
    ) -> Verdict {
        let loaded = manifest.variants.filter { expectation.loads($0.format) }
        let judged = loaded.isEmpty ? manifest.variants : loaded
        let verdicts = judged.map { verdict(expectation, manifest, variant: $0, on: machine) }
        return verdicts.first(where: \.allowsUse) ?? verdicts.first ?? .compatible(notes: [])
    }

    private static func obstacles(
        to variant: Variant?,
        _ expectation: Expectation,
        _ machine: Machine?
    ) -> [Finding] {
        guard let variant else { return [] }
        let found = machine?.obstacles(to: variant) ?? []
        guard !expectation.loads(variant.format) else { return found }
        let formats = expectation.formats.map(\.rawValue).joined(separator: ", ")
        let format = Finding(
            .formatChanged,
            "format",
            app: "loads \(formats)",
            model: "is \(variant.format.rawValue)",
            remedy: "publish a variant that the app loads, or stay with a version that has one"
        )
        return [format] + found
    }

    private static let unread = Finding(
        .interfaceUnknown,
        "interface",
        app: "takes only what was read from a file",
        model: "has one that a person declared",
        why: "its format has no place for inputs and outputs",
        remedy: "say `allow_unknown` in the expectation if the app checks by itself"
    )
}

/// What has been found so far.
struct Comparison {
    let adaptations: [Expectation.Adaptation]
    var findings: [Finding] = []
    var used: [String] = []
    var notes: [String] = []

    init(adaptations: [Expectation.Adaptation]) { self.adaptations = adaptations }

    mutating func compareValues(_ expectation: Expectation, _ interface: Interface) {
        let app = Values(inputs: expectation.inputs, outputs: expectation.outputs)
        let model = Values(inputs: interface.inputs, outputs: interface.outputs)
        compare(app, model, isPositional: expectation.isPositional)
        compareFunctions(expectation, interface)
    }

    mutating func compare(_ app: Values, _ model: Values, isPositional: Bool) {
        let binding = SymbolBinding(app.inputs, model.inputs)
        let inputs = MatchedFeatures(app.inputs, model.inputs)
        let outputs = MatchedFeatures(app.outputs, binding.applied(to: model.outputs))
        compareInputs(inputs, model, isPositional)
        compareOutputs(outputs, model, isPositional)
        let named = binding.isEmpty ? outputs : MatchedFeatures(app.outputs, model.outputs)
        compareSymbols(inputs, named, prefix: model.prefix)
    }

    private mutating func compareInputs(
        _ inputs: MatchedFeatures,
        _ model: Values,
        _ isPositional: Bool
    ) {
        for input in inputs.added {
            let what = model.subject(input.name, isInput: true).name
            if input.isOptional {
                notes.append("\(what) is optional, and the app does not send it")
            } else {
                findings.append(
                    Finding(
                        .requiredInputAdded,
                        what,
                        app: "does not send it",
                        model: "needs \(input.type)",
                        remedy: "send it, or stay with a version that does not need it"
                    )
                )
            }
        }
        for (index, sent) in inputs.mine.enumerated() {
            let subject = model.subject(sent.name, isInput: true)
            guard let taken = inputs.counterpart(of: index) else {
                findings.append(
                    Finding(
                        .nameGone,
                        subject.name,
                        app: "sends \(sent.type)",
                        model: "has no input of that name",
                        why: "its inputs are \(model.inputs.names)",
                        remedy: "send what the model takes, or stay with a version that has it"
                    )
                )
                continue
            }
            if sent.isOptional && !taken.isOptional {
                findings.append(
                    Finding(
                        .becameRequired,
                        subject.name,
                        app: "does not always send it",
                        model: "needs it",
                        remedy: "always send it, or stay with a version where it is optional"
                    )
                )
            }
            if isPositional { checkPosition(index, model.inputs, sent.name, subject) }
            include(sent.type, in: taken.type, subject)
        }
    }

    private mutating func compareOutputs(
        _ outputs: MatchedFeatures,
        _ model: Values,
        _ isPositional: Bool
    ) {
        for (index, read) in outputs.mine.enumerated() {
            let subject = model.subject(read.name, isInput: false)
            guard let given = outputs.counterpart(of: index) else {
                if read.isOptional {
                    notes.append("\(subject.name) is not given, and the app can do without")
                } else {
                    findings.append(
                        Finding(
                            .nameGone,
                            subject.name,
                            app: "reads \(read.type)",
                            model: "has no output of that name",
                            why: "its outputs are \(model.outputs.names)",
                            remedy: "read what the model gives, or stay with a version that has it"
                        )
                    )
                }
                continue
            }
            if given.isOptional && !read.isOptional {
                findings.append(
                    Finding(
                        .becameOptional,
                        subject.name,
                        app: "always reads it",
                        model: "does not always give it",
                        remedy: "make the app do without it, and mark it `optional` in the expectation"
                    )
                )
            }
            if isPositional { checkPosition(index, model.outputs, read.name, subject) }
            include(given.type, in: read.type, subject)
        }
    }

    private mutating func checkPosition(
        _ index: Int,
        _ features: [Feature],
        _ name: FeatureName,
        _ subject: Subject
    ) {
        guard index >= features.count || features[index].name != name else { return }
        let other = index < features.count ? "`\(features[index].name)`" : "nothing"
        findings.append(
            Finding(
                .orderChanged,
                subject.name,
                app: "finds it at position \(index)",
                model: "has \(other) there",
                remedy: "find values by name, and take `positional` out of the expectation"
            )
        )
    }
}

/// The inputs and outputs of one side, of the default function or of another.
struct Values {
    let inputs: [Feature]
    let outputs: [Feature]

    /// ``function `f`, ``, or nothing for the default one.
    let prefix: String

    init(inputs: [Feature], outputs: [Feature], prefix: String = "") {
        self.inputs = inputs
        self.outputs = outputs
        self.prefix = prefix
    }

    func subject(_ name: FeatureName, isInput: Bool) -> Subject {
        Subject(prefix: prefix, feature: name, isInput: isInput)
    }
}

extension [Feature] {
    /// For people: at most eight names.
    var names: String {
        guard !isEmpty else { return "none" }
        let more = count > 8 ? " and \(count - 8) more" : ""
        return prefix(8).map { "`\($0.name)`" }.joined(separator: ", ") + more
    }
}
