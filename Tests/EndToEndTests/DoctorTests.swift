import CanonicalJSON
import Durable
import Glibc
import Names
import Support
import Testing

extension EndToEnd {
    /// Every finding that an operator can act on, with its remedy.
    @Suite("What doctor finds", .serialized)
    struct DoctorTests {
        private let world: World

        init() throws {
            world = try World()
            try world.created()
        }

        private struct Finding {
            let level: String
            let found: String
            let remedy: String?
        }

        /// Runs `doctor`, expects the exit code that its findings ask for, and gives them by check and subject.
        private func findings(
            _ arguments: [String],
            _ environment: [String: String] = [:]
        ) throws -> (String, String) -> Finding? {
            let outcome = try world.run(["doctor", "--json"] + arguments, environment: environment)
            let report = try JSONParser.parse(Array(outcome.output.utf8), maximumLength: 1 << 20)
            let list = report["findings"]?.array ?? []
            #expect(list.count > 3, "\(outcome)")
            for value in list {
                let isGood = value["level"]?.string == "good"
                #expect((value["remedy"]?.string == nil) == isGood, "\(value)")
                #expect(value["remedy"]?.string?.contains("sealift doctor") != true, "\(value)")
            }
            let hasProblem = list.contains { $0["level"]?.string == "problem" }
            #expect(outcome.code == (hasProblem ? 1 : 0), "\(outcome)")
            return { check, subject in
                list.first {
                    $0["check"]?.string == check && $0["subject"]?.string?.contains(subject) == true
                }
                .map {
                    Finding(
                        level: $0["level"]?.string ?? "",
                        found: $0["found"]?.string ?? "",
                        remedy: $0["remedy"]?.string
                    )
                }
            }
        }

        private func synced() throws {
            try world.serve()
            let file = world.scratch.path("detector.onnx")
            try Durable.writeAtomically(file, TestModel.bytes(label: "1"))
            try world.publish(file, "1.0.0").expecting(0)
            try world.sync().expecting(0)
        }

        @Test(
            "all is well after a first sync, and a runtime that is missing is told with the line that installs it"
        )
        func well() throws {
            try synced()
            let found = try findings(["--directory", world.device], ["SEALIFT_ORT_LIBRARY": "/nowhere.so"])
            #expect(found("registry", world.url)?.level == "good")
            #expect(found("ca", "ca.pem")?.level == "good" && found("proxy", world.url)?.found == "none")
            #expect(found("chain", "device")?.level == "good")
            #expect(found("active", "vision/detector")?.found.contains("1.0.0") == true)
            #expect(found("lock", "device/lock")?.level == "good")
            #expect(found("runtime", "ONNX")?.level == "warning")
            #expect(found("runtime", "ONNX")?.remedy?.contains("pip") == true)
            #expect(found("runtime", "ONNX")?.found.contains("pip") == false, "once is enough")
        }

        @Test(
            "a registry that does not answer and a model that is missing are told with what to do, by status too"
        )
        func missing() throws {
            try synced()
            let device = ["--directory", world.device]
            let models = ["--model", "vision/detector", "--model", "vision/detektor"]
            try world.run(["sync"] + device + models).expecting(3)
            let found = try findings(device)
            #expect(found("missing", "vision/detektor@stable")?.level == "problem")
            #expect(found("missing", "vision/detektor@stable")?.remedy?.contains("Compare name") == true)
            #expect(try findings(device + models.prefix(2))("missing", "") == nil)
            let text = try world.run(["status"] + device).expecting(0).output
            #expect(text.contains("missing: vision/detektor@stable: "), "\(text)")
            let other = ["status", "--model", "vision/later@beta", "--json"] + device
            let status = try JSONParser.parse(
                Array(try world.run(other).expecting(0).output.utf8),
                maximumLength: 1 << 20
            )
            #expect(status["missing"]?.array?.first?["request"]?.string == "vision/later@beta", "\(status)")
            #expect(status["models"]?.array?.first?["trial"] == .null)
            try world.stopServing()
            let away = try findings(device)("registry", world.url)
            #expect(away?.remedy?.contains("See that the registry runs") == true)
        }

