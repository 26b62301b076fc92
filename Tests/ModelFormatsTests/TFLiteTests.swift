import CanonicalJSON
import Foundation
import Manifest
import ModelFormats
import Names
import Testing

@Suite("TensorFlow Lite files")
struct TFLiteTests {
    @Test("signature names are the interface, and the tensors' own names are kept")
    func signature() throws {
        let found = try Fixtures.inspect("tflite/mlp_signature.tflite")
        let schema = try Fixtures.schema("tflite/mlp_signature.tflite.expected.json")
        #expect(found.format == .tflite)
        #expect(found.requires.specificationVersion == schema["requires"]?["schema_version"]?.integer)
        #expect(found.requires.runtime?.name == "tflite")
        #expect(found.metadata.documentation == schema["description"]?.string)
        let signature = schema["signatures"]?["serving_default"]
        for (features, what) in [(found.interface.inputs, "inputs"), (found.interface.outputs, "outputs")] {
            let tensors = schema[what]?.array ?? []
            #expect(features.map(\.name.description) == signature?[what]?.object?.keys)
            #expect(features.count == tensors.count)
            for (feature, tensor) in zip(features, tensors) {
                #expect(found.metadata["serving_default.\(what).\(feature.name)"] == tensor["name"]?.string)
                var members = JSONObject()
                for key in ["default_shape", "element", "kind", "optional", "shape"] {
                    members[key] = tensor[key]
                }
                members["name"] = .text(feature.name.description)
                let json = JSONValue.members(["inputs": .array([.object(members)]), "outputs": .array([])])
                #expect(try Interface(json: json).inputs == [feature])
            }
        }
        #expect(found.interface.defaultFunction == FeatureName("serving_default"))
        #expect(found.interface.functions.isEmpty)
        #expect(try Interface(json: found.interface.json) == found.interface)
    }

    /// The models of the package pymicro-wakeword, in the virtual environment that `make test` prepares.
    static let wakeWords: [URL] = {
        let library = Fixtures.package.appending(path: ".build/venv/lib")
        let given = ProcessInfo.processInfo.environment["SEALIFT_WAKEWORD_MODELS"].map { [URL(filePath: $0)] }
        let versions =
            (try? FileManager.default.contentsOfDirectory(at: library, includingPropertiesForKeys: nil)) ?? []
        let folders = given ?? versions.map { $0.appending(path: "site-packages/pymicro_wakeword/models") }
        return folders.flatMap { folder in
            (try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)) ?? []
        }.filter { $0.pathExtension == "tflite" }.sorted { $0.path < $1.path }
    }()

    @Test(
        "real quantized models have the interface that their runtime reports",
        .enabled(if: !wakeWords.isEmpty, "no package pymicro-wakeword: run `make test`")
    )
    func realModels() throws {
        #expect(Self.wakeWords.count >= 4)
        for path in Self.wakeWords {
            let bytes = Array(try Data(contentsOf: path))
            let interface = try ModelFile.inspect(source: MemorySource(bytes), name: "model.tflite").interface
            let input = TensorType(
                element: .int8,
                shape: .fixed([1, 3, 40]),
                quantization: Quantization(scale: "0.101960786", zero: -128)
            )
            let output = TensorType(
                element: .uint8,
                shape: .fixed([1, 1]),
                quantization: Quantization(scale: "0.00390625", zero: 0)
            )
            #expect(interface.inputs.map(\.type) == [.tensor(input)], "\(path.lastPathComponent)")
            #expect(interface.outputs.map(\.type) == [.tensor(output)], "\(path.lastPathComponent)")
            #expect(interface.inputs.first?.name.description.isEmpty == false)
        }
    }
}
