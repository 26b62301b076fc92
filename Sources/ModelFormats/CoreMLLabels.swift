import Manifest

/// Class labels of classifiers that are not ML Programs, and what a neural network says beside its weights.
extension CoreMLReader {
    /// A classifier: labels at 100 (texts) or 101 (integers).
    func readLabels(of message: ProtobufMessage) throws(FormatError) -> ClassLabels? {
        var labels: ClassLabels?
        var fields = ProtobufFields(message, singular: [100, 101], in: reader)
        while let field = try fields.next() {
            guard let found = try readLabels(field) else { continue }
            guard labels == nil else { throw field.error("ClassLabels", .contradiction) }
            labels = found
        }
        return labels
    }

    /// A classifier or tagger of texts: a list of labels, tags or names of classes at 200.
    func readTags(of message: ProtobufMessage) throws(FormatError) -> ClassLabels? {
        var labels: ClassLabels?
        var fields = ProtobufFields(message, singular: [200], in: reader)
        while let field = try fields.next() {
            guard field.number == 200 else { continue }
            let message = try field.message("stringClassLabels", in: reader)
            var found = CollectedLabels()
            try readTexts(message, into: &found)
            labels = try distinct(found, in: message)
        }
        return labels
    }

    private func readLabels(_ field: ProtobufField) throws(FormatError) -> ClassLabels? {
        guard field.number == 100 || field.number == 101 else { return nil }
        let name = field.number == 100 ? "stringClassLabels" : "int64ClassLabels"
        let message = try field.message(name, in: reader)
        var found = CollectedLabels()
        if field.number == 100 {
            try readTexts(message, into: &found)
        } else {
            try readIntegers(message, into: &found)
        }
        return try distinct(found, in: message)
    }

    /// A message of texts at 1.
    func readTexts(_ message: ProtobufMessage, into labels: inout CollectedLabels) throws(FormatError) {
        var fields = ProtobufFields(message, in: reader)
        while let field = try fields.next() {
            if field.number == 1 { try labels.appendText(field, "label", in: reader) }
        }
    }

    /// A message of integers at 1.
    func readIntegers(_ message: ProtobufMessage, into labels: inout CollectedLabels) throws(FormatError) {
        var fields = ProtobufFields(message, in: reader)
        while let field = try fields.next() {
            if field.number == 1 { try labels.appendIntegers(field, "label", in: reader) }
        }
    }

    func distinct(
        _ found: CollectedLabels,
        in message: ProtobufMessage
    ) throws(FormatError) -> ClassLabels? {
        let labels = found.labels
        guard labels?.hasDuplicate != true else {
            throw .malformed(Self.format, field: message.field, offset: message.range.lowerBound, .duplicate)
        }
        return labels
    }

    // MARK: neural networks

    /// NeuralNetwork, -Classifier and -Regressor: layers, pre-processing, labels.
    ///
    /// Pre-processing happens inside the model, and decides what the numbers mean.
    mutating func readNetwork(_ message: ProtobufMessage) throws(FormatError) -> ClassLabels? {
        var labels: ClassLabels?
        var fields = ProtobufFields(message, singular: [100, 101], in: reader)
        while let field = try fields.next() {
            switch field.number {
            case 1: try checkLayer(try field.message("layers", in: reader))
            case 2: try readPreprocessing(field)
            default:
                guard let found = try readLabels(field) else { continue }
                guard labels == nil else { throw field.error("ClassLabels", .contradiction) }
                labels = found
            }
        }
        return labels
    }

    /// A custom layer (500) runs code that is not part of the model.
    private func checkLayer(_ message: ProtobufMessage) throws(FormatError) {
        var fields = ProtobufFields(message, in: reader)
        while let field = try fields.next() {
            guard field.number != 500 else {
                throw .refused(Self.format, field: "layers", offset: field.offset, .modelKind("custom layer"))
            }
        }
    }
}
