import Durable
import Glibc
import Names
import Signing
import Support
import SyncAgent

/// A registry, a publisher and a device in one scratch folder, driven only through the real program.
final class World {
    let scratch = Scratch()
    let program: String
    private(set) var server: Child?

    /// The base address of the running registry.
    private(set) var url = ""

    var registry: String { scratch.path("registry") }
    var keys: String { scratch.path("config/keys") }
    var configuration: String { scratch.path("config/client.json") }
    var root: String { scratch.path("config/root.json") }
    var device: String { scratch.path("device") }

    /// Finds the program beside the test bundle, which is where one build puts both.
    init() throws {
        var buffer = [CChar](repeating: 0, count: 4_096)
        let count = readlink("/proc/self/exe", &buffer, buffer.count - 1)
        guard count > 0 else { throw Trouble("cannot find the running test program") }
        let own = buffer[0..<count].map { UInt8(bitPattern: $0) }
        var folder = String(decoding: own, as: UTF8.self).split(separator: "/").dropLast()
        var found: String?
        while found == nil && !folder.isEmpty {
            let candidate = "/" + folder.joined(separator: "/") + "/sealift"
            if access(candidate, X_OK) == 0 && !isFolder(candidate) { found = candidate }
            folder = folder.dropLast()
        }
        guard let found else {
            throw Trouble("no ‘sealift’ beside the tests; build it first: swift build --build-tests")
        }
        program = found
    }

    deinit { server?.signal(SIGKILL) }

    /// Makes a registry with the namespace `vision` and the publisher's configuration.
    @discardableResult
    func created(_ extra: [String] = []) throws -> Outcome {
        try run(["init", registry, "--profile", "solo", "--namespace", "vision", "--keys", keys] + extra)
            .expecting(0)
    }

    /// Starts serving on a port of its own.
    func serve(environment: [String: String] = [:], arguments: [String] = []) throws {
        let child = try start(
            ["serve", registry, "--listen", "127.0.0.1:0"] + arguments,
            environment: environment
        )
        url = try child.waits(30, for: "address") { text in
            text.split(whereSeparator: \.isWhitespace).first {
                $0.hasPrefix("https://") && text.hasSuffix("\n")
            }
            .map(String.init)
        }
        server = child
    }

    /// Ends the server as an operator would, and expects it to end cleanly.
    @discardableResult
    func stopServing() throws -> Outcome {
        guard let child = server else { throw Trouble("no server is running") }
        server = nil
        child.signal(SIGTERM)
        return try child.finished(within: 20)
    }

    /// Ends the server as a power cut would.
    func killServer() throws {
        server?.signal(SIGKILL)
        _ = try server?.finished(within: 10)
        server = nil
    }

    func start(_ arguments: [String], environment: [String: String] = [:]) throws -> Child {
        try Child(program, arguments, environment: variables(environment), folder: scratch.path)
    }

    /// Starts a script in the scratch folder, in the environment that the program has.
    func shell(_ script: String) throws -> Child {
        let python = [
            "PYTHONPATH": Readme.project + "/Sources/SealiftPython", "PYTHONDONTWRITEBYTECODE": "1",
            "SEALIFT_DIRECTORY": device,
        ]
        let line = "cd '\(scratch.path)' && { \(script)\n}"
        return try Child("/bin/sh", ["-c", line], environment: variables(python), folder: scratch.path)
    }

    private func variables(_ environment: [String: String]) -> [String: String] {
        var variables = ["HOME": scratch.path, "PATH": "/usr/bin:/bin", "SEALIFT_CONFIG": configuration]
        for name in ["SEALIFT_ORT_LIBRARY", "SEALIFT_ORT_DIR", "TMPDIR"] {
            if let value = getenv(name) { variables[name] = String(cString: value) }
        }
        if !url.isEmpty { variables["SEALIFT_REGISTRY"] = url }
        return variables.merging(environment) { $1 }
    }

    /// Runs the program to its end.
    func run(
        _ arguments: [String],
        environment: [String: String] = [:],
        within seconds: Int = 60
    ) throws
        -> Outcome
    {
        try start(arguments, environment: environment).finished(within: seconds)
    }

    @discardableResult
    func publish(_ file: String, _ version: String, _ extra: [String] = []) throws -> Outcome {
        try run(
            ["publish", file, "--model", "vision/detector", "--version", version, "--channel", "stable"]
                + extra
        )
    }

    @discardableResult
    func sync(_ extra: [String] = [], environment: [String: String] = [:]) throws -> Outcome {
        try run(
            ["sync", "--directory", device, "--model", "vision/detector@stable"] + extra,
            environment: environment
        )
    }

    /// What `sync` is given, for an app that does the same by the library.
    func syncConfiguration() throws -> SyncConfiguration {
        var configuration = SyncConfiguration(
            directory: device,
            registries: [url],
            rootFile: root,
            models: [try WantedModel("vision/detector@stable")]
        )
        configuration.caFile = scratch.path("config/ca.pem")
        return configuration
    }

    /// The version that a reader gets now; `nil` when there is none.
    func activeVersion() throws -> String? {
        let outcome = try run(["path", "vision/detector", "--directory", device])
        guard outcome.code == 0, let line = outcome.output.split(separator: "\n").first else { return nil }
        let folder = line.split(separator: "/").reversed().first { $0.contains("-") && $0.contains(".") }
        return folder.flatMap { $0.split(separator: "-").first }.map(String.init)
    }

    /// The store's file of one blob.
    func blob(of file: String) throws -> String {
        let digest = SHA256.digest(of: try Durable.readFile(file, maximum: .mebibytes(64))).hex
        return "\(registry)/blobs/\(digest.prefix(2))/\(digest)"
    }
}

extension Outcome {
    /// This outcome, if it ended with `code`.
    @discardableResult
    func expecting(_ code: Int32) throws -> Outcome {
        guard self.code == code else { throw Trouble("expected exit code \(code): \(self)") }
        return self
    }
}

func isFolder(_ path: String) -> Bool {
    var state = stat()
    return stat(path, &state) == 0 && state.st_mode & S_IFMT == S_IFDIR
}
