import Foundation
import Inference
import ModelRuntimes
import Testing

@Suite("What a failure of ONNX Runtime says of the model")
struct RuntimeBlameTests {
    private func fault(
        _ message: String,
        code: Int32 = 1,
        of operation: String = "run the model"
    ) -> ONNXRuntimeError {
        .failed(operation: operation, code: code, message: message)
    }

    @Test("what a model calls its files and nodes excuses nothing")
    func names() {
        for excuse in ["std::bad_alloc", "pthread_create", "Too many open files", "out of memory"] {
            let path = "/models/\(excuse)/model.onnx"
            let blamed = [
                fault("Load model from \(path) failed:Protobuf parsing failed.", code: 7, of: "load \(path)"),
                fault("Load model from \(path) failed:Type Error: Type 'a' is odd.", of: "load \(path)"),
                fault(
                    "Load model from /m.onnx failed:Invalid model. Node input '\(excuse)' is not a graph input.",
                    code: 2,
                    of: "load /m.onnx"
                ),
                fault("This is an invalid model. In Node, (\"q\", \(excuse), \"\", -1)", code: 10),
                fault(
                    "Non-zero status code returned while running Reshape node. Name:'\(excuse)' Status Message: "
                        + "/ort/reshape_helper.h:55 The input tensor cannot be reshaped to the requested shape."
                ),
            ]
            for failure in blamed {
                #expect(failure.isModelAtFault && !failure.isForWantOfMemory, "\(failure)")
            }
        }
    }

    @Test("memory, threads and descriptors that run out are not the model's fault, wherever it lies")
    func resources() {
        let node = "Non-zero status code returned while running Expand node. Name:'q' Status Message: "
        let arena = "/ort/arena.cc:359 Failed to allocate memory for requested buffer of size 4398046511104\n"
        for wanting in [
            fault(node + "std::bad_alloc", code: 6), fault(node + arena),
            fault("Exception during initialization: std::bad_alloc", code: 6, of: "load /m.onnx"),
            fault("Load model from /m.onnx failed:std::bad_alloc", of: "load /m.onnx"),
        ] { #expect(!wanting.isModelAtFault && wanting.isForWantOfMemory, "\(wanting)") }
        let file = "Load model from /m.onnx failed:"
        for passing in [
            fault(file + "/ort/env.cc:1 pthread_create failed, error code: 11", of: "load /m.onnx"),
            fault(file + "/ort/model.cc:192 Unsupported model IR version: 99, max supported IR version: 13"),
            fault("open file \"/m.data\" failed: Too many open files", code: 3, of: "load /m.onnx"),
            fault("it has no kernel for that", code: 9),
        ] { #expect(!passing.isModelAtFault && !passing.isForWantOfMemory, "\(passing)") }
    }

    @Test(
        "a file that is none is the model's fault under any name",
        .enabled(if: Installed.hasRuntime, Comment(rawValue: Installed.absent)),
        arguments: ["model", "bad_alloc", "pthread_create", "out of memory"]
    )
    func garbage(_ name: String) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "sealift-blame-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "\(name).onnx")
        try Data("garbage".utf8).write(to: file)
        let runtime = try await Installed.runtime()
        let error = await #expect(throws: ONNXRuntimeError.self) {
            _ = try await runtime.load(entry: file.path, options: LoadOptions())
        }
        #expect(error?.isModelAtFault == true, "\(String(describing: error))")
    }
}
