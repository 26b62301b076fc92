import Manifest
import Names

/// What an ML Program (MIL) says about its functions.
struct CoreMLProgram {
    /// The names that each function takes, in the program's own words.
    var functions: [FeatureName: Set<FeatureName>] = [:]

    /// The classes of those that classify.
    var labels: [FeatureName: ClassLabels] = [:]
    let offset: UInt64

    /// The function that a description without functions is about: `main`, or the only one.
    var main: FeatureName? {
        let name = FeatureName("main")
        if let name, functions[name] != nil { return name }
        return functions.count == 1 ? functions.keys.first : nil
    }

    /// The program's inputs must be those that the description promises: a runtime could follow either.
    func check(against description: CoreMLDescription) throws(FormatError) {
        guard !description.functions.isEmpty else {
            guard let main, let taken = functions[main] else {
                throw .malformed(CoreMLReader.format, field: "functions", offset: offset, .missing)
            }
            return try check(taken, description.inputs + description.states, "main")
        }
        guard Set(functions.keys) == Set(description.functions.map(\.name)) else {
            throw .malformed(
                CoreMLReader.format,
                field: "mlProgram.functions",
                offset: offset,
                .contradiction
            )
        }
        for function in description.functions {
            try check(functions[function.name] ?? [], function.inputs + function.states, "\(function.name)")
        }
    }

    private func check(
        _ taken: Set<FeatureName>,
        _ promised: [Feature],
        _ name: String
    ) throws(FormatError) {
        guard taken == Set(promised.map(\.name)) else {
            throw .malformed(
                CoreMLReader.format,
                field: "mlProgram.functions `\(name)`.inputs",
                offset: offset,
                .contradiction
            )
        }
    }
}

extension CoreMLReader {
    /// What is collected while a function is walked.
    struct Walk {
        /// The values of `const` operations, by the name of their output.
        var constants: [String: ProtobufMessage] = [:]

        /// The labels of the `classify` operation, or the name of the constant that holds them.
        var labels: ClassLabels?
        var labelsName: String?
        var classifiers = 0
    }

    /// Program.
    ///
    /// - Throws: `FormatError.limit` also when the labels of all functions have no room in one manifest.
    mutating func readProgram(_ message: ProtobufMessage) throws(FormatError) {
        var found = CoreMLProgram(offset: message.range.lowerBound)
        var written: UInt64 = 0
        var fields = ProtobufFields(message, singular: [1], in: reader)
        while let field = try fields.next() {
            guard field.number == 2 else {
                if field.number == 4 { try walkAttribute(field) }
                continue
            }
            guard found.functions.count < ShapeLimits.functions else {
                throw field.limit("functions", ShapeLimits.functions)
            }
            let entry = try readEntry(field, "functions")
            guard let name = FeatureName(entry.key) else { throw field.error("functions.key", .badName) }
            var walk = Walk()
            let inputs = try readProgramFunction(entry.value, into: &walk)
            guard found.functions.updateValue(inputs, forKey: name) == nil else {
                throw field.error("functions `\(name)`", .duplicate)
            }
            guard let labels = try labels(of: walk) else { continue }
            written += labels.written
            let limit = reader.limits.labelBytes
            guard written <= limit else {
                let which = "bytes of class labels"
                throw .limit(Self.format, which: which, offset: field.offset, found: written, limit: limit)
            }
            found.labels[name] = labels
        }
        program = found
    }

    private func labels(of walk: Walk) throws(FormatError) -> ClassLabels? {
        guard walk.classifiers == 1 else { return nil }
        guard let name = walk.labelsName else { return walk.labels }
        guard let value = walk.constants[name] else { return nil }
        return try readLabelValue(value)
    }

    /// An entry of a map from text to a message.
    func readEntry(
        _ field: ProtobufField,
        _ name: String
    ) throws(FormatError) -> (key: String, value: ProtobufMessage) {
        var key = ""
        var value: ProtobufMessage?
        var fields = ProtobufFields(try field.message(name, in: reader), singular: [1, 2], in: reader)
        while let inner = try fields.next() {
            switch inner.number {
            case 1: key = try inner.text("key", limit: 1_024, in: reader)
            case 2: value = try inner.message("\(name).value", in: reader)
            default: break
            }
        }
        guard let value else { throw field.error("\(name).value", .missing) }
        return (key, value)
    }

    /// Function: 1 inputs, 3 blocks by operator set, 4 attributes.
    private mutating func readProgramFunction(
        _ message: ProtobufMessage,
        into walk: inout Walk
    ) throws(FormatError) -> Set<FeatureName> {
        var inputs: Set<FeatureName> = []
        var fields = ProtobufFields(message, singular: [2], in: reader)
        while let field = try fields.next() {
            switch field.number {
            case 1:
                guard inputs.count < ShapeLimits.features else {
                    throw field.limit("inputs", ShapeLimits.features)
                }
                guard inputs.insert(try readInputName(field)).inserted else {
                    throw field.error("inputs", .duplicateName)
                }
            case 3: try walkBlock(try readEntry(field, "block_specializations").value, into: &walk)
            case 4: try walkAttribute(field)
            default: break
            }
        }
        return inputs
    }

    /// NamedValueType.
    private func readInputName(_ field: ProtobufField) throws(FormatError) -> FeatureName {
        var name: FeatureName?
        var fields = ProtobufFields(try field.message("inputs", in: reader), singular: [1, 2], in: reader)
        while let inner = try fields.next() {
            guard inner.number == 1 else { continue }
            name = try inner.name("name", in: reader)
        }
        guard let name else { throw field.error("inputs.name", .missing) }
        return name
    }

    /// Block: 3 operations, 4 attributes.
    private mutating func walkBlock(_ message: ProtobufMessage, into walk: inout Walk) throws(FormatError) {
        var fields = ProtobufFields(message, in: reader)
        while let field = try fields.next() {
            switch field.number {
            case 3:
                guard operations < reader.limits.operations else {
                    throw field.limit("operations", reader.limits.operations)
                }
                operations += 1
                try walkOperation(try field.message("operations", in: reader), into: &walk)
            case 4: try walkAttribute(field)
            default: break
            }
        }
    }

    /// Operation: 1 type, 2 inputs, 3 outputs, 4 blocks, 5 attributes.
    private mutating func walkOperation(_ message: ProtobufMessage, into walk: inout Walk) throws(FormatError)
    {
        var type = ""
        var classes: ProtobufMessage?
        var output: String?
        var value: ProtobufMessage?
        var fields = ProtobufFields(message, singular: [1], in: reader)
        while let field = try fields.next() {
            switch field.number {
            case 1: type = try field.text("type", limit: 1_024, in: reader)
            case 2:
                let entry = try readEntry(field, "inputs")
                try walkArgument(entry.value)
                if entry.key == "classes" { classes = entry.value }
            case 3: output = try readInputName(field).description
            case 4: try walkBlock(try field.message("blocks", in: reader), into: &walk)
            case 5:
                let entry = try readEntry(field, "attributes")
                try walkValue(entry.value)
                if entry.key == "val" { value = entry.value }
            default: break
            }
        }
        if type == "const", let output, let value { walk.constants[output] = value }
        guard type == "classify" else { return }
        walk.classifiers += 1
        if let classes { try readClasses(classes, into: &walk) }
    }

    /// An attribute: a text and a Value.
    private mutating func walkAttribute(_ field: ProtobufField) throws(FormatError) {
        try walkValue(try readEntry(field, "attributes").value)
    }
}
