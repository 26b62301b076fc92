import CanonicalJSON
import Foundation
import Manifest
import ModelFormats
import Names
import Testing

/// The files under `Tests/Fixtures/models`.
enum Fixtures {
    static let package = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    static let folder = package.appending(path: "Tests/Fixtures/models")

    static let onnx = [
        "external_data", "initializer_as_input_ir4", "mlp_dynamic_batch", "two_inputs",
        "unknown_rank_and_scalar", "zipmap_classifier",
    ]

    static func bytes(_ path: String) throws -> [UInt8] {
        Array(try Data(contentsOf: folder.appending(path: path)))
    }

    static func inspect(_ path: String) throws -> Inspection {
        try ModelFile.inspect(source: MemorySource(try bytes(path)), name: path)
    }

    static func names(_ folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: self.folder.appending(path: folder).path).sorted()
    }

    /// The files below `folder` whose path there starts with `start`, by that path.
    static func contents(_ folder: String, inside start: String) throws -> [String: [UInt8]] {
        let top = self.folder.appending(path: folder)
        var files: [String: [UInt8]] = [:]
        for path in try FileManager.default.subpathsOfDirectory(atPath: top.path) where path.hasPrefix(start)
        {
            let place = top.appending(path: path)
            guard try place.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile == true,
                !path.hasSuffix(".expected.json")
            else { continue }
            files[path] = Array(try Data(contentsOf: place))
        }
        return files
    }

    static func variant(
        _ files: [String: [UInt8]],
        opening: @escaping (String, MemorySource) -> any ByteSource = { $1 }
    ) throws -> VariantFiles {
        let list = try files.map { path, bytes in
            VariantFiles.File(path: try #require(FilePath(path)), length: UInt64(bytes.count))
        }
        return VariantFiles(list) { (path) throws(FormatError) in
            opening(path.description, MemorySource(files[path.description] ?? []))
        }
    }

    static func variant(
        _ folder: String,
        inside start: String,
        opening: @escaping (String, MemorySource) -> any ByteSource = { $1 }
    ) throws -> VariantFiles { try variant(contents(folder, inside: start), opening: opening) }

    /// The member `schema` of a file of expectations, which holds fractions elsewhere.
    static func schema(_ path: String) throws -> JSONValue {
        // The one fraction in them; Sealift's documents have decimals as text.
        let text = String(decoding: try bytes(path), as: UTF8.self)
            .replacing("\"default_value\": 0.5", with: "\"default_value\": \"0.5\"")
        let document = try JSONSerialization.jsonObject(with: Data(text.utf8))
        return try value((document as? [String: Any])?["schema"])
    }

    static func value(_ schema: Any?) throws -> JSONValue {
        let data = try JSONSerialization.data(withJSONObject: schema ?? [:], options: .sortedKeys)
        return try JSONParser.parse(Array(data), maximumLength: 1 << 20)
    }
}

/// Class labels that are texts.
func texts(_ labels: String...) -> ClassLabels { .texts(labels.map { JSONText($0) }) }

/// What a `schema` of the fixtures says, brought to Sealift's normal form.
struct ExpectedSchema {
    let interface: Interface
    let schema: JSONValue

    init(_ schema: JSONValue) throws {
        self.schema = schema
        let inputs = (schema["inputs"]?.array ?? []) + (schema["overridable_initializers"]?.array ?? [])
        let json = JSONValue.members([
            "inputs": .array(inputs), "outputs": schema["outputs"] ?? .array([]),
        ])
        interface = try Interface(json: json)
    }

    var externalFiles: [String] { (schema["external_files"]?.array ?? []).compactMap(\.string) }

    func metadata(_ key: String) -> String? { schema["metadata"]?[key]?.string }
}

extension JSONValue {
    /// In RFC 8785 form; nothing when it has none.
    var canonicalText: String? { rfc8785.map { String(decoding: $0, as: UTF8.self) } }
}
