import Foundation
import Testing

@testable import ModelRuntimes

private let compiler: String? = ProcessInfo.processInfo.environment["PATH"]?.split(separator: ":")
    .map { "\($0)/clang" }.first { FileManager.default.isExecutableFile(atPath: $0) }

@Suite("A runtime that is none", .enabled(if: compiler != nil, "no clang in PATH"))
struct HostileRuntimeTests {
    private let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "sealift-hostile-\(UUID())")
            .resolvingSymlinksInPath()
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    private func library(_ source: String) throws -> String {
        // A name of its own each time: what has the name of a library that is open is not opened again.
        let code = folder.appending(path: "\(UUID()).c")
        let library = code.deletingPathExtension().appendingPathExtension("so").path
        try Data(source.utf8).write(to: code)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: try #require(compiler))
        process.arguments = ["-shared", "-fPIC", "-o", library, code.path]
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        return library
    }

    /// A library that answers as ONNX Runtime of that version does, and has no table for any API.
    private func runtime(version: String) -> String {
        """
        static const char *version(void) { return "\(version)"; }
        static const void *table(unsigned number) { return 0; }
        static const void *base[2] = {(const void *)table, (const void *)version};
        const void **OrtGetApiBase(void) { return base; }
        """
    }

    private func reason(_ path: String) throws -> String {
        let error = #expect(throws: ONNXRuntimeError.self) { try ORTFunctions(path: path) }
        guard case .notUsable(path, let reason) = error else { return String(describing: error) }
        return reason
    }

    @Test("one that crashes or leaves when it is opened ends a child and not this process")
    func crashes() throws {
        let trap = try library("__attribute__((constructor)) static void begin(void) { __builtin_trap(); }")
        #expect(try reason(trap).contains("with signal"))
        let leave = try library(
            "#include <unistd.h>\n__attribute__((constructor)) static void begin(void) { _exit(3); }"
        )
        #expect(try reason(leave) == "opening it ends a process")
    }

    @Test("one that never comes back is given up, twice, and this process goes on")
    func hangs() throws {
        let hang = try library(
            "#include <unistd.h>\n__attribute__((constructor)) static void begin(void) { for (;;) pause(); }"
        )
        #expect(
            throws: ONNXRuntimeError.notUsable(
                path: hang,
                reason: "opening it does not end within 1 seconds"
            )
        ) { try ORTFunctions(path: hang, patience: 1) }
    }

    @Test("one without the entry, one that is too old and one that lacks the API are told apart")
    func others() throws {
        #expect(try reason(try library("int nothing;")) == "it has no OrtGetApiBase")
        let old = try library(runtime(version: "1.23.9"))
        #expect(throws: ONNXRuntimeError.tooOld(path: old, found: "1.23.9", needed: "1.24 or later")) {
            try ORTFunctions(path: old)
        }
        let other = try library(runtime(version: "1.25.0"))
        #expect(throws: ONNXRuntimeError.tooOld(path: other, found: "1.25.0", needed: "one with API 17")) {
            try ORTFunctions(path: other)
        }
    }
}
