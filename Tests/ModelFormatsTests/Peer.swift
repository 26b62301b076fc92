import CanonicalJSON
import Foundation

/// The Python that official libraries are asked through.
enum Peer {
    struct Failed: Error {}

    /// `SEALIFT_PYTHON`, else the virtual environment that `make test` prepares; `nil` where it lacks one of them.
    static func python(with packages: String...) -> String? {
        let candidates = [
            ProcessInfo.processInfo.environment["SEALIFT_PYTHON"],
            Fixtures.package.appending(path: ".build/venv/bin/python").path(percentEncoded: false),
        ]
        let found = candidates.compactMap { $0 }.first { FileManager.default.isExecutableFile(atPath: $0) }
        let imports = "import " + packages.joined(separator: ", ")
        guard let found, (try? run(found, ["-c", imports])) != nil else { return nil }
        return found
    }

    /// What a script of the fixtures prints: one JSON value a line.
    static func lines(_ python: String, _ script: String, _ arguments: [String]) throws -> [JSONValue] {
        let path = Fixtures.folder.appending(path: script).path(percentEncoded: false)
        return try run(python, [path] + arguments).split(separator: 0x0A).map { line in
            try JSONParser.parse(Array(line), maximumLength: 1 << 24)
        }
    }

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
}
