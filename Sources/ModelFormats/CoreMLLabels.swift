import CanonicalJSON
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

    private func readLabels(_ field: ProtobufField) throws(FormatError) -> ClassLabels? {
        switch field.number {
        case 100: try readTexts(try field.message("stringClassLabels", in: reader))
        case 101: try readIntegers(try field.message("int64ClassLabels", in: reader))
        default: nil
        }
    }

    /// A message of texts at 1.
    func readTexts(_ message: ProtobufMessage) throws(FormatError) -> ClassLabels? {
        var texts: [JSONText] = []
        var bytes: UInt64 = 0
        var fields = ProtobufFields(message, in: reader)
        while let field = try fields.next() {
            guard field.number == 1 else { continue }
            let text = try field.text("label", limit: reader.limits.labelBytes, in: reader)
            bytes += UInt64(text.utf8.count)
            guard bytes <= reader.limits.labelBytes else {
                throw limit("bytes of class labels", field, Int(reader.limits.labelBytes))
            }
            guard texts.count < reader.limits.labels else {
                throw limit("class labels", field, reader.limits.labels)
            }
            texts.append(JSONText(text))
        }
        // Numbers first, which are small: only where two are equal are the labels themselves compared.
        let numbers = texts.map(\.hashValue).sorted()
        if zip(numbers, numbers.dropFirst()).contains(where: ==), Set(texts).count < texts.count {
            throw duplicateLabel(message)
        }
        return texts.isEmpty ? nil : .texts(texts)
    }

    /// A message of integers at 1.
    func readIntegers(_ message: ProtobufMessage) throws(FormatError) -> ClassLabels? {
        var integers: [Int64] = []
        var fields = ProtobufFields(message, in: reader)
        while let field = try fields.next() {
            guard field.number == 1 else { continue }
            try field.append(to: &integers, "label", limit: reader.limits.labels, in: reader)
        }
        let sorted = integers.sorted()
        if zip(sorted, sorted.dropFirst()).contains(where: ==) { throw duplicateLabel(message) }
        return integers.isEmpty ? nil : .integers(integers)
    }

    private func duplicateLabel(_ message: ProtobufMessage) -> FormatError {
        .malformed(Self.format, field: message.field, offset: message.range.lowerBound, .duplicate)
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
