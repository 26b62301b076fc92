import Manifest
import ModelFormats
import Names
import Testing

@Suite("The format of a file")
struct ModelFileTests {
    private static let tensors: [UInt8] = [2, 0, 0, 0, 0, 0, 0, 0] + Array("{}".utf8)

    private func format(
        _ bytes: [UInt8],
        _ name: String,
        declared: ModelFormat? = nil
    ) throws(FormatError) -> ModelFormat {
        try ModelFile.inspect(source: MemorySource(bytes), name: name, declared: declared).format
    }

    @Test("content decides where a name says nothing")
    func content() throws {
        #expect(try format(ONNX.model(graph: ONNX.minimal), "model") == .onnx)
        #expect(try format(Fixtures.bytes("tflite/mlp_signature.tflite"), "model.bin") == .tflite)
        #expect(try format(Fixtures.bytes("gguf/tiny_llama.gguf"), "model.bin") == .gguf)
        #expect(try format(Self.tensors, "model.bin") == .safetensors)
        #expect(try format(Array("just some text".utf8), "weights.dat") == .opaque)
        #expect(try format([], "empty") == .opaque)
    }

    @Test("content must agree with the name, and with what was declared")
    func agreement() throws {
        let flatbuffer = try Fixtures.bytes("tflite/mlp_signature.tflite")
        #expect(throws: FormatError.disagrees(declared: .onnx, found: .tflite)) {
            try format(flatbuffer, "model.onnx")
        }
        let gguf = try Fixtures.bytes("gguf/tiny_llama.gguf")
        #expect(throws: FormatError.disagrees(declared: .onnx, found: .gguf)) {
            try format(gguf, "model.gguf", declared: .onnx)
        }
        #expect(throws: FormatError.disagrees(declared: .coreMLModel, found: .safetensors)) {
            try format(Self.tensors, "model.mlmodel")
        }
        #expect(throws: FormatError.malformed(.tflite, field: "identifier", offset: 4, .badMagic)) {
            try format(ONNX.model(graph: ONNX.minimal), "model.tflite")
        }
        let coreML = try Fixtures.bytes("coreml/glm_regressor.mlmodel")
        #expect(throws: FormatError.self) { try format(coreML, "model.onnx") }
        #expect(throws: FormatError.self) { try format(ONNX.model(graph: ONNX.minimal), "model.mlmodel") }
    }

    @Test("a file declared opaque is not read")
    func opaque() throws {
        let inspection = try ModelFile.inspect(
            source: MemorySource(Fixtures.bytes("hostile/onnx_group.onnx")),
            name: "x.onnx",
            declared: .opaque
        )
        #expect(inspection == Inspection(format: .opaque))
        #expect(inspection.interface.isDeclared)
    }

    @Test("a file that cannot be read is an outage, not a refusal")
    func unreadable() {
        struct Broken: ByteSource {
            var length: UInt64 { 64 }

            func bytes(at offset: UInt64, count: Int) throws(ByteSourceError) -> [UInt8] {
                throw .unreadable(code: 5)
            }
        }
        #expect(throws: FormatError.unreadable(.unreadable(code: 5))) {
            try ModelFile.inspect(source: Broken(), name: "model.onnx")
        }
    }
}
