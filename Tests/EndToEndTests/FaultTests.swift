import Durable
import Glibc
import Names
import Support
import Testing

extension EndToEnd {
    /// Each fault ends with one clear line, its exit code, and the old generation active.
    @Suite("Faults", .serialized)
    struct FaultTests {
        /// A device on 1.0.0, and 1.1.0 published and not yet synced.
        private func updatable(padding: Int = 300_000) throws -> World {
            let world = try World()
            try world.created()
            try world.serve()
            try world.publish(
                try world.scratch.write("m1.onnx", TestModel.bytes(label: "1.0.0", padding: padding)),
                "1.0.0"
            ).expecting(0)
            try world.sync().expecting(0)
            try world.publish(
                // Half of its blocks are new; the others are taken from what the device has.
                try world.scratch.write(
                    "m2.onnx",
                    TestModel.bytes(label: "1.1.0", padding: padding, seed: 2)
                ),
                "1.1.0"
            ).expecting(0)
            return world
        }

        /// Checks the outcome's shape, and that the device still answers with `version`.
        private func expect(
            _ outcome: Outcome,
            _ code: Int32,
            saying words: String...,
            on world: World,
            active version: String? = "1.0.0"
        ) throws {
            #expect(outcome.code == code, "\(outcome)")
            #expect(outcome.errorLines.count == 1, "one line: \(outcome)")
            for word in words { #expect(outcome.errors.contains(word), "says \(word): \(outcome)") }
            #expect(try world.activeVersion() == version)
        }

        @Test("a tampered blob is refused, and the honest one is taken afterwards")
        func tamperedBlob() throws {
            let world = try updatable()
            let blob = try world.blob(of: world.scratch.path("m2.onnx"))
            let honest = try Durable.readFile(blob, maximum: .mebibytes(4))
            var bytes = honest
            // In the last block: those before it are those of 1.0.0, and nobody asks for them.
            bytes[bytes.count - 1] ^= 1
            try Durable.writeAtomically(blob, bytes, mode: 0o444)
            try expect(try world.sync(), 1, saying: "SHA-256", "signed", on: world)
            try Durable.writeAtomically(blob, honest, mode: 0o444)
            try world.sync().expecting(0)
            #expect(try world.activeVersion() == "1.1.0")
        }

        @Test(
            "tampered metadata is refused, whichever role it is",
            .enabled(if: Peers.python != nil, Peers.noPython),
            arguments: ["timestamp", "snapshot", "vision~detector", "vision~detector~live"]
        )
        func tamperedMetadata(role: String) throws {
            let world = try updatable()
            try world.stopServing()
            // One digit of the expiry of what the registry serves last for this role.
            let edit = try Child(
                try #require(Peers.python),
                [
                    fixture("edit_database.py"), world.registry + "/registry.db",
                    """
                    UPDATE \(role == "timestamp" ? "timestamp_file" : "metadata_file")
                    SET bytes = CAST(replace(CAST(bytes AS TEXT), '"expires":"2', '"expires":"3') AS BLOB)
                    WHERE \(role == "timestamp" ? "1" : "role = '\(role)'")
                    """,
                ],
                environment: [:],
                folder: world.scratch.path
            ).finished(within: 20)
            #expect(edit.code == 0, "\(edit)")
            try world.serve()
            let outcome = try world.sync()
            try expect(outcome, 1, saying: role, on: world)
        }

        @Test(
            "a call that cannot be carried out ends with one line and its code, whatever stands in its words"
        )
        func oneLine() throws {
            let world = try World()
            let calls: [(words: [String], code: Int32)] = [
                (["init", "/proc/sealift", "--keys", world.keys], 2),
                (["init", world.registry, "--host", "*", "--keys", world.keys], 2), (["init", ""], 2),
                (["inspect", "a\nb\u{1B}[31m"], 2), (["inspect", "a\u{FFFD}"], 2),
                (["publish", "m", "--model", "a/b", "--version", "next", "--rollout", "10%"], 2),
                (["history", "a/b", "--registry", "https://", "--root", world.root], 2),
            ]
            for call in calls {
                let outcome = try world.run(call.words)
                #expect(outcome.code == call.code, "\(call): \(outcome)")
                #expect(
                    outcome.errorLines.count == 1 && !outcome.errors.contains("\u{1B}"),
                    "\(call): \(outcome)"
                )
            }
            #expect(try Durable.kind(of: world.registry) == nil, "nothing half made is left")
        }

        @Test("another registry's root is refused")
        func wrongRoot() throws {
            let world = try updatable()
            let other = try World()
            try other.created()
            try expect(try world.sync(["--root", other.root]), 1, saying: "root", on: world)
        }

