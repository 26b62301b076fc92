import Durable
import Glibc
import Names
import Support
import Testing

extension EndToEnd {
    @Suite("Ceremonies", .serialized)
    struct CeremonyTests {
        /// The page's commands, in order, as they stand between its fences.
        private static func commands(of page: String) throws -> [String] {
            let folder = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
            let path = "/\(folder)/Sources/Publishing/Publishing.docc/\(page)"
            let text = String(decoding: try Durable.readFile(path, maximum: .kibibytes(64)), as: UTF8.self)
            var commands: [String] = []
            var isCode = false
            for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
                if line.hasPrefix("```") {
                    isCode = line == "```sh"
                } else if isCode {
                    commands.append(String(line))
                }
            }
            return commands
        }

        @Test("the page on rotating the root works as written, and a device pinned to root 1 follows")
        func page() throws {
            let world = try World()
            try world.created(profile: "team")
            try world.serve()
            try world.release("1.0.0").expecting(0)
            try world.sync().expecting(0)
            let folder = world.scratch.path("page")
            try Durable.makeDirectory(folder)
            // The holders have their keys, and nothing is left beside the configuration.
            for name in ["root-1.pem", "root-2.pem", "root-3.pem.pub"] {
                let bytes = try Durable.readFile("\(world.keys)/\(name)", maximum: .kibibytes(64))
                try Durable.writeAtomically("\(folder)/\(name)", bytes, mode: 0o600)
            }
            for number in 1...3 { #expect(unlink(world.key("root-\(number)")) == 0) }
            let commands = try Self.commands(of: "RotatingTheRoot.md")
            #expect(commands.count == 6)
            for command in commands {
                let outcome = try world.shell(command, in: folder)
                #expect(outcome.code == 0, "\(command)\n\(outcome)")
            }
            #expect(try world.version(of: "root") == "2")
            try world.release("1.1.0").expecting(0)
            try world.sync().expecting(0)
            #expect(try world.activeVersion() == "1.1.0", "the old device")
            try world.otherDevice("second").expecting(0)
            #expect(try world.activeVersion(on: "second") == "1.1.0", "a new one, pinned to root 1")
        }

        @Test("a rotation that would strand devices is refused, and the message names who must sign")
        func stranding() throws {
            let world = try World()
            try world.created(profile: "team")
            try world.serve()
            let new = try world.newKey("new")
            let rotate = ["root", "rotate", "--add", new + ".pub", "--yes"]
            let alone = try world.run(rotate + ["--key", world.key("root-1")]).expecting(1)
            #expect(alone.errors.contains("root has 1 of 2 signatures"), "\(alone)")
            let all = ["--key", world.key("root-1"), "--key", world.key("root-2")]
            let impossible = try world.run(
                ["root", "rotate", "--remove", world.key("root-3") + ".pub", "--threshold", "3", "--yes"]
                    + all
            ).expecting(1)
            #expect(impossible.errors.contains("2 keys and need 3 signatures"), "\(impossible)")
            // Enough of the new keys, too few of the old.
            let replaced = try world.run(
                [
                    "root", "rotate", "--add", new + ".pub", "--remove", world.key("root-2") + ".pub",
                    "--key", world.key("root-1"), "--key", new, "--yes",
                ]
            ).expecting(1)
            #expect(replaced.errors.contains("root has 1 of 2 signatures"), "\(replaced)")
            #expect(try world.version(of: "root") == "1")
            try world.run(rotate + all).expecting(0)
            #expect(try world.version(of: "root") == "2")
        }

        @Test("two holders sign copies of a file on their own machines; the copies are put together")
        func copies() throws {
            let world = try World()
            try world.created(profile: "team")
            try world.serve()
            let file = world.scratch.path("root.proposal")
            try world.run(["role", "export", "root", file]).expecting(0)
            let early = try world.run(["role", "import", file, "--yes", "--key", world.key("root-1")])
                .expecting(1)
            #expect(early.errors.contains("root has 1 of 2 signatures"), "\(early)")
            var copies: [String] = []
            for number in [1, 3] {
                let copy = world.scratch.path("root-\(number).proposal")
                try Durable.writeAtomically(copy, try Durable.readFile(file, maximum: .mebibytes(1)))
                let offline = ["SEALIFT_REGISTRY": "https://127.0.0.1:1/"]
                let signed = try world.run(
                    ["role", "sign", copy, "--key", world.key("root-\(number)"), "--yes"],
                    environment: offline
                ).expecting(0)
                #expect(
                    signed.errors.contains("root is signed by 2 of"),
                    "it shows what is signed: \(signed)"
                )
                copies.append(copy)
            }
            let wrong = try world.run(["role", "sign", copies[0], "--key", world.key("vision"), "--yes"])
                .expecting(1)
            #expect(wrong.errors.contains("may not sign root"), "\(wrong)")
            // No key of this machine is wanted any more.
            try world.run(["role", "import"] + copies + ["--yes"]).expecting(0)
            #expect(try world.version(of: "root") == "2")
            let again = try world.run(["role", "import"] + copies + ["--yes"]).expecting(0)
            #expect(again.errors.contains("published already: root version 2"), "\(again)")
            #expect(again.output.contains("nothing was changed"), "\(again)")
        }

