package import CanonicalJSON
import Names

/// What a file of tensors says about the network that they are for.
///
/// A GGUF file has no inputs and outputs: what an app can rely on is which
/// architecture its runtime must know, how many tokens fit, how long an
/// embedding is, and by which numbers text begins and ends. An app's
/// expectation says those that it relies on, and leaves out the others.
package struct NetworkFacts: Equatable, Sendable {
    /// `general.architecture`: `llama`.
    package var architecture: FeatureName?

    /// Tokens.
    package var contextLength: Int64?

    /// Elements.
    package var embeddingLength: Int64?

    /// Tokens that exist.
    package var vocabularySize: Int64?

    /// The token that text begins with, and the one that ends it.
    package var beginToken: Int64?
    package var endToken: Int64?

    package init(architecture: FeatureName? = nil) { self.architecture = architecture }

    /// The facts that are numbers, as they are written, in order.
    package static var numbers: [(key: String, fact: WritableKeyPath<NetworkFacts, Int64?>)] {
        [
            ("context_length", \.contextLength), ("embedding_length", \.embeddingLength),
            ("vocabulary_size", \.vocabularySize), ("begin_token", \.beginToken), ("end_token", \.endToken),
        ]
    }
}

extension NetworkFacts {
    init(_ reader: MemberReader) throws(ManifestError) {
        var reader = reader
        architecture = try reader.optionalParsed("architecture", "a name") { FeatureName($0) }
        for (key, fact) in Self.numbers {
            self[keyPath: fact] = try reader.optionalInteger(key, in: 0...1 << 40)
        }
        try reader.finish()
    }

    package var json: JSONValue {
        var object = JSONObject()
        object.set("architecture", text: architecture?.description)
        for (key, fact) in Self.numbers { object.set(key, self[keyPath: fact].map(JSONValue.integer)) }
        return .object(object)
    }
}

/// Which row a fact belongs to: numbers of tokens mean what a tokenizer means.
extension NetworkFacts {
    static func row(of key: String) -> ContractRow {
        switch key {
        case "vocabulary_size", "begin_token", "end_token": .tokenizerChanged
        default: .interfaceUnknown
        }
    }

    /// Whether what an app relies on is also true of a model: a longer context has room for a shorter one.
    static func fits(_ key: String, _ known: Int64, _ given: Int64?) -> Bool {
        guard let given else { return false }
        return key == "context_length" ? given >= known : given == known
    }
}

extension Comparison {
    /// Every fact that the app says must be true of the model; the others are not its business.
    mutating func compareNetwork(_ known: NetworkFacts?, _ given: NetworkFacts?) {
        guard let known else { return }
        if let wanted = known.architecture, wanted != given?.architecture {
            findings.append(
                Finding(
                    .interfaceUnknown,
                    "network architecture",
                    app: "runs \(wanted)",
                    model: given?.architecture.map { "is \($0)" } ?? "does not say its own",
                    remedy: "stay with a version of that architecture, or make the app run the other"
                )
            )
        }
        for (key, fact) in NetworkFacts.numbers {
            guard let wanted = known[keyPath: fact] else { continue }
            let found = given?[keyPath: fact]
            guard !NetworkFacts.fits(key, wanted, found) else { continue }
            findings.append(
                Finding(
                    NetworkFacts.row(of: key),
                    "network \(key)",
                    app: "relies on \(wanted)",
                    model: found.map { "has \($0)" } ?? "does not say it",
                    remedy: "change the app and its expectation, or stay with a version that has it"
                )
            )
        }
    }

    /// An app that names a table of tensors takes that table alone.
    mutating func compareTensors(_ known: TensorTable?, _ given: TensorTable?) {
        guard let known, known != given else { return }
        findings.append(
            Finding(
                .interfaceUnknown,
                "tensors",
                app: "knows \(known.count) of them, \(known.sha256.hex.prefix(12))…",
                model: given.map { "has \($0.count), \($0.sha256.hex.prefix(12))…" }
                    ?? "has no table of them",
                why: "a name, type or shape is another",
                remedy: "make the app load the new ones, or stay with a version that has the app's"
            )
        )
    }
}

extension ContractChanges {
    /// Facts of the network, and the table of tensors.
    ///
    /// Where nothing but the table says what the file is, the table is the
    /// contract, since apps load its tensors by name. Where the file says its
    /// network, runtimes know the tensors by that, and another table is
    /// another precision or depth inside.
    mutating func compareNetwork(_ old: Interface, _ new: Interface, _ prefix: String) {
        if let was = old.tensors, was != new.tensors {
            let isContract = old.network == nil && new.network == nil || new.tensors == nil
            let text = "\(prefix)the tensors have other names, types or shapes"
            note(isContract ? .interfaceUnknown : .precisionInside, isContract ? .major : .minor, text)
        }
        guard old.network != new.network else { return }
        guard let was = old.network else {
            note(.interfaceUnknown, .patch, "\(prefix)the network is now said")
            return
        }
        if was.architecture != new.network?.architecture {
            func shown(_ name: FeatureName?) -> String { name?.description ?? "none" }
            let text = "\(shown(was.architecture)) became \(shown(new.network?.architecture))"
            note(.interfaceUnknown, .major, "\(prefix)network architecture: \(text)")
        }
        for (key, fact) in NetworkFacts.numbers {
            let (before, after) = (was[keyPath: fact], new.network?[keyPath: fact])
            guard before != after else { continue }
            let isHarmless = before.map { NetworkFacts.fits(key, $0, after) } ?? true
            let text = "\(before.map(String.init) ?? "unsaid") became \(after.map(String.init) ?? "unsaid")"
            note(
                NetworkFacts.row(of: key),
                isHarmless ? .minor : .major,
                "\(prefix)network \(key): \(text)"
            )
        }
    }
}