        @Test(
            "an expired timestamp accepts nothing new, keeps what is active, and says so",
            .enabled(if: Peers.fakeTimeLibrary != nil, Peers.noFakeTime)
        )
        func expiredTimestamp() throws {
            let world = try updatable()
            let later = ["LD_PRELOAD": try #require(Peers.fakeTimeLibrary), "FAKETIME": "+4d"]
            try expect(
                try world.sync(environment: later),
                4,
                saying: "timestamp",
                "expired",
                on: world
            )
            let status = try world.run(["status", "--directory", world.device], environment: later)
            #expect(status.output.contains("stale"), "\(status)")
            let fresh = try World()
            try fresh.created()
            try fresh.serve()
            let file = try fresh.scratch.write("m.onnx", TestModel.bytes(label: "1"))
            try fresh.publish(file, "1.0.0").expecting(0)
            let nothing = try fresh.sync(environment: later)
            #expect(nothing.code == 1, "nothing is active, so nothing may run: \(nothing)")
            #expect(try fresh.activeVersion() == nil)
        }

        @Test(
            "a server gone in mid-download leaves the old version, and the next sync resumes",
            .enabled(if: Peers.python != nil, Peers.noPython)
        )
        func serverGone() throws {
            let world = try updatable(padding: 8 << 20)
            let port = try #require(world.url.split(separator: ":").last.map { $0.filter(\.isNumber) })
            let proxy = try Child(
                try #require(Peers.python),
                [fixture("cut_proxy.py"), String(port), "3000000"],
                environment: [:],
                folder: world.scratch.path
            )
            defer { proxy.signal(SIGKILL) }
            let forwarded = try proxy.waits(10, for: "port") { Int($0.filter(\.isNumber)) }
            let outcome = try world.sync(["--registry", "https://127.0.0.1:\(forwarded)/", "--retries", "1"])
            try expect(outcome, 75, saying: "127.0.0.1:\(forwarded)", on: world)
            let resumed = try world.sync(["--json"]).expecting(0)
            #expect(try world.activeVersion() == "1.1.0")
            let fetched = resumed.output.split(separator: "\"bytes_fetched\":").last?.prefix { $0.isNumber }
            let count = try #require(fetched.flatMap { Int($0) })
            #expect(count < 4 << 20, "resumed, not begun again: \(resumed)")
        }

        @Test("a registry whose certificate an unknown authority made is refused")
        func unknownAuthority() throws {
            let world = try updatable()
            let other = try World()
            try other.created()
            let ca = other.scratch.path("config/ca.pem")
            try expect(try world.sync(["--ca", ca]), 1, saying: "certificate", on: world)
        }

        @Test("plain http to another machine is a usage error, and nothing is asked")
        func plainHTTP() throws {
            let world = try updatable()
            let outcome = try world.sync(["--registry", "http://models.example/", "--allow-plain-loopback"])
            try expect(outcome, 2, saying: "http", "models.example", on: world)
        }

        @Test(
            "a private key that others may read is refused before it is used",
            arguments: [0o640, 0o604, 0o000]
        )
        func openKey(mode: Int) throws {
            let world = try updatable()
            let key = world.keys + "/vision.pem"
            chmod(key, mode_t(mode))
            // Root reads a file of mode 0000 all the same; then there is nothing to refuse.
            guard mode != 0 || getuid() != 0 else { return }
            let file = try world.scratch.write("m3.onnx", TestModel.bytes(label: "1.2.0"))
            try expect(try world.publish(file, "1.2.0"), 1, saying: key, on: world)
            chmod(key, 0o600)
            try world.publish(file, "1.2.0").expecting(0)
        }

        @Test(
            "too few open files end in an error that says what to do, before anything begins",
            arguments: [4, 5, 6, 8, 12]
        )
        func openFiles(limit: Int) throws {
            let world = try World()
            for words in ["--version", "sync --directory d --root r --model a/b@stable", "serve nowhere"] {
                let outcome = try world.shell(
                    "ulimit -n \(limit) && exec sealift \(words)",
                    in: world.scratch.path
                )
                #expect(outcome.code == 75 && outcome.errors.contains("ulimit -n"), "\(outcome)")
            }
            let outcome = try world.shell("ulimit -n 64 && exec sealift --version", in: world.scratch.path)
            #expect(outcome.code == 0, "\(outcome)")
        }

        @Test("a port that is taken is said to be taken")
        func portInUse() throws {
            let world = try updatable()
            let address = try #require(world.url.split(separator: "/").last.map(String.init))
            let port = String(address.split(separator: ":").last ?? "")
            let outcome = try world.run(["serve", world.registry, "--listen", address], within: 30)
            try expect(outcome, 75, saying: "127.0.0.1 port \(port)", on: world)
        }

        @Test("without libcurl no request is made, and that is said; what needs none works")
        func noLibrary() throws {
            let world = try updatable()
            try world.scratch.write("lib/libcurl.so.4", Array("not a library".utf8))
            let environment = ["LD_LIBRARY_PATH": world.scratch.path("lib")]
            let words = ["sync", "--directory", world.device, "--model", "vision/detector@stable"]
            let outcome = try world.run(words, environment: environment)
            try expect(outcome, 2, saying: "libcurl 4 cannot be used", "install it", on: world)
            try world.run(["inspect", world.scratch.path("m1.onnx")], environment: environment).expecting(0)
        }

        @Test(
            "a database newer than the program is left alone",
            .enabled(if: Peers.python != nil, Peers.noPython)
        )
        func newerDatabase() throws {
            let world = try updatable()
            try world.stopServing()
            let database = world.registry + "/registry.db"
            let edit = try Child(
                try #require(Peers.python),
                [fixture("edit_database.py"), database, "PRAGMA user_version = 9999"],
                environment: [:],
                folder: world.scratch.path
            ).finished(within: 20)
            #expect(edit.code == 0, "\(edit)")
            let outcome = try world.run(["serve", world.registry, "--listen", "127.0.0.1:0"], within: 30)
            try expect(outcome, 70, saying: "newer", on: world)
        }
    }
}

/// A file beside the tests' sources.
func fixture(_ name: String) -> String {
    #filePath.split(separator: "/").dropLast().reduce("") { $0 + "/" + $1 } + "/Fixtures/" + name
}
