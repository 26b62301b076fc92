package import CanonicalJSON
package import Names

/// What a person writes about a model: `sealift/card@1`, any valid JSON, every member optional but `type`.
///
/// A card says only what no file can say; interface and requirements are read
/// from the files. Unknown members are refused, so that a typing mistake does
/// not silently drop a licence.
package struct Card: Equatable, Sendable {
    /// What a card says about one variant.
    package struct VariantNotes: Equatable, Sendable {
        package var compute: [ComputeUnit]?
        package var memory: MemoryNeed?

        /// What the files are; they must agree, except that `opaque` asks for no reading.
        package var format: ModelFormat?

        /// Which file a runtime opens, where the files leave a choice.
        package var entry: FilePath?

        package init(compute: [ComputeUnit]? = nil, memory: MemoryNeed? = nil) {
            self.compute = compute
            self.memory = memory
        }
    }

    package var description: ModelDescription
    package var labels: ClassLabels?

    /// Of functions other than the default one, which `labels` is about.
    package var functionLabels: [FeatureName: ClassLabels]
    package var tokenizers: [TokenizerDigest]
    package var preprocessing: JSONValue?
    package var postprocessing: JSONValue?
    package var checks: [GoldenCheck]
    package var variants: [VariantName: VariantNotes]

    package init(description: ModelDescription = ModelDescription()) {
        self.description = description
        functionLabels = [:]
        tokenizers = []
        checks = []
        variants = [:]
    }

    /// This card's words put into a manifest made from files.
    ///
    /// - Throws: `ManifestError.editRefused` when the card names a variant that the manifest has not, or
    ///   labels that differ from those in the files, or speaks of inputs, outputs, functions or files that are
    ///   not there.
    package func merged(into manifest: ModelManifest) throws(ManifestError) -> ModelManifest {
        var merged = manifest
        merged.description = description.withoutEmptyTexts
        merged.interface = try interface(mergedInto: manifest.interface)
        try checkTokenizers(of: manifest.variants)
        for check in checks {
            merged.checks.append(try check.json(for: merged.interface))
            try check.checkFiles(in: merged)
        }
        for (name, notes) in variants {
            guard let index = merged.variants.firstIndex(where: { $0.name == name }) else {
                let names = manifest.variants.map(\.name.description).joined(separator: ", ")
                throw .editRefused(.card, reason: "there is no variant \(name); this version has \(names)")
            }
            merged.variants[index].compute = notes.compute ?? merged.variants[index].compute
            merged.variants[index].memory = notes.memory ?? merged.variants[index].memory
        }
        return merged
    }

    /// An app takes a tokenizer from the files, so it must be one of them; a GGUF file holds its own.
    private func checkTokenizers(of variants: [Variant]) throws(ManifestError) {
        for tokenizer in tokenizers {
            for variant in variants where variant.format != .gguf {
                guard !variant.files.contains(where: { $0.sha256 == tokenizer.sha256 }) else { continue }
                throw .editRefused(
                    .card,
                    reason:
                        "tokenizer `\(tokenizer.name)`: no file of variant \(variant.name) has the digest "
                        + "\(tokenizer.sha256.hex); put the file there, or correct the digest"
                )
            }
        }
    }

    /// What stands under a name is about the input of that name; other members are about all of them.
    private func keyedPreprocessing(of interface: Interface) throws(ManifestError) -> JSONObject? {
        guard let said = preprocessing?.object else { return nil }
        let inputs = interface.inputs.map(\.name)
        var keyed = JSONObject()
        for member in said.members {
            let word = member.key.string
            guard member.value.object != nil, word != Interface.insideKey else {
                keyed[word] = member.value
                continue
            }
            let input = "input `\(Shown.short(word))`"
            guard let key = FeatureName.key(meaning: word, among: inputs) else {
                let there = Shown.list(inputs.map(\.description))
                let reason = "`preprocessing` speaks of \(input); the model has \(there)"
                throw .editRefused(.card, reason: reason)
            }
            guard keyed[key] == nil else {
                throw .editRefused(.card, reason: "`preprocessing` speaks twice of \(input)")
            }
            keyed[key] = member.value
        }
        return keyed
    }

    private func interface(mergedInto interface: Interface) throws(ManifestError) -> Interface {
        var merged = interface
        if let labels, let real = interface.labels, real != labels {
            throw .editRefused(.card, reason: "`labels` differs from the class labels in the model file")
        }
        merged.labels = labels ?? interface.labels
        for (name, labels) in functionLabels.sorted(by: { $0.key < $1.key }) {
            guard let index = merged.functions.firstIndex(where: { $0.name == name }) else {
                throw .editRefused(.card, reason: noFunction(name, in: interface))
            }
            guard merged.functions[index].labels == nil || merged.functions[index].labels == labels else {
                let what = "`function_labels` differs from the class labels of `\(name)` in the model file"
                throw .editRefused(.card, reason: what)
            }
            merged.functions[index].labels = labels
        }
        merged.tokenizers += tokenizers
        merged.preprocessing = try preprocessing(of: interface)
        merged.postprocessing = postprocessing ?? interface.postprocessing
        return merged
    }
}

