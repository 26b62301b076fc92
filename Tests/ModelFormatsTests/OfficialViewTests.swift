import CanonicalJSON
import Foundation
import Manifest
import ModelFormats
import Names
import Support
import Testing

/// The models of the official package's own tests, seen by both readers.
@Suite("The official ONNX package and this reader")
struct OfficialViewTests {
    /// `SEALIFT_PYTHON`, else the virtual environment that `make test` prepares, when it has the package onnx.
    static let python: String? = {
        let candidates = [
            ProcessInfo.processInfo.environment["SEALIFT_PYTHON"],
            Fixtures.package.appending(path: ".build/venv/bin/python").path(percentEncoded: false),
        ]
        let found = candidates.compactMap { $0 }.first { FileManager.default.isExecutableFile(atPath: $0) }
        guard let found, (try? run(found, ["-c", "import onnx"])) != nil else { return nil }
        return found
    }()

    struct Failed: Error {}

    private static func run(_ python: String, _ arguments: [String]) throws -> Data {
        let process = Process()
        process.executableURL = URL(filePath: python)
        process.arguments = arguments
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let printed = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Failed() }
        return printed
    }

    @Test(
        "both see the same interface in every model, or it uses operators that this reader refuses",
        .enabled(if: python != nil, "no Python with the package onnx: set SEALIFT_PYTHON, or run `make test`")
    )
    func sameView() throws {
        let scratch = Scratch()
        let script = Fixtures.folder.appending(path: "onnx_view.py").path(percentEncoded: false)
        let printed = try Self.run(try #require(Self.python), [script, scratch.path])
        var seen = 0
        for line in printed.split(separator: 0x0A) {
            let view = try JSONParser.parse(Array(line), maximumLength: 1 << 24)
            let path = try #require(view["path"]?.string)
            try compare(path, view)
            seen += 1
        }
        let hasOlder = FileManager.default.fileExists(atPath: "/usr/share/libonnx-testdata")
        #expect(seen > (hasOlder ? 2_000 : 1_000))
    }

    private func compare(_ path: String, _ view: JSONValue) throws {
        let bytes = Array(try Data(contentsOf: URL(filePath: path)))
        do {
            let found = try ModelFile.inspect(source: MemorySource(bytes), name: path)
            var interface = found.interface
            interface.labels = nil
            #expect(interface.json == view["interface"], "\(path)")
            #expect(found.requires.json == view["requires"], "\(path)")
        } catch .refused(_, _, _, .operatorDomain(let domain)) {
            #expect(domain.contains("preview") || domain.contains("training"), "\(path): \(domain)")
        }
    }
}
