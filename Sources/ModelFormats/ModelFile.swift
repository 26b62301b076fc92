package import Manifest
package import Names

/// Reads what a model file says about itself, whatever its format.
package enum ModelFile {
    /// Finds the format by content, and reads the interface where there is a reader for it.
    ///
    /// - Parameters:
    ///   - source: The file; weights are stepped over without being read.
    ///   - name: Of the file; its extension counts as a declaration when `declared` is `nil`.
    ///   - declared: What somebody says that it is; the content must agree. `.opaque` asks for no reading.
    ///   - limits: How much of everything is taken.
    /// - Returns: What was found; `.opaque` for content that no reader knows.
    /// - Throws: `FormatError`: never a part of an inspection.
    package static func inspect(
        source: some ByteSource,
        name: String,
        declared: ModelFormat? = nil,
        limits: FormatLimits = FormatLimits()
    ) throws(FormatError) -> Inspection {
        if declared == .opaque { return Inspection(format: .opaque) }
        let expected = declared ?? format(ofName: name)
        let found = try format(ofContent: source)
        if let expected, let found, expected != found { throw .disagrees(declared: expected, found: found) }
        switch expected ?? found {
        case .onnx: return try ONNXReader(source, name: name, limits: limits).inspection()
        case nil: return try inspectUnnamed(source, name: name, limits: limits)
        case .safetensors: return try SafetensorsReader(source, limits: limits).inspection()
        case .gguf: return try GGUFReader(source, limits: limits).inspection()
        case .coreMLModel: return try CoreMLReader(source, limits: limits).inspection()
        case .tflite: return try TFLiteReader(source, limits: limits).inspection()
        case .opaque?: return Inspection(format: .opaque)
        case let format?: throw .files(format, .noModel)
        }
    }

    /// A file that neither its name nor a magic number explains: ONNX has no magic, so it is tried.
    private static func inspectUnnamed(
        _ source: some ByteSource,
        name: String,
        limits: FormatLimits
    ) throws(FormatError) -> Inspection {
        do {
            return try ONNXReader(source, name: name, limits: limits).inspection()
        } catch .malformed {
            return Inspection(format: .opaque)
        }
    }

    static func format(ofName name: String) -> ModelFormat? {
        let suffixes: KeyValuePairs<String, ModelFormat> = [
            ".onnx": .onnx, ".tflite": .tflite, ".gguf": .gguf, ".safetensors": .safetensors,
            ".mlmodel": .coreMLModel,
        ]
        let lowered = name.lowercased()
        return suffixes.first { lowered.hasSuffix($0.key) }?.value
    }

    /// Formats that are known by their first bytes.
    private static func format(ofContent source: some ByteSource) throws(FormatError) -> ModelFormat? {
        let head: [UInt8]
        do { head = try source.bytes(at: 0, count: Int(min(source.length, 16))) } catch {
            throw .unreadable(error)
        }
        if head.starts(with: Array("GGUF".utf8)) { return .gguf }
        if head.count >= 8, head[4..<8].elementsEqual(Array("TFL3".utf8)) { return .tflite }
        guard head.count >= 9 else { return nil }
        let headerLength = head[..<8].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        let isSafetensors =
            head[8] == UInt8(ascii: "{") && headerLength >= 2 && headerLength <= source.length - 8
        return isSafetensors ? .safetensors : nil
    }
}
