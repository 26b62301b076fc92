import Names

extension Variant {
    /// What programs open of the variant, as a path from its directory; empty for the directory itself.
    ///
    /// Of a Core ML package or compiled model its folder, of safetensors in
    /// several files the index, of anything else the entry.
    package var opened: String {
        let folder = entry.segments.dropLast()
        switch format {
        case .coreMLPackage, .coreMLCompiled: return folder.joined(separator: "/")
        case .safetensors:
            let suffix = ".safetensors.index.json".utf8
            let indexes = files.map(\.path).filter { path in
                path.segments.dropLast() == folder
                    && path.description.utf8.suffix(suffix.count).elementsEqual(suffix)
            }
            return "\(indexes.count == 1 ? indexes[0] : entry)"
        case .onnx, .tflite, .gguf, .opaque, .coreMLModel: return "\(entry)"
        }
    }
}
