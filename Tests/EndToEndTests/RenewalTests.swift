import Durable
import Names
import Support
import Testing

extension EndToEnd {
    @Suite("Signers and renewal", .serialized)
    struct RenewalTests {
        @Test("a program signs in the place of a file, and one that signs wrongly is refused")
        func command() throws {
            let world = try World()
            try world.created()
            try world.serve()
            let key = try world.newKey("token")
            let script = world.scratch.path("sign")
            let text = """
                #!/bin/sh
                if [ "$1" = --public-key ]; then exec openssl pkey -in '\(key)' -pubout; fi
                openssl dgst -sha256 -sign '\(key)' | openssl base64 -A
                """
            try Durable.writeAtomically(script, Array(text.utf8), mode: 0o700)
            try world.run(["namespace", "add", "audio", "--key", key + ".pub", "--yes"]).expecting(0)
            let token = world.scratch.path("audio-token")
            try world.run(["token", "create", world.registry, token, "--namespace", "audio"]).expecting(0)
            func publish(_ label: String) throws -> [String] {
                let file = try world.scratch.write("a.onnx", TestModel.bytes(label: label))
                return ["publish", file, "--model", "audio/tagger", "--token-file", token, "--version"]
            }
            try world.run(try publish("a") + ["1.0.0", "--key", "command:\(script)"]).expecting(0)
            try world.run(try publish("b") + ["next", "--signer-command", script]).expecting(0)
            try Durable.writeAtomically(
                script,
                Array("#!/bin/sh\necho token gone >&2; exit 3\n".utf8),
                mode: 0o700
            )
            let failed = try world.run(try publish("c") + ["next", "--key", "command:\(script)"]).expecting(1)
            #expect(
                failed.errors.contains("exit code 3") && failed.errors.contains("token gone"),
                "\(failed)"
            )
            let half = try Durable.readFile(key + ".pub", maximum: .kibibytes(4))
            try Durable.writeAtomically(script + ".pub", half)
            try Durable.writeAtomically(script, Array("#!/bin/sh\necho abcd\n".utf8), mode: 0o700)
            let wrong = try world.run(try publish("c") + ["next", "--key", "command:\(script)"]).expecting(1)
            #expect(wrong.errors.contains("not a signature of its public key"), "\(wrong)")
        }

        @Test("metadata refresh signs again what the keys at hand may, and says who must sign the rest")
        func refresh() throws {
            let world = try World()
            try world.created()
            try world.serve()
            try world.release("1.0.0").expecting(0)
            let nothing = try world.run(["metadata", "refresh", "--expiring", "60d"]).expecting(0)
            #expect(nothing.output.contains("nothing was changed"))
            let some = try world.run([
                "metadata", "refresh", "--expiring", "800d", "--key", world.key("vision"),
            ])
            .expecting(0)
            #expect(some.errors.contains("warning: root ends in 7"), "\(some)")
            #expect(try world.version(of: "vision~detector") == "2")
            #expect(try world.version(of: "root") == "1")
            try world.run(["metadata", "refresh", "--expiring", "800d"]).expecting(0)
            #expect(try world.version(of: "root") == "2")
            #expect(try world.version(of: "targets") == "2")
            try world.sync().expecting(0)
            #expect(try world.activeVersion() == "1.0.0")
        }

        @Test(
            "administrators whose roles have ended can still renew them, and devices go on",
            .enabled(if: Peers.fakeTimeLibrary != nil, Peers.noFakeTime)
        )
        func renewal() throws {
            let world = try World()
            let library = try #require(Peers.fakeTimeLibrary)
            func at(_ days: Int) -> [String: String] {
                [
                    "LD_PRELOAD": library, "FAKETIME": "\(days < 0 ? "-" : "+")\(abs(days))d",
                    "FAKETIME_DONT_FAKE_MONOTONIC": "1",
                ]
            }
            // Two hundred days ago, for 180 days.
            try world.run(
                [
                    "init", world.registry, "--profile", "regulated", "--namespace", "vision", "--keys",
                    world.keys,
                ],
                environment: at(-200)
            ).expecting(0)
            try world.serve()
            let token = world.scratch.path("token")
            try world.run(["token", "create", world.registry, token, "--administrator"]).expecting(0)
            let stale = try world.sync().expecting(1)
            #expect(stale.errors.contains("expired"), "\(stale)")
            let status = try world.run(["metadata", "status"]).expecting(4)
            #expect(status.output.contains("EXPIRED"))
            let half = try world.run(
                [
                    "metadata", "refresh", "--token-file", token,
                    "--key", world.key("targets-1"), "--key", world.key("targets-2"),
                ]
            ).expecting(1)
            #expect(half.errors.contains("role root: expired"), "the root has ended too: \(half)")
            try world.run(["metadata", "refresh", "--token-file", token]).expecting(0)
            #expect(try world.version(of: "root") == "2")
            try world.release("1.0.0", ["--token-file", token]).expecting(0)
            try world.sync().expecting(0)
            #expect(try world.activeVersion() == "1.0.0")
        }
    }
}
