import CanonicalJSON
import Names

/// What changed from one interface to the next, row by row.
///
/// A row whose last column says one word counts in both directions; where it
/// says two, `wider` for inputs and narrower for outputs are the harmless ones.
extension ContractChanges {
    mutating func compare(_ old: Interface, _ new: Interface, in prefix: String = "") {
        compareCalls((old.inputs, old.outputs), (new.inputs, new.outputs), prefix)
        compareLabels((old.labels, old.outputs), new.labels, prefix)
        compareTokenizers(old, new, prefix)
        compareProcessing(old, new, prefix)
        compareStates(old.states, new.states, prefix)
        compareFunctions(old, new, prefix)
        compareNetwork(old, new, prefix)
        if old.isDeclared != new.isDeclared {
            let text = new.isDeclared ? "is now a person's word" : "is now read from the files"
            note(.interfaceUnknown, new.isDeclared ? .major : .patch, "\(prefix)the interface \(text)")
        }
    }

    /// What goes in and what comes out.
    ///
    /// Apps of the old model get the outputs in the sizes that the old model took.
    private mutating func compareCalls(
        _ old: (inputs: [Feature], outputs: [Feature]),
        _ new: (inputs: [Feature], outputs: [Feature]),
        _ prefix: String
    ) {
        compareValues(old.inputs, new.inputs, isInput: true, .none, prefix)
        let binding = SymbolBinding(old.inputs, new.inputs)
        compareValues(old.outputs, new.outputs, isInput: false, binding, prefix)
        let shared = SharedShapes(
            MatchedFeatures(old.inputs, new.inputs),
            MatchedFeatures(old.outputs, new.outputs)
        )
        for (first, place) in shared.unequalSent + shared.mergedSymbols {
            note(.symbolsMerged, .major, "\(prefix)\(place.shown) must now equal \(first.shown)")
        }
        for (pairs, step) in [(shared.freedInputs, VersionStep.minor), (shared.unequalGiven, .major)] {
            for (first, place) in pairs {
                note(.symbolsMerged, step, "\(prefix)\(place.shown) need no longer equal \(first.shown)")
            }
        }
    }

    private mutating func compareValues(
        _ old: [Feature],
        _ new: [Feature],
        isInput: Bool,
        _ binding: SymbolBinding,
        _ prefix: String
    ) {
        let what = "\(prefix)\(isInput ? "input" : "output")"
        let (before, after) = (old.byName, new.byName)
        for feature in old where after[feature.name] == nil {
            note(.nameGone, .major, "\(what) `\(feature.name)` is gone")
        }
        for feature in new where before[feature.name] == nil {
            if !isInput {
                note(.outputAdded, .minor, "\(what) `\(feature.name)` is new: \(feature.shown)")
            } else if feature.isOptional {
                note(.optionalInputAdded, .minor, "\(what) `\(feature.name)` is new: \(feature.shown)")
            } else {
                note(.requiredInputAdded, .major, "\(what) `\(feature.name)` is new: \(feature.shown)")
            }
        }
        if old.map(\.name).filter({ after[$0] != nil }) != new.map(\.name).filter({ before[$0] != nil }) {
            note(.orderChanged, .minor, "\(what)s stand in another order")
        }
        for feature in old {
            guard let now = after[feature.name], now != feature else { continue }
            let name = "\(what) `\(feature.name)`"
            if !feature.isOptional && now.isOptional {
                note(.becameOptional, isInput ? .minor : .major, "\(name) became optional")
            }
            if feature.isOptional && !now.isOptional {
                note(.becameRequired, .major, "\(name) became required")
            }
            compareTypes(feature.type, now.type, isInput: isInput, binding, name)
        }
    }

