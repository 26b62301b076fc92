import CanonicalJSON
import Foundation
import Manifest
import ModelFormats
import Names
import Testing

@Suite("ONNX files of the official library")
struct ONNXFixtureTests {
    @Test("the interface is the one the file has", arguments: Fixtures.onnx)
    func interface(_ name: String) throws {
        let expected = try ExpectedSchema(Fixtures.schema("onnx/\(name).onnx.expected.json"))
        try check(Fixtures.inspect("onnx/\(name).onnx"), against: expected)
    }

    private func check(_ found: Inspection, against expected: ExpectedSchema) throws {
        #expect(found.format == .onnx)
        #expect(found.interface.inputs == expected.interface.inputs)
        #expect(found.interface.outputs == expected.interface.outputs)
        #expect(!found.interface.isDeclared)
        #expect(found.requires.json == expected.schema["requires"])
        #expect(found.externalFiles.map(\.path.description) == expected.externalFiles)
        let metadata = found.metadata
        #expect(metadata.graphName == expected.metadata("graph_name"))
        #expect(metadata.producerName == expected.metadata("producer_name"))
        #expect(metadata.producerVersion == expected.metadata("producer_version"))
        #expect(metadata.domain == expected.metadata("domain"))
        #expect(metadata.documentation == expected.metadata("doc_string"))
        #expect(metadata.modelVersion ?? 0 == expected.schema["metadata"]?["model_version"]?.integer)
        let properties = expected.schema["metadata"]?["props"]?.object
        #expect(metadata.properties.map(\.key) == properties?.keys)
        for property in metadata.properties { #expect(properties?[property.key]?.string == property.value) }
        #expect(try Interface(json: found.interface.json) == found.interface)
    }

    @Test("a file without model_version has none, not 0")
    func noModelVersion() throws {
        #expect(try Fixtures.inspect("onnx/two_inputs.onnx").metadata.modelVersion == nil)
        #expect(try Fixtures.inspect("onnx/mlp_dynamic_batch.onnx").metadata.modelVersion == 3)
    }

    @Test("class labels come from the metadata, or from the classifier")
    func labels() throws {
        let iris = texts("setosa", "versicolor", "virginica")
        #expect(try Fixtures.inspect("onnx/mlp_dynamic_batch.onnx").interface.labels == iris)
        #expect(try Fixtures.inspect("onnx/zipmap_classifier.onnx").interface.labels == texts("a", "b", "c"))
        #expect(try Fixtures.inspect("onnx/two_inputs.onnx").interface.labels == nil)
        let ensemble = try Fixtures.inspect("onnx/one_vs_rest.onnx")
        #expect(ensemble.interface.labels == iris && ensemble.notes.isEmpty)
        let heads = try Fixtures.inspect("onnx/two_heads.onnx")
        #expect(heads.interface.labels == nil && heads.notes.count == 1)
    }

    @Test("the length that external data must have is known")
    func externalLength() throws {
        let files = try Fixtures.inspect("onnx/external_data.onnx").externalFiles
        #expect(
            files.map(\.requiredLength) == [UInt64(try Fixtures.bytes("onnx/external_data.weights").count)]
        )
    }

    /// `SEALIFT_MAGIKA_MODEL`, else the file in the virtual environment that `make test` prepares.
    static let magika: String? = {
        if let path = ProcessInfo.processInfo.environment["SEALIFT_MAGIKA_MODEL"] { return path }
        let library = Fixtures.package.appending(path: ".build/venv/lib")
        let versions =
            (try? FileManager.default.contentsOfDirectory(at: library, includingPropertiesForKeys: nil)) ?? []
        let inside = "site-packages/magika/models/standard_v3_3/model.onnx"
        let found = versions.map { $0.appending(path: inside).path(percentEncoded: false) }
        return found.first { FileManager.default.isReadableFile(atPath: $0) }
    }()

    @Test(
        "magika's classifier has the interface that its runtime reports",
        .enabled(if: magika != nil, "no package magika: set SEALIFT_MAGIKA_MODEL, or run `make test`")
    )
    func realModel() throws {
        let bytes = Array(try Data(contentsOf: URL(filePath: try #require(Self.magika))))
        let source = CountingSource(MemorySource(bytes))
        let found = try ModelFile.inspect(source: source, name: "model.onnx")
        let schema: [String: Any] = [
            "inputs": [
                [
                    "name": "bytes", "kind": "tensor", "element": "int32", "optional": false,
                    "shape": [["symbol": "unk__214"], ["fixed": 2_048]],
                ] as [String: Any]
            ],
            "outputs": [
                [
                    "name": "target_label", "kind": "tensor", "element": "float32", "optional": false,
                    "shape": [["symbol": "unk__215"], ["fixed": 214]],
                ] as [String: Any]
            ],
            "metadata": [
                "doc_string": "", "domain": "", "graph_name": "tf2onnx", "model_version": 0,
                "producer_name": "tf2onnx", "producer_version": "1.16.1 15c810", "props": [String: String](),
            ] as [String: Any],
            "requires": ["ir_version": 8, "opsets": ["ai.onnx": 15, "ai.onnx.ml": 2]] as [String: Any],
        ]
        try check(found, against: ExpectedSchema(Fixtures.value(schema)))
        #expect(source.bytesRead < UInt64(bytes.count))
    }
}
