import CanonicalJSON
import Foundation
import Manifest
import ModelFormats
import Names

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

    /// The member `schema` of a file of expectations, which holds fractions elsewhere.
    static func schema(_ path: String) throws -> JSONValue {
        let document = try JSONSerialization.jsonObject(with: Data(contentsOf: folder.appending(path: path)))
        return try value((document as? [String: Any])?["schema"])
    }

    static func value(_ schema: Any?) throws -> JSONValue {
        let data = try JSONSerialization.data(withJSONObject: schema ?? [:], options: .sortedKeys)
        return try JSONParser.parse(Array(data), maximumLength: 1 << 20)
    }
}

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
