import Blocking
import CanonicalJSON
import Durable
import Glibc
import Names
import Signing
import Support
import SyncAgent
import Testing

extension EndToEnd {
    /// Many processes on one device directory.
    @Suite("Many processes", .serialized)
    struct ManyProcessesTests {
        private let world: World
        private let sync: [String]
        private let length = 700_000

        init() throws {
            world = try World()
            try world.created()
            try world.serve()
            sync = ["sync", "--directory", world.device, "--model", "vision/detector@stable"]
            try publish("1.0.0")
        }

        private func publish(_ version: String) throws {
            let bytes = TestModel.bytes(label: version, padding: length)
            try world.publish(try world.scratch.write("\(version).onnx", bytes), version).expecting(0)
        }

        private func expectWhole(_ version: String) throws {
            let device = try SyncedDevice(directory: world.device)
            #expect(try device.verify() > length)
            #expect(try device.status().models.map(\.version) == [version])
        }

        @Test("twenty agents that start at once fetch one copy of the bytes")
        func twentyAgents() throws {
            let agents = try (0..<20).map { _ in try world.start(sync + ["--json"]) }
            var fetched: Int64 = 0
            for agent in agents {
                let outcome = try agent.finished(within: 120).expecting(0)
                fetched +=
                    try JSONParser.parse(Array(outcome.output.utf8), maximumLength: 1 << 20)["bytes_fetched"]?
                    .integer ?? 0
            }
            #expect(fetched > length && fetched < Int64(length) * 3 / 2, "\(fetched) bytes")
            try expectWhole("1.0.0")
        }

        @Test("programs that start during the first sync of a device see nothing or a whole version")
        func firstSync() throws {
            let script = """
                python3 - <<'END'
                import hashlib, sealift, time
                for _ in range(20000):
                    try:
                        with sealift.lease("vision/detector") as model:
                            print(hashlib.sha256(open(model.entry, "rb").read()).hexdigest())
                            break
                    except sealift.SealiftError:
                        time.sleep(0.002)
                END
                """
            let readers = try (0..<8).map { _ in try world.shell(script) }
            try world.run(sync + ["--rate", "2MB"]).expecting(0)
            let digest = SHA256.digest(of: TestModel.bytes(label: "1.0.0", padding: length)).hex
            for reader in readers {
                #expect(try reader.finished(within: 60).expecting(0).output == "\(digest)\n")
            }
        }

        @Test("a holder of the lock that is killed is in nobody's way")
        func killedHolder() throws {
            let holder = try pausedHolder()
            holder.signal(SIGKILL)
            _ = try holder.finished(within: 20)
            try world.run(sync).expecting(0)
            try expectWhole("1.0.0")
        }

        @Test(
            "while a holder of the lock is stopped others read, and say who holds it; when it goes on it finishes"
        )
        func stoppedHolder() throws {
            try world.run(sync).expecting(0)
            try publish("1.1.0")
            let holder = try pausedHolder()
            let waiting = try world.run(sync + ["--wait", "1s"])
            #expect(waiting.code == 75 && waiting.errors.contains("another sync"), "\(waiting)")
            try expectWhole("1.0.0")
            try world.run(["run", "vision/detector", "--directory", world.device, "--", "true"]).expecting(0)
            holder.signal(SIGCONT)
            try holder.finished(within: 60).expecting(0)
            try expectWhole("1.1.0")
        }

        @Test("no safety depends on the lock: agents that do not see each other's leave one whole generation")
        func noLock() throws {
            var agents: [Child] = []
            for _ in 0..<6 {
                agents.append(try world.start(sync))
                // Whoever opens the lock's file now locks another file than those before.
                usleep(20_000)
                try Durable.removeFile("\(world.device)/lock")
            }
            let outcomes = try agents.map { try $0.finished(within: 120) }
            #expect(outcomes.contains { $0.code == 0 }, "\(outcomes)")
            #expect(outcomes.allSatisfy { [0, 1, 75].contains($0.code) }, "\(outcomes)")
            try world.run(sync).expecting(0)
            try expectWhole("1.0.0")
        }

        @Test(
            "the active model opens from a read-only mount, without a network",
            .enabled(if: Namespaces.areAllowed, "a read-only mount needs the right to make namespaces")
        )
        func readOnly() throws {
            try world.run(sync).expecting(0)
            let mount = world.scratch.path("mounted")
            try Durable.makeDirectory(mount)
            let script = """
                mount --bind '\(world.device)' '\(mount)' && mount -o remount,bind,ro '\(mount)' || exit 99
                ! touch '\(mount)/x' 2>/dev/null || exit 98
                '\(world.program)' path vision/detector --directory '\(mount)' || exit 97
                '\(world.program)' verify --directory '\(mount)' || exit 96
                '\(world.program)' status --directory '\(mount)' || exit 95
                '\(world.program)' run vision/detector --directory '\(mount)' -- sh -c 'wc -c < "$SEALIFT_MODEL_ENTRY"'
                """
            let child = ChildProcess("/usr/bin/unshare", ["-rmn", "sh", "-c", script])
            let result = try child.result()
            #expect(result.ending == .exited(0), "\(result.outputText)\(result.errorText)")
            let lines = result.outputText.split(separator: "\n")
            #expect(lines.first?.hasPrefix(mount) == true)
            #expect((lines.last.flatMap { Int($0) } ?? 0) > length)
        }

        /// A sync that holds the lock and stands still.
        private func pausedHolder() throws -> Child {
            let holder = try world.start(sync, environment: ["SEALIFT_STOP_AT": "stage.version"])
            let path = "/proc/\(holder.pid)/stat"
            let end = MonotonicTime.now.adding(seconds: 60)
            while true {
                let text = (try? Durable.readFile(path, maximum: .kibibytes(4))).map {
                    String(decoding: $0, as: UTF8.self)
                }
                if text?.contains(") T ") == true { return holder }
                guard MonotonicTime.now < end else {
                    throw Trouble("the sync did not stop: \(text ?? "gone")")
                }
                usleep(5_000)
            }
        }
    }

    /// What this machine lets a user do.
    enum Namespaces {
        static let areAllowed: Bool = {
            let child = ChildProcess("/usr/bin/unshare", ["-rmn", "true"])
            return (try? child.result().ending) == .exited(0)
        }()
    }
}
