import CanonicalJSON
import Foundation
import Testing

/// A Python with the package `tuf`, and the scripts that drive it.
enum PythonPeer {
    /// `SEALIFT_PYTHON`, else the virtual environment that `make test` prepares; `nil` when there is none.
    static let python: String? = {
        let package = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let candidates = [
            ProcessInfo.processInfo.environment["SEALIFT_PYTHON"],
            package.appending(path: ".build/venv/bin/python").path(percentEncoded: false),
        ]
        return candidates.compactMap { $0 }.first { FileManager.default.isExecutableFile(atPath: $0) }
    }()

    static var isAbsent: Comment { "no Python with the package tuf: set SEALIFT_PYTHON, or run `make test`" }

    /// Runs a script of `Fixtures` and reads the JSON that it prints.
    static func run(_ script: String, _ arguments: [String]) throws -> JSONValue {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Fixtures/\(script)")
        let process = Process()
        process.executableURL = URL(filePath: try #require(python))
        process.arguments = [file.path(percentEncoded: false)] + arguments
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let bytes = Array(try output.fileHandleForReading.readToEnd() ?? Data())
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        return try JSONParser.parse(bytes, maximumLength: 1 << 20)
    }
}