        @Test("a namespace is added, its team publishes with its own key and token, and no other key may")
        func namespace() throws {
            let world = try World()
            try world.created()
            try world.serve()
            let key = try world.newKey("audio")
            let token = world.scratch.path("audio-token")
            try world.run(
                ["namespace", "add", "audio", "--key", key + ".pub", "--owner", "Audio", "--yes"]
            ).expecting(0)
            try world.run(["token", "create", world.registry, token, "--namespace", "audio"]).expecting(0)
            let file = try world.scratch.write("a.onnx", TestModel.bytes(label: "a"))
            let publish = [
                "publish", file, "--model", "audio/tagger", "--version", "1.0.0", "--token-file", token,
            ]
            let foreign = try world.run(publish + ["--key", world.key("vision")]).expecting(1)
            #expect(foreign.errors.contains("may not sign"), "\(foreign)")
            try world.run(publish + ["--key", key]).expecting(0)
            let twice = try world.run(["namespace", "add", "audio", "--key", key + ".pub", "--yes"])
                .expecting(1)
            #expect(twice.errors.contains("exists already"))
        }

        @Test("a model may have a release key and a live key of its own; each signs its part only")
        func model() throws {
            let world = try World()
            try world.created()
            try world.serve()
            let release = try world.newKey("ci")
            let live = try world.newKey("lead")
            try world.run(
                [
                    "model", "add", "vision/detector", "--key", release + ".pub", "--live-key", live + ".pub",
                    "--yes",
                ]
            ).expecting(0)
            let file = try world.scratch.write("m.onnx", TestModel.bytes(label: "1"))
            let publish = ["publish", file, "--model", "vision/detector", "--version", "1.0.0"]
            let alone = try world.run(publish + ["--channel", "stable", "--key", release]).expecting(1)
            #expect(alone.errors.contains("vision~detector~live has 0 of 1"), "\(alone)")
            try world.run(publish + ["--key", release]).expecting(0)
            let add = ["channel", "add", "vision/detector", "stable", "1.0.0"]
            try world.run(add + ["--key", release]).expecting(1)
            try world.run(add + ["--key", live]).expecting(0)
            try world.sync().expecting(0)
            #expect(try world.activeVersion() == "1.0.0")
        }

        @Test("a revoked publisher's key signs nothing any more, its successor does, and old versions stay")
        func revocation() throws {
            let world = try World()
            try world.created()
            try world.serve()
            try world.release("1.0.0").expecting(0)
            let new = try world.newKey("new")
            let old = world.key("vision")
            let revoke = ["key", "revoke", old + ".pub", "--replacement", new + ".pub", "--yes"]
            let alone = try world.run(revoke + ["--key", world.key("targets")]).expecting(1)
            #expect(
                alone.errors.contains("vision~detector~live has 0 of 1"),
                "it names what to sign: \(alone)"
            )
            let orphaned = try world.run(
                ["key", "revoke", old + ".pub", "--yes", "--key", world.key("targets")]
            ).expecting(1)
            #expect(orphaned.errors.contains("0 keys and need 1"), "\(orphaned)")
            let done = try world.run(revoke + ["--key", world.key("targets"), "--key", new]).expecting(0)
            #expect(
                done.output.contains("may no longer sign vision, vision~detector~live, vision~detector"),
                "\(done)"
            )
            let refused = try world.release("1.1.0", ["--key", old]).expecting(1)
            #expect(refused.errors.contains("may not sign"), "\(refused)")
            try world.sync().expecting(0)
            #expect(try world.activeVersion() == "1.0.0", "what was released stays, under the new signatures")
            try world.release("1.1.0", ["--key", new]).expecting(0)
            try world.sync().expecting(0)
            #expect(try world.activeVersion() == "1.1.0")
        }

        @Test("regulated asks for two of three administrators and 180 days, and publishing keeps to both")
        func regulated() throws {
            let world = try World()
            try world.created(profile: "regulated")
            try world.serve()
            try world.release("1.0.0").expecting(0)
            try world.sync().expecting(0)
            let deny = ["deny", "vision/detector", "1.0.0", "--reason", "x", "--yes"]
            let alone = try world.run(deny + ["--key", world.key("targets-1")]).expecting(1)
            #expect(alone.errors.contains("targets has 1 of 2"), "\(alone)")
            try world.run(deny + ["--key", world.key("targets-1"), "--key", world.key("targets-3")])
                .expecting(0)
            let status = try world.run(["metadata", "status"]).expecting(0)
            for role in ["root", "targets", "vision", "vision~detector"] {
                let line = try #require(
                    status.output.split(separator: "\n").first { $0.hasPrefix("\(role)  ") }
                )
                #expect(line.hasSuffix("179 d left") || line.hasSuffix("180 d left"), "\(line)")
            }
            #expect(status.output.contains("2 of 3"))
        }
    }
}
