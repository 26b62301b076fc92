import Durable
import Glibc
import Names
import Support

/// What ceremonies need beyond ``World``.
extension World {
    /// Makes a registry of another profile, with the namespace `vision`.
    @discardableResult
    func created(profile: String) throws -> Outcome {
        try run(["init", registry, "--profile", profile, "--namespace", "vision", "--keys", keys]).expecting(
            0
        )
    }

    func key(_ name: String) -> String { "\(keys)/\(name).pem" }

    /// Publishes one small version.
    @discardableResult
    func release(_ version: String, _ extra: [String] = []) throws -> Outcome {
        let file = try scratch.write("m\(version).onnx", TestModel.bytes(label: version))
        return try publish(file, version, extra)
    }

    /// Makes a key outside the folder of keys.
    func newKey(_ name: String) throws -> String {
        let file = scratch.path("\(name).pem")
        try run(["keygen", file]).expecting(0)
        return file
    }

    /// A further device, with nothing on it.
    func otherDevice(_ name: String, _ extra: [String] = []) throws -> Outcome {
        try run(["sync", "--directory", scratch.path(name), "--model", "vision/detector@stable"] + extra)
    }

    func activeVersion(on name: String) throws -> String? {
        let outcome = try run(["path", "vision/detector", "--directory", scratch.path(name)])
        guard outcome.code == 0 else { return nil }
        return outcome.output.split(separator: "/").first { $0.contains("-default-") }
            .flatMap { $0.split(separator: "-").first }.map(String.init)
    }

    /// The version of a role that counts now.
    func version(of role: String) throws -> String? {
        let status = try run(["metadata", "status"]).expecting(0)
        return status.output.split(separator: "\n").first { $0.hasPrefix("\(role)  version ") }
            .flatMap { $0.split(separator: " ").dropFirst(2).first }.map(String.init)
    }

    /// Runs one line of a shell in `folder`, with ‘sealift’ on the path.
    func shell(_ line: String, in folder: String) throws -> Outcome {
        let tools = program.split(separator: "/").dropLast().joined(separator: "/")
        let environment = [
            "HOME": scratch.path, "PATH": "/\(tools):/usr/bin:/bin", "SEALIFT_CONFIG": configuration,
            "SEALIFT_REGISTRY": url,
        ]
        return try Child(
            "/bin/sh",
            ["-c", "cd '\(folder)' && \(line)"],
            environment: environment,
            folder: scratch.path
        ).finished(within: 60)
    }
}
