import CanonicalJSON
import Durable
import Glibc
import Names
import Support
import Testing

extension EndToEnd {
    /// Calls that are nearly right: each is told what is wrong with it, and where to look.
    @Suite("Calls that are nearly right", .serialized)
    struct NearMissTests {
        private let world: World

        init() throws { world = try World() }

        private func served() throws {
            try world.created()
            try world.serve()
            let model = try world.scratch.write("model.onnx", TestModel.bytes(label: "a"))
            try world.publish(model, "1.0.0").expecting(0)
        }

        private func agent(_ more: String = "") throws -> String {
            let text = #"""
                {"type": "sealift/agent@1", "directory": "kept", "registries": ["https://a.example/"],
                 "root": "config/root.json", "models": [{"model": "vision/detector", "channel": "stable"}]\#(more)}
                """#
            return try world.scratch.write("agent.json", Array(text.utf8))
        }

        @Test("an address without a registry is told from a registry that lost a file")
        func address() throws {
            try served()
            let wrong = ["--registry", world.url + "elsewhere/"]
            let first = try world.sync(wrong).expecting(2)
            #expect(first.errors.contains("there is no registry at \(world.url)elsewhere/"), "\(first)")
            #expect(first.errors.contains("check host, port and path") && first.errorLines.count == 1)
            // This client published, so it followed the registry before.
            let listed = try world.run(["history", "vision/detector"] + wrong).expecting(75)
            #expect(listed.errors.contains("timestamp.json any more"), "\(listed)")
            try world.sync().expecting(0)
            let later = try world.sync(wrong).expecting(75)
            #expect(later.errors.contains("timestamp.json any more"), "\(later)")
            #expect(try world.activeVersion() == "1.0.0")
        }

        @Test("a configuration of the other kind, a broken one and none are told apart")
        func configurations() throws {
            try served()
            let model = world.scratch.path("model.onnx")
            let sync = ["sync", "--directory", world.device, "--model", "vision/detector", "--config"]
            for (name, text) in [
                ("bad.json", "{\"type\": "), ("other.json", #"{"type": "x", "models": []}"#),
            ] {
                let file = try world.scratch.write(name, Array(text.utf8))
                let refused = try world.run(sync + [file]).expecting(2)
                #expect(refused.errors.contains("‘sealift schema agent’"), "\(refused)")
                #expect(!refused.errors.contains("writes a good one"), "\(refused)")
            }
            let absent = try world.run(sync + ["nowhere.json"]).expecting(2)
            #expect(absent.errors.contains("nowhere.json is not there; expected an agent.json"), "\(absent)")
            let device = try agent()
            let publish = ["publish", model, "--model", "vision/detector", "--version", "1.0.0"]
            for verb in [publish, ["history", "vision/detector"], ["settings", "show"]] {
                let refused = try world.run(verb + ["--config", device]).expecting(2)
                #expect(refused.errors.contains("is an agent.json, for ‘sync’ on a device"), "\(refused)")
            }
        }

        @Test("a unit is made of an agent.json that is in order, and writes where that says")
        func unit() throws {
            let file = try agent()
            let kept = world.scratch.path("kept")
            let made = try world.run(["unit", "--config", file, "--user", "root"]).expecting(0)
            #expect(made.output.contains("ReadWritePaths=\(kept)\n"), "\(made)")
            #expect(
                made.output.contains("install -d -o root \(kept)\n")
                    && !made.output.contains("StateDirectory")
            )
            #expect(made.output.contains("sync --watch --config \(file)\n"), "\(made)")
            let given = try world.run(["unit", "--config", file, "--directory", "/srv/m"]).expecting(0)
            #expect(given.output.contains("--config \(file) --directory /srv/m\n"), "\(given)")
            #expect(given.output.contains("ReadWritePaths=/srv/m\n"), "\(given)")
            let broken = try world.run(["unit", "--config", try agent(#", "rat": "1MB""#)]).expecting(2)
            #expect(broken.errors.contains("‘rat’") && broken.output.isEmpty, "\(broken)")
            try world.scratch.write("agent.json", Array(#"{"type": "sealift/agent@1"}"#.utf8))
            let empty = try world.run(["unit", "--config", file]).expecting(2)
            #expect(empty.errors.contains("\(file): no device directory"), "\(empty)")
            try world.run(["unit", "--config", world.scratch.path("nowhere.json")]).expecting(2)
        }

        @Test("infer says which formats it runs before it looks for a runtime")
        func format() throws {
            try served()
            let model = "\(Readme.project)/Tests/Fixtures/models/coreml/nn_classifier.mlmodel"
            try world.run(
                ["publish", model, "--model", "vision/labels", "--version", "1.0.0", "--channel", "stable"]
            ).expecting(0)
            try world.run(["sync", "--directory", world.device, "--model", "vision/labels"]).expecting(0)
            let input = try world.scratch.write("input.json", Array("{}".utf8))
            let refused = try world.run(
                ["infer", "vision/labels", "--directory", world.device, "--input", input],
                environment: ["SEALIFT_ORT_LIBRARY": "/nowhere.so"]
            ).expecting(2)
            #expect(
                refused.errors.contains("is coreml-model, and ‘infer’ runs ONNX models alone"),
                "\(refused)"
            )
        }

        @Test("a proxy that does not work is named with the variable that it came from")
        func proxy() throws {
            try served()
            let broken = try world.sync(
                environment: ["HTTPS_PROXY": "http://user:secret@127.0.0.1:1", "NO_PROXY": ""]
            ).expecting(75)
            #expect(
                broken.errors.contains("through the proxy http://127.0.0.1:1, by HTTPS_PROXY"),
                "\(broken)"
            )
            #expect(!broken.errors.contains("secret"), "\(broken)")
        }

        @Test("a registry that another user keeps is told as that, and not as a number of SQLite")
        func otherUser() throws {
            try world.created()
            let database = "\(world.registry)/registry.db"
            for path in [world.scratch.path, world.registry] { chmod(path, 0o755) }
            chmod(database, geteuid() == 0 ? 0o600 : 0)
            // Root may read everything, so somebody else has to try.
            let other = geteuid() == 0 ? ["/usr/bin/setpriv", "--reuid=65534", "--clear-groups"] : []
            let words = other + [world.program, "serve", world.registry, "--listen", "127.0.0.1:0"]
            let refused = try Child(
                words[0],
                Array(words.dropFirst()),
                environment: ["HOME": world.scratch.path],
                folder: world.scratch.path
            ).finished(within: 30).expecting(2)
            #expect(refused.errors.contains("is not readable and writable by this user"), "\(refused)")
            #expect(refused.errorLines.count == 1, "\(refused)")
        }

        @Test("doctor looks for a runtime where models run, once, and knows what is no registry")
        func doctor() throws {
            try world.created()
            let missing = ["SEALIFT_ORT_LIBRARY": "/nowhere.so"]
            let registry = try world.run(["doctor", world.registry, "--offline"], environment: missing)
            #expect(!(registry.output + registry.errors).contains("ONNX"), "\(registry)")
            let device = try world.run(
                ["doctor", "--directory", world.scratch.path, "--offline"],
                environment: missing
            )
            let lines = (device.output + device.errors).split(separator: "\n")
            #expect(lines.filter { $0.contains("runtime, ONNX Runtime") }.count == 1, "\(device)")
            #expect(!device.errors.contains("ONNX"), "\(device)")
            let other = try world.run(["doctor", world.scratch.path, "--offline"]).expecting(1)
            #expect(other.output.contains("there is no registry: it has no registry.db"), "\(other)")
            #expect(other.output.contains("Give the directory that ‘sealift init’ made"), "\(other)")
        }

        @Test("a time is shown as people write it")
        func times() throws {
            try served()
            let shown = try world.run(["settings", "show"]).expecting(0)
            #expect(shown.output.contains("grace           30d"), "\(shown)")
            let roles = try world.run(["metadata", "status"]).expecting(0)
            #expect(roles.output.contains("7 d left") || roles.output.contains("6 d left"), "\(roles)")
            #expect(!roles.output.contains("167 h"), "\(roles)")
        }

        @Test("a mistyped model leaves what works, and says so")
        func model() throws {
            try served()
            try world.sync().expecting(0)
            let typo = try world.run([
                "sync", "--directory", world.device, "--model", "vision/detetcor@stable",
            ])
            .expecting(3)
            #expect(typo.errors.contains("the registry has no model vision/detetcor"), "\(typo)")
            #expect(typo.errors.contains("vision/detector 1.0.0 stays for now"), "\(typo)")
            #expect(try world.activeVersion() == "1.0.0")
        }

        @Test("an app or a runtime that the active version does not fit any more is told as that")
        func unfit() throws {
            try served()
            let first = world.scratch.path("model.onnx")
            let drafted = try world.run(["inspect", first, "--expectation"]).expecting(0)
            let app = try world.scratch.write("app.json", Array(drafted.output.utf8))
            let other = TestModel.bytes(label: "b", input: "renamed")
            try world.publish(try world.scratch.write("other.onnx", other), "2.0.0").expecting(0)
            try world.sync().expecting(0)
            let sync = try world.sync(["--expectation", "vision/detector=\(app)"]).expecting(3)
            #expect(sync.errors.contains("2.0.0 is active and does not fit what this device asks"), "\(sync)")
            #expect(sync.errors.contains("1.0.0 would"), "\(sync)")
            #expect(sync.output.contains("  2.0.0 does not fit:\n    input `"), "\(sync)")
            #expect(sync.output.contains("\n    input `x`: the app sends"), "\(sync)")
            #expect(!sync.errors.contains("skipped") && !sync.errors.contains("newer"), "\(sync)")
            let status = try world.run(["status", "--directory", world.device]).expecting(0)
            #expect(status.output.contains("    does not fit: 2.0.0 is active"), "\(status)")
            let why = try world.run(["why", "vision/detector", "--directory", world.device, "--json"])
            #expect(why.output.contains(#""code":"active-unfit""#), "\(why)")
            let runtime = try world.sync(["--runtime", "onnxruntime=1.2.0"]).expecting(3)
            #expect(runtime.output.contains("onnxruntime 1.2.0, which has 11"), "\(runtime)")
            let unknown = try world.sync(["--runtime", "onnxruntime=0.5.0"]).expecting(2)
            #expect(unknown.errors.contains("onnxruntime of 1.0 or later"), "\(unknown)")
            #expect(try world.activeVersion() == "2.0.0")
        }

        @Test("a name that is too long is shown in part")
        func longName() throws {
            let name = String(repeating: "x", count: 5_000)
            let calls = [
                [name], ["inspect", "--\(name)"], ["publish", "f", "--model", name], ["path", name],
            ]
            for call in calls {
                let refused = try world.run(call).expecting(2)
                #expect(refused.errors.utf8.count < 400 && refused.errors.contains("x…"), "\(refused)")
            }
        }
    }
}
