import Manifest
import ModelFormats
import Names
import Testing

@Suite("The files of a variant")
struct VariantTests {
    private func inspect(
        _ files: [String: [UInt8]],
        declared: ModelFormat? = nil,
        entry: String? = nil
    ) throws -> VariantInspection {
        let entry = try entry.map { try #require(FilePath($0)) }
        return try ModelFile.inspect(Fixtures.variant(files), declared: declared, entry: entry)
    }

    private func refusal(
        _ files: [String: [UInt8]],
        declared: ModelFormat? = nil,
        entry: String? = nil
    ) -> String? {
        do { _ = try inspect(files, declared: declared, entry: entry) } catch { return "\(error)" }
        return nil
    }

    private static let onnx = ONNX.model(graph: ONNX.minimal)
    private static let pickle: [UInt8] = [0x80, 2] + Array("}q".utf8)
    private static let torch =
        Array("PK\u{3}\u{4}".utf8) + Array(repeating: 0, count: 26) + Array("archive/data.pkl".utf8)

    @Test("one model among companions is found by its name, wherever it lies")
    func companions() throws {
        let files = ["README.md": Array("#".utf8), "sub/model.onnx": Self.onnx, "labels.txt": [1]]
        #expect(try inspect(files).entry.description == "sub/model.onnx")
        #expect(try inspect(["anything": Self.onnx]).inspection.format == .onnx)
        #expect(refusal(["README.md": [1], "notes": [2]])?.contains("none of the files is a model") == true)
    }

    @Test("of several models one must be declared")
    func several() throws {
        let files = [
            "a.onnx": Self.onnx, "b.onnx": Self.onnx,
            "c.safetensors": try Fixtures.bytes("safetensors/tiny.safetensors"),
        ]
        #expect(refusal(files)?.contains("3 models (a.onnx, b.onnx, c.safetensors)") == true)
        #expect(try inspect(files, declared: .safetensors).entry.description == "c.safetensors")
        #expect(try inspect(files, entry: "b.onnx").entry.description == "b.onnx")
    }

    @Test("a pickle is refused by name, and where the name says little by content")
    func pickles() throws {
        for name in ["model.pt", "model.pth", "model.pkl", "model.ckpt", "model.joblib", "sub/MODEL.PT"] {
            #expect(refusal([name: [0], "model.onnx": Self.onnx])?.contains("Python pickle") == true)
        }
        for bytes in [Self.pickle, Self.torch] {
            #expect(refusal(["pytorch_model.bin": bytes])?.contains("Python pickle") == true)
        }
        #expect(refusal(["weights.bin": [1, 2, 3], "model.onnx": Self.onnx]) == nil)
    }

    @Test("what is declared opaque is not read, and one entry is known")
    func opaque() throws {
        #expect(try inspect(["model.pt": Self.pickle], declared: .opaque).inspection.format == .opaque)
        let two = ["model.pt": Self.pickle, "notes": [1]] as [String: [UInt8]]
        #expect(refusal(two, declared: .opaque)?.contains("which of them is the entry") == true)
        #expect(try inspect(two, declared: .opaque, entry: "model.pt").entry.description == "model.pt")
        #expect(refusal(two, declared: .opaque, entry: "other") != nil)
    }

    @Test("a model is found among files whatever lies beside it, and none where none can be read")
    func readable() throws {
        func found(_ files: [String: [UInt8]]) throws -> String? {
            ModelFile.readable(in: try Fixtures.variant(files)).map { "\($0.path) \($0.format.rawValue)" }
        }
        #expect(try found(["optimizer.bin": Self.pickle, "model.onnx": Self.onnx]) == "model.onnx onnx")
        #expect(try found(["a.pt": Self.pickle, "weights.dat": Self.onnx]) == "weights.dat onnx")
        #expect(try found(["a.onnx": Self.onnx, "b.onnx": Self.onnx]) == "a.onnx onnx")
        let shard = try Fixtures.bytes("safetensors/set/model-00001-of-00002.safetensors")
        let part = "model-00001-of-00002.safetensors"
        #expect(try found([part: shard, "x": [1]]) == "\(part) safetensors")
        #expect(try found(["a.pt": Self.pickle, "notes": [1]]) == nil)
        #expect(try found(["a.onnx": Array(Self.onnx.dropLast(3)), "notes": [1]]) == nil)
    }

    @Test("weights beside a model must be there, and long enough")
    func external() throws {
        let model = try Fixtures.bytes("onnx/external_data.onnx")
        let weights = try Fixtures.bytes("onnx/external_data.weights")
        #expect(refusal(["a/m.onnx": model, "a/external_data.weights": weights]) == nil)
        let elsewhere = refusal(["a/m.onnx": model, "external_data.weights": weights])
        #expect(elsewhere?.contains("a/external_data.weights, which is not among the files") == true)
        let short = refusal(["m.onnx": model, "external_data.weights": Array(weights.dropLast())])
        #expect(short?.contains("16383 bytes, and m.onnx needs 16384") == true)
    }

    @Test("a compiled Core ML model is not read, and what is said beside it is only declared")
    func compiled() throws {
        let said = """
            [{"specificationVersion": 7, "author": "A", "stateSchema": [],
              "inputSchema": [{"name": "x", "type": "MultiArray", "isOptional": "0", "dataType": "Float32",
                "hasShapeFlexibility": "0", "shape": "[1, 64]"}],
              "outputSchema": [{"name": "p", "type": "Dictionary", "keyType": "String", "isOptional": "0"}]}]
            """
        let files =
            ["m.mlmodelc/coremldata.bin": [1], "m.mlmodelc/metadata.json": Array(said.utf8)]
            as [String: [UInt8]]
        let found = try inspect(files)
        #expect(found.entry.description == "m.mlmodelc/coremldata.bin")
        #expect(found.inspection.format == .coreMLCompiled)
        #expect(found.inspection.interface.isDeclared)
        #expect(found.inspection.interface.inputs.map(\.name.description) == ["x"])
        #expect(try inspect(["m.mlmodelc/coremldata.bin": [1]]).inspection.interface.inputs.isEmpty)
        #expect(refusal(["m.mlmodelc/metadata.json": Array(said.utf8)]) != nil)
    }
}
