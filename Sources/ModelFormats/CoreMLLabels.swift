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
        return integers.isEmpty ? nil : .integers(integers)
    }

    // MARK: neural networks

    /// NeuralNetwork, -Classifier and -Regressor: layers, pre-processing, labels.
    ///
    /// Pre-processing happens inside the model; it is kept for people.
    mutating func readNetwork(_ message: ProtobufMessage) throws(FormatError) -> ClassLabels? {
        var labels: ClassLabels?
        var fields = ProtobufFields(message, singular: [100, 101], in: reader)
        while let field = try fields.next() {
            switch field.number {
            case 1: try checkLayer(try field.message("layers", in: reader))
            case 2: try readPreprocessing(try field.message("preprocessing", in: reader))
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

    private mutating func readPreprocessing(_ message: ProtobufMessage) throws(FormatError) {
        var feature = ""
        var said: [String] = []
        var fields = ProtobufFields(message, singular: [1, 10, 11], in: reader)
        while let field = try fields.next() {
            switch field.number {
            case 1: feature = try field.text("featureName", limit: 1_024, in: reader)
            case 10: said = try readScaler(try field.message("scaler", in: reader))
            case 11: said = ["mean image"]
            default: break
            }
        }
        try note("preprocessing.\(feature)", said.joined(separator: " "), at: message.range.lowerBound)
    }

    private func readScaler(_ message: ProtobufMessage) throws(FormatError) -> [String] {
        let names: [UInt32: String] = [
            10: "channelScale", 20: "blueBias", 21: "greenBias", 22: "redBias", 30: "grayBias",
        ]
        var said: [String] = []
        var fields = ProtobufFields(message, singular: [10, 20, 21, 22, 30], in: reader)
        while let field = try fields.next() {
            guard let name = names[field.number] else { continue }
            said.append("\(name)=\(try field.float(name, in: reader))")
        }
        return said
    }
}