    private mutating func compareLabels(
        _ old: (labels: ClassLabels?, outputs: [Feature]),
        _ new: ClassLabels?,
        _ prefix: String
    ) {
        let what = "\(prefix)class labels"
        switch (old.labels, new) {
        case (nil, nil): break
        case (nil, let now?): note(.labelsAppended, .minor, "\(what): \(now.count), where none were said")
        case (let was?, nil): note(.labelGone, .major, "\(what): all \(was.count) are gone")
        case (let was?, let now?):
            let isKeyed = !old.outputs.isEmpty && old.outputs.allSatisfy(\.type.namesClasses)
            let step: VersionStep = isKeyed ? .minor : .major
            switch LabelChange(from: was, to: now, isKeyed: isKeyed) {
            case .none: break
            case .reordered: note(.labelsReordered, step, "\(what) stand in another order")
            case .appended where was.count < now.count:
                note(.labelsAppended, step, "\(what): \(was.count) became \(now.count)")
            case .appended(let first):
                note(.labelsAppended, step, "\(what): was \(first.known), has \(first.given)")
            case .changed(let first):
                note(.labelGone, .major, "\(what): was \(first.known), has \(first.given)")
            }
        }
    }

    private mutating func compareTokenizers(_ old: Interface, _ new: Interface, _ prefix: String) {
        for tokenizer in old.tokenizers where !new.tokenizers.contains(tokenizer) {
            let isGone = !new.tokenizers.contains { $0.name == tokenizer.name }
            let text = isGone ? "is gone" : "has other bytes"
            note(.tokenizerChanged, .major, "\(prefix)tokenizer `\(tokenizer.name)` \(text)")
        }
        for tokenizer in new.tokenizers where !old.tokenizers.contains(where: { $0.name == tokenizer.name }) {
            note(.tokenizerChanged, .major, "\(prefix)tokenizer `\(tokenizer.name)` is new")
        }
    }

    private mutating func compareProcessing(_ old: Interface, _ new: Interface, _ prefix: String) {
        for difference in Processing.differences(old.preprocessing, new.preprocessing) {
            note(.preprocessingChanged, .major, "\(prefix)pre-processing \(difference)")
        }
        for difference in Processing.differences(old.postprocessing, new.postprocessing) {
            let step: VersionStep = difference.isThreshold && difference.to != nil ? .minor : .major
            note(.postprocessingChanged, step, "\(prefix)post-processing \(difference)")
        }
    }

    private mutating func compareStates(_ old: [Feature], _ new: [Feature], _ prefix: String) {
        let (before, after) = (old.byName, new.byName)
        for state in old {
            guard let now = after[state.name] else {
                note(.statesChanged, .major, "\(prefix)state `\(state.name)` is gone")
                continue
            }
            guard now.type != state.type else { continue }
            note(.statesChanged, .major, "\(prefix)state `\(state.name)`: \(state.type) became \(now.type)")
        }
        for state in new where before[state.name] == nil {
            note(.statesChanged, .major, "\(prefix)state `\(state.name)` is new")
        }
    }

    private mutating func compareFunctions(_ old: Interface, _ new: Interface, _ prefix: String) {
        if old.defaultFunction != new.defaultFunction {
            let (was, now) = (old.defaultFunction, new.defaultFunction)
            let shown = "\(was?.description ?? "none") became \(now?.description ?? "none")"
            note(.functionsChanged, was == nil ? .minor : .major, "\(prefix)default function: \(shown)")
        }
        for function in old.functions {
            guard let now = new.functions.first(where: { $0.name == function.name }) else {
                note(.functionsChanged, .major, "\(prefix)function `\(function.name)` is gone")
                continue
            }
            guard now != function else { continue }
            let name = "\(prefix)function `\(function.name)`, "
            compareCalls((function.inputs, function.outputs), (now.inputs, now.outputs), name)
            compareLabels((function.labels, function.outputs), now.labels, name)
            compareStates(function.states, now.states, name)
        }
        for function in new.functions where !old.functions.contains(where: { $0.name == function.name }) {
            note(.functionsChanged, .minor, "\(prefix)function `\(function.name)` is new")
        }
    }
}

extension Processing.Difference: CustomStringConvertible {
    var description: String { "`\(key)`: \(shown(from)) became \(shown(to))" }
}