extension Card {
    private func noFunction(_ name: FeatureName, in interface: Interface) -> String {
        let subject = "`function_labels` speaks of function `\(Shown.short(name.description))`"
        if name == interface.defaultFunction {
            return "\(subject), which is the default one; say its labels in `labels`"
        }
        let others = interface.functions.map(\.name.description)
        let there = others.isEmpty ? "none but the default one" : Shown.list(others)
        return "\(subject); the model has \(there)"
    }

    /// What an app has to do, beside what the file says that the model does itself.
    private func preprocessing(of interface: Interface) throws(ManifestError) -> JSONValue? {
        let real = interface.preprocessing
        guard var said = try keyedPreprocessing(of: interface) else { return real }
        let key = Interface.insideKey
        guard said[key] == nil || said[key] == real?[key] else {
            throw .editRefused(.card, reason: "`preprocessing.\(key)` differs from what the model file says")
        }
        if let inside = real?[key] { said[key] = inside }
        return .object(said)
    }
}

extension Card {
    /// Takes a card as a person wrote it.
    ///
    /// - Throws: `ManifestError`, naming the member that is wrong.
    package init(bytes: [UInt8]) throws(ManifestError) {
        let value: JSONValue
        do { value = try JSONParser.parse(bytes, maximumLength: Int(Limits.manifest.rawValue)) } catch {
            throw .notJSON(.card, error)
        }
        try self.init(json: value)
    }

    package init(json: JSONValue) throws(ManifestError) {
        let type = DocumentType.card
        var reader = try MemberReader(json, at: Place(type))
        _ = try reader.parsed("type", "\"\(type.rawValue)\"") { $0 == type.rawValue ? $0 : nil }
        self.init(description: try ModelDescription(&reader))
        if let license = description.license, !license.isEmpty {
            guard let expression = LicenseExpression(license) else {
                let expected =
                    "an SPDX expression such as `MIT` or `Apache-2.0 OR MIT`, or `LicenseRef-` and a name"
                throw reader.place.member("license").invalid(expected, .text(license))
            }
            description.license = expression.description
        }
        labels = try ClassLabels(try reader.optionalArray("labels"), at: reader.place.member("labels"))
        if json["function_labels"] != nil {
            for (key, value, place) in try reader.map("function_labels") {
                guard let name = FeatureName(key) else { throw place.invalid("under a function's name", key) }
                functionLabels[name] = try ClassLabels(value, at: place)
            }
        }
        for (value, place) in try reader.optionalArray("tokenizers") {
            tokenizers.append(try TokenizerDigest(value, at: place))
        }
        preprocessing = try reader.optionalObject("preprocessing")
        postprocessing = try reader.optionalObject("postprocessing")
        for (value, place) in try reader.optionalArray("checks") {
            checks.append(try GoldenCheck(value, at: place))
        }
        if json["variants"] != nil {
            for (key, value, place) in try reader.map("variants") {
                guard let name = VariantName(key) else { throw place.invalid("under a variant name", key) }
                variants[name] = try VariantNotes(value, at: place)
            }
        }
        try reader.finish()
    }

    package var json: JSONValue {
        var object = JSONObject()
        object["type"] = .text(DocumentType.card.rawValue)
        description.write(into: &object)
        object.set("labels", nonEmpty: labels?.json ?? [])
        if !functionLabels.isEmpty {
            var members = JSONObject()
            for (name, labels) in functionLabels { members[name.description] = .array(labels.json) }
            object["function_labels"] = .object(members)
        }
        object.set("tokenizers", nonEmpty: tokenizers.map(\.json))
        object.set("preprocessing", preprocessing)
        object.set("postprocessing", postprocessing)
        object.set("checks", nonEmpty: checks.map(\.json))
        if !variants.isEmpty {
            var members = JSONObject()
            for (name, notes) in variants { members[name.description] = notes.json }
            object["variants"] = .object(members)
        }
        return .object(object)
    }
}

extension Card.VariantNotes {
    init(_ value: JSONValue, at place: Place) throws(ManifestError) {
        var reader = try MemberReader(value, at: place)
        let units = try reader.optionalArray("compute")
        if !units.isEmpty {
            var compute: [ComputeUnit] = []
            for (value, place) in units {
                guard let unit = value.string.flatMap(ComputeUnit.init(rawValue:)), !compute.contains(unit)
                else {
                    throw place.invalid("cpu, gpu or npu, each once", value)
                }
                compute.append(unit)
            }
            self.compute = compute
        }
        memory = try reader.optionalReader("memory").map { (inner) throws(ManifestError) in
            try MemoryNeed(inner)
        }
        format = try reader.optionalParsed("format", "a format that version 1 knows") {
            ModelFormat(rawValue: $0)
        }
        entry = try reader.optionalParsed("entry", "a safe relative path in NFC") { FilePath($0) }
        try reader.finish()
    }

    var json: JSONValue {
        var object = JSONObject()
        object.set("compute", nonEmpty: compute?.map { .text($0.rawValue) } ?? [])
        object.set("memory", memory?.json)
        object.set("format", text: format?.rawValue)
        object.set("entry", text: entry?.description)
        return .object(object)
    }
}
