import Foundation
import Inference
import Manifest
import ModelRuntimes
import Testing

/// A model of one `Add`, stamped with any versions.
private enum StampedModel {
    static func bytes(irVersion: Int64, operators: Int64) -> [UInt8] {
        let type = message(2, message(1, number(1, 1) + message(2, message(1, number(1, 4)))))
        let node =
            message(1, [0x78]) + message(1, [0x78]) + message(2, [0x79]) + message(4, Array("Add".utf8))
        let ports = message(11, message(1, [0x78]) + type) + message(12, message(1, [0x79]) + type)
        let graph = message(1, node) + message(2, [0x67]) + ports
        return number(1, UInt8(irVersion)) + message(7, graph) + message(8, number(2, UInt8(operators)))
    }

    private static func message(_ field: UInt8, _ content: [UInt8]) -> [UInt8] {
        [field << 3 | 2, UInt8(content.count)] + content
    }

    private static func number(_ field: UInt8, _ value: UInt8) -> [UInt8] { [field << 3, value] }
}

@Suite(
    "What the installed runtime reads",
    .enabled(if: Installed.hasRuntime, Comment(rawValue: Installed.absent))
)
struct RuntimeLimitsTests {
    private func loads(_ runtime: ONNXRuntime, irVersion: Int64, operators: Int64) async throws -> Bool {
        let bytes = StampedModel.bytes(irVersion: irVersion, operators: operators)
        let file = FileManager.default.temporaryDirectory.appending(path: "sealift-stamped-\(UUID()).onnx")
        try Data(bytes).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        do { _ = try await runtime.load(entry: file.path, options: LoadOptions()) } catch { return false }
        return true
    }

    @Test("ONNX Runtime loads what the table of limits says that it loads, and nothing beyond")
    func limits() async throws {
        let runtime = try await Installed.runtime()
        let limits = try #require(Machine.Runtime(named: "onnxruntime", version: runtime.version))
        let irVersion = try #require(limits.irVersion)
        let operators = try #require(limits.opsets["ai.onnx"])
        #expect(try await loads(runtime, irVersion: irVersion, operators: operators))
        #expect(try await !loads(runtime, irVersion: irVersion + 1, operators: operators))
        #expect(try await !loads(runtime, irVersion: irVersion, operators: operators + 1))
    }

    @Test("the version that is read from the library's name is the one that the library says")
    func version() async throws {
        let locator = ONNXRuntimeLocator(path: Installed.libraryPath)
        #expect(try locator.installedVersion() == (try await Installed.runtime().version))
    }
}
