import Manifest
import ModelFormats
import Names
import Testing

@Suite("The format of a file")
struct ModelFileTests {
    private static let flatbuffer: [UInt8] =
        [28, 0, 0, 0] + Array("TFL3".utf8) + Array(repeating: 0, count: 24)
    private static let gguf = Array("GGUF".utf8) + [3, 0, 0, 0]
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
        #expect(try format(Self.flatbuffer, "model.bin") == .tflite)
        #expect(try format(Self.gguf, "model.bin") == .gguf)
        #expect(try format(Self.tensors, "model.bin") == .safetensors)
        #expect(try format(Array("just some text".utf8), "weights.dat") == .opaque)
        #expect(try format([], "empty") == .opaque)
    }

    @Test("content must agree with the name, and with what was declared")
    func agreement() {
        #expect(throws: FormatError.disagrees(declared: .onnx, found: .tflite)) {
            try format(Self.flatbuffer, "model.onnx")
        }
        #expect(throws: FormatError.disagrees(declared: .onnx, found: .gguf)) {
            try format(Self.gguf, "model.gguf", declared: .onnx)
        }
        #expect(throws: FormatError.disagrees(declared: .tflite, found: .opaque)) {
            try format(ONNX.model(graph: ONNX.minimal), "model.tflite")
        }
        #expect(throws: FormatError.noReader(.coreMLModel)) { try format([8, 1], "model.mlmodel") }
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
