import Manifest
import ModelFormats
import Names

extension FuzzTarget {
    static let modelFiles =
        [
            ("onnx", ModelFormat.onnx), ("coreml", .coreMLModel), ("tflite", .tflite), ("gguf", .gguf),
            ("safetensors", .safetensors),
        ].map { name, format in file(name, format) } + folders

    private static func file(_ name: String, _ format: ModelFormat) -> FuzzTarget {
        FuzzTarget(name, maximumLength: 16_384) { bytes in
            let source = CountingSource(bytes)
            let result = Result { try ModelFile.inspect(source: source, name: "model", declared: format) }
            try hold(source.count <= UInt64(bytes.count) * 64 + 65_536, "a reader reads a bounded amount")
            let found = try result.get()
            try hold(found.format == format, "a file is what it was declared to be")
            let again = try must("what a reader finds can be written") {
                try Interface(json: found.interface.json)
            }
            try hold(again == found.interface, "what a reader finds can be read again")
        }
    }

    private static let folders = [
        FuzzTarget("safetensors-index") { bytes in
            try inspect(
                ["a.safetensors": shard("a"), "b.safetensors": shard("b")],
                "a.safetensors.index.json",
                bytes
            )
        },
        FuzzTarget("coreml-package") { bytes in
            try inspect(["m.mlpackage/Data/a/model.mlmodel": []], "m.mlpackage/Manifest.json", bytes)
        },
        FuzzTarget("coreml-compiled") { bytes in
            try inspect(["m.mlmodelc/coremldata.bin": []], "m.mlmodelc/metadata.json", bytes)
        },
    ]

    /// A file of one tensor of one byte.
    private static func shard(_ name: String) -> [UInt8] {
        let header = Array(#"{"\#(name)":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}"#.utf8)
        return (0..<8).map { UInt8(truncatingIfNeeded: header.count >> ($0 * 8)) } + header + [7]
    }

    private static func inspect(_ others: [String: [UInt8]], _ name: String, _ bytes: [UInt8]) throws {
        var contents = others
        contents[name] = bytes
        let files = contents.compactMap { path, content in
            FilePath(path).map { VariantFiles.File(path: $0, length: UInt64(content.count)) }
        }
        let variant = VariantFiles(files) { (path) throws(FormatError) in
            MemorySource(contents[path.description] ?? [])
        }
        let found = try ModelFile.inspect(variant)
        try hold(contents[found.entry.description] != nil, "the entry is one of the files")
    }
}

/// Counts what is read.
///
/// Not Sendable: belongs to one reading.
private final class CountingSource: ByteSource {
    private let source: MemorySource
    var count: UInt64 = 0

    init(_ bytes: [UInt8]) { source = MemorySource(bytes) }

    var length: UInt64 { source.length }

    func bytes(at offset: UInt64, count: Int) throws(ByteSourceError) -> [UInt8] {
        self.count += UInt64(max(0, count))
        return try source.bytes(at: offset, count: count)
    }
}
