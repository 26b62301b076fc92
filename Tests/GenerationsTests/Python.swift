import Blocking
import Durable
import Glibc

/// Runs `sealift.py`, which needs nothing but Python's own library.
enum Python {
    static let path: String? = {
        let own = getenv("SEALIFT_PYTHON").map { String(cString: $0) }
        let candidates = [own, "\(root)/.build/venv/bin/python", "/usr/bin/python3"].compactMap { $0 }
        return candidates.first { access($0, X_OK) == 0 }
    }()

    private static var root: String {
        (0..<3).reduce("\(#filePath)") { path, _ in Durable.parent(of: path) }
    }

    static func run(_ script: String, device: String) async throws -> ChildResult {
        var child = ChildProcess(try require(path), ["-c", script])
        child.environment = [
            "PYTHONPATH": "\(root)/Sources/SealiftPython", "PYTHONDONTWRITEBYTECODE": "1",
            "SEALIFT_DIRECTORY": device, "PATH": "/usr/bin:/bin",
        ]
        return try await child.run()
    }
}
