import CanonicalJSON
import Manifest

/// Class labels, for which ONNX has no standard place.
///
/// Taken from the attributes of the classifiers of `ai.onnx.ml`, or else from
/// the metadata property `class_labels`, a JSON array. Where two classifiers
/// name different classes, none are taken: which of them the output follows
/// cannot be told.
struct ONNXLabels {
    static let operations: Set<String> = [
        "ZipMap", "LinearClassifier", "TreeEnsembleClassifier", "SVMClassifier",
    ]
    static let attributes: Set<String> = ["classlabels_strings", "classlabels_int64s", "classlabels_ints"]

    private var collected = CollectedLabels()
    private var isAmbiguous = false

    /// Whether one label stands for two classes, so that an answer by label cannot be told from another.
    var hasDuplicate: Bool { collected.labels?.hasDuplicate == true }

    mutating func merge(_ other: ONNXLabels) {
        isAmbiguous = isAmbiguous || other.isAmbiguous
        guard other.collected.count > 0, !isAmbiguous else { return }
        if collected.count == 0 { collected = other.collected }
        if collected != other.collected { isAmbiguous = true }
    }

    /// One element of `AttributeProto.strings`.
    mutating func addText(
        _ field: ProtobufField,
        in reader: ProtobufReader,
        isLabels: Bool
    ) throws(FormatError) {
        if isLabels { try collected.appendText(field, "strings", in: reader) }
    }

    /// One field of `AttributeProto.ints`: one number, or a packed run of them.
    mutating func addIntegers(
        _ field: ProtobufField,
        in reader: ProtobufReader,
        isLabels: Bool
    ) throws(FormatError) {
        if isLabels { try collected.appendIntegers(field, "ints", in: reader) }
    }

    /// The labels of the classifiers, else those of the metadata.
    func found(metadata: ModelMetadata, limits: FormatLimits) -> ClassLabels? {
        if isAmbiguous { return nil }
        if collected.count > 0 { return collected.labels }
        guard let text = metadata["class_labels"] else { return nil }
        let limit = Int(limits.metadataValue)
        guard let value = try? JSONParser.parse(Array(text.utf8), maximumLength: limit),
            let elements = value.array, !elements.isEmpty
        else { return nil }
        let texts = elements.compactMap { element -> JSONText? in
            if case .string(let text) = element { text } else { nil }
        }
        if texts.count == elements.count { return .texts(texts) }
        let integers = elements.compactMap(\.integer)
        return integers.count == elements.count ? .integers(integers) : nil
    }
}
