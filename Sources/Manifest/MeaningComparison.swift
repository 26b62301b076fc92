import CanonicalJSON
import Names

/// What has the same type and may still mean something else.
extension Comparison {
    /// Tokenizers, the network, what is done before and after, and states.
    mutating func compareMeaning(
        _ expectation: Expectation,
        _ interface: Interface,
        of variant: Variant?
    ) {
        compareTokenizers(expectation, interface, variant)
        compareNetwork(expectation.network, interface.network)
        compareTensors(expectation.tensors, interface.tensors)
        compareProcessing(
            .preprocessingChanged,
            "pre-processing",
            expectation.preprocessing,
            interface.preprocessing
        )
        compareProcessing(
            .postprocessingChanged,
            "post-processing",
            expectation.postprocessing,
            interface.postprocessing
        )
        if !expectation.isStateAgnostic {
            compareStates(expectation.states, interface.states, prefix: "")
        }
    }

    private mutating func compareTokenizers(
        _ expectation: Expectation,
        _ interface: Interface,
        _ variant: Variant?
    ) {
        for known in expectation.tokenizers {
            let given = interface.tokenizers.first { $0.name == known.name }
            guard given?.sha256 != known.sha256 else { continue }
            findings.append(
                Finding(
                    .tokenizerChanged,
                    "tokenizer `\(known.name)`",
                    app: "has built in \(known.sha256.hex.prefix(12))…",
                    model: given.map { "was trained with \($0.sha256.hex.prefix(12))…" } ?? "says none",
                    why: "the same text becomes other numbers",
                    remedy:
                        "use the tokenizer that ships with the model (`bundled_tokenizers`), or update the app's"
                )
            )
        }
        for given in interface.tokenizers
        where !expectation.tokenizers.contains(where: { $0.name == given.name }) {
            guard expectation.usesBundledTokenizers else {
                findings.append(
                    Finding(
                        .tokenizerChanged,
                        "tokenizer `\(given.name)`",
                        app: "names none of that name",
                        model: "was trained with \(given.sha256.hex.prefix(12))…",
                        remedy: "say in the expectation which one the app has, or `bundled_tokenizers`"
                    )
                )
                continue
            }
            // A GGUF file holds its tokenizer itself.
            let isShipped = variant?.files.contains { $0.sha256 == given.sha256 } ?? false
            guard isShipped || variant?.format == .gguf else {
                findings.append(
                    Finding(
                        .tokenizerChanged,
                        "tokenizer `\(given.name)`",
                        app: "uses the one that ships with the model",
                        model: "does not ship \(given.sha256.hex.prefix(12))…",
                        remedy: "publish the tokenizer among the variant's files"
                    )
                )
                continue
            }
        }
    }

    private mutating func compareProcessing(
        _ row: ContractRow,
        _ what: String,
        _ known: JSONValue?,
        _ given: JSONValue?
    ) {
        for difference in Processing.differences(known, given) {
            // An app that says nothing of what a model does by itself leaves that to the model.
            if difference.key == Interface.insideKey, difference.from == nil { continue }
            if row == .postprocessingChanged, difference.isThreshold, difference.to != nil {
                notes.append(
                    "\(what) `\(difference.key)`: \(difference.shown(difference.to)), the app knows "
                        + difference.shown(difference.from)
                )
                continue
            }
            findings.append(
                Finding(
                    row,
                    "\(what) `\(difference.key)`",
                    app: difference.from == nil
                        ? "does not say it" : "does \(difference.shown(difference.from))",
                    model: difference.to == nil
                        ? "does not ask for it" : "asks for \(difference.shown(difference.to))",
                    why: "the numbers would mean something else",
                    remedy: "change the app and its expectation to what the model asks for"
                )
            )
        }
    }

    mutating func compareStates(_ known: [Feature], _ given: [Feature], prefix: String) {
        let (mine, theirs) = (known.byName, given.byName)
        let gone = known.filter { theirs[$0.name] == nil }
        let added = given.filter { mine[$0.name] == nil }
        let remedy = "change the app, or let the runtime make states and say `state_agnostic`"
        for state in gone {
            findings.append(
                Finding(
                    .statesChanged,
                    "\(prefix)state `\(state.name)`",
                    app: "keeps \(state.type)",
                    model: "has no state of that name",
                    remedy: remedy
                )
            )
        }
        for state in added {
            findings.append(
                Finding(
                    .statesChanged,
                    "\(prefix)state `\(state.name)`",
                    app: "does not keep it",
                    model: "needs \(state.type) between calls",
                    remedy: remedy
                )
            )
        }
        for state in known {
            guard let given = theirs[state.name], given.type != state.type else { continue }
            findings.append(
                Finding(
                    .statesChanged,
                    "\(prefix)state `\(state.name)`",
                    app: "keeps \(state.type)",
                    model: "needs \(given.type)",
                    remedy: remedy
                )
            )
        }
    }

    /// The default function by its name where the app says one, and each other that the app calls.
    mutating func compareFunctions(_ expectation: Expectation, _ interface: Interface) {
        if let wanted = expectation.defaultFunction, wanted != interface.defaultFunction {
            findings.append(
                Finding(
                    .functionsChanged,
                    "default function",
                    app: "calls `\(wanted)`",
                    model: interface.defaultFunction.map { "has `\($0)`" } ?? "names none",
                    remedy: "call the function by its name, or stay with a version that has it as default"
                )
            )
        }
        for wanted in expectation.functions {
            let name = "function `\(wanted.name)`"
            guard let given = interface.functions.first(where: { $0.name == wanted.name }) else {
                let names = interface.functions.map { "`\($0.name)`" }.joined(separator: ", ")
                findings.append(
                    Finding(
                        .functionsChanged,
                        name,
                        app: "calls it",
                        model: "has no function of that name",
                        why: "its functions are \(names.isEmpty ? "none" : names)",
                        remedy: "call one that is there, or stay with a version that has it"
                    )
                )
                continue
            }
            compare(
                Values(inputs: wanted.inputs, outputs: wanted.outputs),
                Values(inputs: given.inputs, outputs: given.outputs, prefix: "\(name), "),
                isPositional: expectation.isPositional
            )
            compareLabels(
                (wanted.labels, wanted.outputs),
                given.labels,
                isOpen: expectation.hasOpenLabels,
                prefix: "\(name), "
            )
            if !expectation.isStateAgnostic {
                compareStates(wanted.states, given.states, prefix: "\(name), ")
            }
        }
    }
}

/// What is done to values outside a model, compared member by member.
enum Processing {
    /// One member that is not the same on both sides.
    struct Difference {
        let key: String
        let from: JSONValue?
        let to: JSONValue?

        /// A threshold decides nothing about types; moving it changes how often, not what.
        var isThreshold: Bool { key == "threshold" || key.hasSuffix("_threshold") }

        func shown(_ value: JSONValue?) -> String {
            guard let value else { return "nothing" }
            let text = String(decoding: value.compactJSON.prefix(160), as: UTF8.self)
            return text.count <= 40 ? text : "\(text.prefix(40))…"
        }
    }

    /// Members of one side that are not the other's, by key.
    static func differences(_ from: JSONValue?, _ to: JSONValue?) -> [Difference] {
        guard from != to else { return [] }
        // An empty object on one side and none on the other say the same.
        let members = (from?.object?.members ?? []) + (to?.object?.members ?? [])
        return Set(members.map(\.key)).sorted().map(\.string).compactMap { key in
            let (before, after) = (from?[key], to?[key])
            return before == after ? nil : Difference(key: key, from: before, to: after)
        }
    }
}
