import CanonicalJSON
import Durable
import Glibc
import Names
import Support
import Testing

extension EndToEnd {
    /// The agent as a service.
    @Suite("The agent as a service", .serialized)
    struct WatchTests {
        private let world: World

        init() throws { world = try World() }

        private var agentFile: String { world.scratch.path("agent.json") }

        private func configure(_ registry: String, _ more: String = "") throws {
            try world.scratch.write(
                "agent.json",
                Array(
                    """
                    {"type": "sealift/agent@1", "directory": "device", "registries": ["\(registry)"],
                     "root": "config/root.json", "ca": "config/ca.pem",
                     "models": [{"model": "vision/detector", "channel": "stable"}]\(more)}
                    """.utf8
                )
            )
        }

        private func published(_ version: String) throws {
            let file = world.scratch.path("\(version).onnx")
            try Durable.writeAtomically(file, TestModel.bytes(label: version))
            try world.publish(file, version).expecting(0)
        }

        /// Starts watching, by a configuration file alone.
        private func watch(_ more: [String] = [], _ environment: [String: String] = [:]) throws -> Child {
            let variables = ["SEALIFT_REGISTRY": ""].merging(environment) { $1 }
            return try world.start(
                ["sync", "--watch", "--poll", "1s", "--config", agentFile] + more,
                environment: variables
            )
        }

        private func wait(for version: String, _ child: Child) throws {
            _ = try child.waits(30, for: version) { _ in
                (try? world.activeVersion()) == version ? version : nil
            }
        }

        @Test("it takes each version that is published while it runs, and ends cleanly when told to")
        func versions() throws {
            try world.created()
            try world.serve()
            try published("1.0.0")
            try configure(world.url)
            let child = try watch()
            try wait(for: "1.0.0", child)
            try published("1.1.0")
            try wait(for: "1.1.0", child)
            child.signal(SIGTERM)
            let outcome = try child.finished(within: 20)
            #expect(outcome.code == 0, "\(outcome)")
            let told = outcome.output.split(separator: "\n").filter { $0.contains("vision/detector 1.0.0") }
            #expect(told.count <= 2, "a sync that has nothing new to say says nothing: \(outcome)")
        }

        @Test("an outage does not end it, and SIGHUP makes it read its configuration again")
        func reload() throws {
            try world.created()
            try world.serve()
            try published("1.0.0")
            try configure("https://127.0.0.1:1/")
            let child = try watch()
            _ = try child.waits(30, for: "outage") { _ in
                child.errors.split(separator: "\n").filter { $0.contains("127.0.0.1:1") }.count >= 2
                    ? true : nil
            }
            try configure(world.url, #", "rat": "1MB""#)
            child.signal(SIGHUP)
            _ = try child.waits(30, for: "refusal") { _ in
                child.errors.contains("stays as it was") && child.errors.contains("‘rat’") ? true : nil
            }
            #expect(try world.activeVersion() == nil)
            try configure(world.url)
            child.signal(SIGHUP)
            try wait(for: "1.0.0", child)
            child.signal(SIGINT)
            #expect(try child.finished(within: 20).code == 0)
        }

        @Test("it ends with 2 when it is started with a configuration that is wrong")
        func misconfigured() throws {
            try configure("https://127.0.0.1:1/", #", "modles": []"#)
            let outcome = try watch(["--json"]).finished(within: 20)
            #expect(outcome.code == 2 && outcome.errors.contains("‘modles’"), "\(outcome)")
            let report = try JSONParser.parse(Array(outcome.output.utf8), maximumLength: 65_536)
            #expect(report["error"]?["code"]?.string == "configuration")
        }

        @Test("it tells the service manager when it is ready and when it stops")
        func notification() throws {
            try configure("https://127.0.0.1:1/")
            let path = world.scratch.path("notify")
            let listener = try NotifySocket(path)
            let child = try watch([], ["NOTIFY_SOCKET": path])
            #expect(listener.next() == "READY=1")
            #expect(listener.next()?.hasPrefix("STATUS=") == true)
            child.signal(SIGTERM)
            var last = listener.next()
            while let text = last, text.hasPrefix("STATUS=") { last = listener.next() }
            #expect(last == "STOPPING=1")
            #expect(try child.finished(within: 20).code == 0)
        }

        @Test("the unit that it prints is one that systemd takes")
        func unit() throws {
            let text = try world.run(["unit", "--user", "root"]).expecting(0).output
            #expect(text.contains("ExecStart=\(world.program) sync --watch --config /etc/sealift/agent.json"))
            #expect(text.contains("StateDirectory=sealift\n") && !text.contains("install -d"), "\(text)")
            #expect(
                text.contains("useradd --system") && text.contains(": /etc/sealift/root.json\n"),
                "\(text)"
            )
            #expect(try world.run(["unit", "--user", "a b"]).code == 2)
            let tool = "/usr/bin/systemd-analyze"
            guard access(tool, X_OK) == 0 else { return }
            let file = world.scratch.path("sealift-sync.service")
            try Durable.writeAtomically(file, Array(text.utf8))
            let outcome = try Child(tool, ["verify", file], environment: [:], folder: world.scratch.path)
                .finished(within: 30)
            let complaints = outcome.errorLines.filter { $0.contains("sealift-sync.service") }
            #expect(complaints.isEmpty, "\(complaints)")
        }

        @Test("config shows each setting and where it comes from")
        func settings() throws {
            try configure("https://a.example/", #", "rate": "2MB""#)
            let outcome = try world.run(
                ["config", "--config", agentFile, "--retries", "9", "--json"],
                environment: ["SEALIFT_DIRECTORY": "/elsewhere"]
            )
            let report = try JSONParser.parse(
                Array(try outcome.expecting(0).output.utf8),
                maximumLength: 65_536
            )
            func setting(_ name: String) -> [String?] {
                let found = report["settings"]?.array?.first { $0["name"]?.string == name }
                return [found?["value"]?.string, found?["from"]?.string]
            }
            #expect(setting("rate") == ["2000000B/s", agentFile])
            #expect(setting("retries") == ["9", "--retries"])
            #expect(setting("directory") == ["/elsewhere", "SEALIFT_DIRECTORY"])
            #expect(setting("retain") == ["1d", "default"])
            #expect(setting("budget") == [nil, "not set"])
            #expect(setting("models") == ["vision/detector@stable", agentFile])
        }
    }
}

/// A socket as a service manager listens on it.
private final class NotifySocket {
    private let descriptor: Int32

    init(_ path: String) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        guard descriptor >= 0, path.utf8.count < MemoryLayout.size(ofValue: address.sun_path) else {
            throw Trouble("no socket at \(path)")
        }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let length = socklen_t(MemoryLayout<sockaddr_un>.size)
        let code = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) }
        }
        guard code == 0 else { throw Trouble("cannot listen at \(path)") }
        var patience = timeval(tv_sec: 20, tv_usec: 0)
        setsockopt(
            descriptor,
            SOL_SOCKET,
            SO_RCVTIMEO,
            &patience,
            socklen_t(MemoryLayout<timeval>.size)
        )
    }

    deinit { close(descriptor) }

    /// The next message; `nil` when none comes for long.
    func next() -> String? {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        return count > 0 ? String(decoding: buffer[..<count], as: UTF8.self) : nil
    }
}
