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

    private var texts: [JSONText] = []
    private var integers: [Int64] = []
    private var bytes: UInt64 = 0
    private var isAmbiguous = false

    var labels: ClassLabels? {
        if isAmbiguous { return nil }
        if !texts.isEmpty { return integers.isEmpty ? .texts(texts) : nil }
        return integers.isEmpty ? nil : .integers(integers)
    }

    mutating func merge(_ other: ONNXLabels) {
        guard let new = other.labels else {
            isAmbiguous = isAmbiguous || other.isAmbiguous
            return
        }
        if let labels, labels != new { isAmbiguous = true }
        if labels == nil && !isAmbiguous { self = other }
    }

    /// One element of `AttributeProto.strings`.
    mutating func addText(
        _ field: ProtobufField,
        in reader: ProtobufReader,
        isLabels: Bool
    ) throws(FormatError) {
        guard isLabels else { return }
        let text = try field.text("strings", limit: reader.limits.labelBytes, in: reader)
        bytes += UInt64(text.utf8.count)
        guard bytes <= reader.limits.labelBytes else {
            throw .limit(
                .onnx,
                which: "bytes of class labels",
                offset: field.offset,
                found: bytes,
                limit: reader.limits.labelBytes
            )
        }
        try checkCount(texts.count, reader.limits, at: field.offset)
        texts.append(JSONText(text))
    }

    /// One field of `AttributeProto.ints`: one number, or a packed run of them.
    mutating func addIntegers(
        _ field: ProtobufField,
        in reader: ProtobufReader,
        isLabels: Bool
    ) throws(FormatError) {
        guard isLabels else { return }
        guard case .payload = field.value else {
            try checkCount(integers.count, reader.limits, at: field.offset)
            integers.append(try field.integer("ints"))
            return
        }
        var value: UInt64 = 0
        var shift: UInt64 = 0
        for byte in try reader.bytes(field, limit: reader.limits.labelBytes, which: "bytes of class labels") {
            guard shift < 63 || byte <= 1 else { throw field.error("ints", .varintTooLong) }
            value |= UInt64(byte & 0x7F) << shift
            shift += 7
            guard byte & 0x80 == 0 else { continue }
            try checkCount(integers.count, reader.limits, at: field.offset)
            integers.append(Int64(bitPattern: value))
            value = 0
            shift = 0
        }
        guard shift == 0 else { throw field.error("ints", .endsEarly) }
    }

    private func checkCount(_ count: Int, _ limits: FormatLimits, at offset: UInt64) throws(FormatError) {
        guard count < limits.labels else {
            throw .limit(
                .onnx,
                which: "class labels",
                offset: offset,
                found: UInt64(count) + 1,
                limit: UInt64(limits.labels)
            )
        }
    }

    /// The labels of the classifiers, else those of the metadata.
    func found(metadata: ModelMetadata, limits: FormatLimits) -> ClassLabels? {
        if isAmbiguous { return nil }
        if let labels { return labels }
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