        @Test("what is wrong on a device is found, and nothing is changed by looking")
        func device() throws {
            try synced()
            chmod("\(world.device)/device/rollout", 0o644)
            let entry = try world.run(["path", "vision/detector", "--directory", world.device]).output
                .split(separator: "\n")[0]
            chmod(Durable.parent(of: String(entry)), 0o755)
            try Durable.writeAtomically(String(entry), Array("other bytes".utf8))
            let lock = try DirectoryLock("\(world.device)/lock")
            let found = try findings(["--directory", world.device, "--offline"])
            withExtendedLifetime(lock) {}
            #expect(found("key-mode", "rollout")?.level == "problem")
            #expect(found("key-mode", "rollout")?.remedy?.contains("chmod 600") == true)
            #expect(found("active", "vision/detector")?.level == "problem")
            #expect(found("lock", "lock")?.found.contains("process \(getpid())") == true)
            let nowhere = try findings(["--directory", world.scratch.path("nowhere"), "--offline"])
            #expect(nowhere("directory", "nowhere")?.level == "problem")
        }

        @Test("a version that the device does not take again is named, with the way to let it")
        func quarantined() throws {
            try synced()
            let device = ["--directory", world.device]
            #expect(try findings(device + ["--offline"])("quarantine", "device")?.level == "good")
            let file = world.scratch.path("next.onnx")
            try Durable.writeAtomically(file, TestModel.bytes(label: "2"))
            try world.publish(file, "1.1.0").expecting(0)
            try world.sync().expecting(0)
            try world.run(["rollback", "--reason", "wrong labels"] + device).expecting(0)
            let found = try findings(device + ["--offline"])("quarantine", "vision/detector 1.1.0")
            #expect(found?.level == "warning" && found?.found.contains("wrong labels") == true)
            #expect(found?.remedy?.contains("sealift quarantine clear vision/detector") == true)
        }

        @Test("a registry that does not answer, a proxy, and a certificate by nobody known are told apart")
        func network() throws {
            try world.serve()
            let proxied = try findings(
                ["--registry", "https://127.0.0.1:1/"],
                ["https_proxy": "http://user:secret@127.0.0.1:2"]
            )
            #expect(proxied("proxy", "127.0.0.1:1")?.found.contains("127.0.0.1:2, by https_proxy") == true)
            #expect(proxied("proxy", "127.0.0.1:1")?.found.contains("secret") == false)
            #expect(proxied("registry", "127.0.0.1:1")?.level == "problem")
            let other = world.scratch.path("other-ca.pem")
            try world.run(["init", world.scratch.path("other"), "--keys", world.scratch.path("o/keys")])
                .expecting(0)
            try Durable.writeAtomically(
                other,
                try Durable.readFile(world.scratch.path("o/ca.pem"), maximum: .kibibytes(64))
            )
            let stranger = try findings(["--ca", other])
            #expect(stranger("registry", world.url)?.found.contains("certificate") == true)
            #expect(stranger("registry", world.url)?.remedy?.contains("--ca") == true)
        }

        @Test("a registry's own machine: database, keys, certificate, and the life of each role")
        func registry() throws {
            let found = try findings([world.registry, "--offline"])
            #expect(found("database", "registry.db")?.level == "good")
            #expect(found("role", "root")?.level == "good" && found("role", "targets")?.level == "good")
            #expect(found("role", "timestamp")?.found.contains("signed again by") == true)
            #expect(found("certificate", "server.pem")?.level == "good")
            chmod("\(world.registry)/keys/online.pem", 0o644)
            #expect(
                try findings([world.registry, "--offline"])("key-mode", "online.pem")?.level == "problem"
            )
            chmod("\(world.registry)/keys/online.pem", 0o600)
            var bytes = try Durable.readFile("\(world.registry)/registry.db", maximum: .mebibytes(16))
            for index in 8_192..<min(bytes.count, 40_000) { bytes[index] = 0xA5 }
            try Durable.writeAtomically("\(world.registry)/registry.db", bytes, mode: 0o600)
            #expect(
                try findings([world.registry, "--offline"])("database", "registry.db")?.level == "problem"
            )
        }

        @Test("root keys that belong to several people and lie in one folder are a warning")
        func rootKeys() throws {
            let config = world.scratch.path("team/client.json")
            try world.run([
                "init", world.scratch.path("team-registry"), "--profile", "team", "--keys",
                world.scratch.path("team/keys"),
            ]).expecting(0)
            let found = try findings(["--config", config, "--offline"])
            #expect(found("root-keys", "team/keys")?.level == "warning")
            #expect(found("key-mode", "administrator-token")?.level == "good")
            for name in ["root-2.pem", "root-3.pem"] {
                try Durable.removeFile(world.scratch.path("team/keys/\(name)"))
            }
            let moved = try findings(["--config", config, "--offline"])
            #expect(moved("root-keys", "team/keys")?.level == "good", "public halves are no keys")
            #expect(try findings(["--offline"])("root-keys", "config/keys")?.level == "good", "solo has one")
        }
    }
}
