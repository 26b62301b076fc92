import CanonicalJSON
import Durable
import Glibc
import Names
import Support
import Testing

extension EndToEnd {
    /// Several people sign one change; nobody signs what he cannot read.
    @Suite("Signing by several people", .serialized)
    struct CoSigningTests {
        private let world: World
        private let keys: [String]
        private let file: String

        /// A registry whose model needs two of two keys, for releases and for putting into use.
        init() throws {
            world = try World()
            try world.created()
            try world.serve()
            keys = [try world.newKey("r1"), try world.newKey("r2")]
            file = try world.scratch.write("m.onnx", TestModel.bytes(label: "1"))
            let add = [
                "model", "add", "vision/detector", "--key", keys[0] + ".pub", "--key", keys[1] + ".pub",
            ]
            try world.run(add + ["--threshold", "2", "--yes"]).expecting(0)
        }

        /// Writes what the first key signs of a release, and has the second sign it too.
        private func released(_ version: String) throws {
            let out = world.scratch.path("release-\(version).proposal")
            let publish = [
                "publish", file, "--model", "vision/detector", "--channel", "stable", "--version", version,
            ]
            let alone = try world.run(publish + ["--key", keys[0]]).expecting(1)
            #expect(
                alone.errors.contains("has 1 of 2 signatures") && alone.errors.contains("--out"),
                "\(alone)"
            )
            let written = try world.run(publish + ["--key", keys[0], "--out", out]).expecting(0)
            #expect(written.output.contains("role sign \(out) --compare"), "\(written)")
            try world.run(["role", "sign", out, "--compare", "--key", keys[1], "--yes"]).expecting(0)
            try world.run(["role", "import", out, "--yes"]).expecting(0)
        }

        /// A change of the channels, signed by the first key.
        private func proposed(_ name: String) throws -> String {
            let out = world.scratch.path(name)
            try world.run([
                "recall", "vision/detector", "1.0.0", "--reason", "wrong labels", "--yes", "--key", keys[0],
                "--out", out,
            ]).expecting(0)
            return out
        }

        /// Replaces what stands at one member of the file.
        private func forge(_ file: String, _ edit: (inout JSONObject) -> Void) throws {
            let bytes = try Durable.readFile(file, maximum: .mebibytes(1))
            var object = try #require(try JSONParser.parse(bytes, maximumLength: 1 << 20).object)
            edit(&object)
            try Durable.writeAtomically(file, JSONValue.object(object).compactJSON)
        }

        @Test("two people release a version, put it into use, and recall it; each reads what he signs")
        func release() throws {
            try released("1.0.0")
            try world.sync().expecting(0)
            #expect(try world.activeVersion() == "1.0.0")
            let unseen = world.scratch.path("again.proposal")
            try world.run(["role", "export", "vision~detector", unseen]).expecting(0)
            let blind = try world.run(["role", "sign", unseen, "--key", keys[1], "--yes"]).expecting(1)
            #expect(blind.errors.contains("1 document by digest alone"), "\(blind)")
            #expect(blind.errors.contains("--compare") && blind.errors.contains("--unseen"), "\(blind)")
            try world.run(["role", "sign", unseen, "--unseen", "--key", keys[1], "--yes"]).expecting(0)

            let recall = try proposed("recall.proposal")
            let shown = try world.run(
                ["role", "sign", recall, "--key", keys[1], "--yes"],
                environment: ["SEALIFT_REGISTRY": "https://127.0.0.1:1/"]
            ).expecting(0)
            #expect(shown.errors.contains("vision/detector 1.0.0 is recalled since"), "\(shown)")
            #expect(shown.errors.contains("stable of vision/detector offers 1.0.0"), "\(shown)")
            let preview = try world.run(["role", "import", recall, "--dry-run"]).expecting(0)
            #expect(
                preview.output.contains("from now on: vision/detector 1.0.0 is recalled since"),
                "\(preview)"
            )
            #expect(!preview.output.contains("offers 1.0.0"), "only what changes: \(preview)")
            try world.run(["role", "import", recall, "--yes"]).expecting(0)
            _ = try world.sync()
            let history = try world.run(["history", "vision/detector"]).expecting(0)
            #expect(history.output.contains("recalled: wrong labels"), "\(history)")
        }

        @Test("words of whoever made a file are marked as such, by whoever signs and whoever publishes")
        func forgedWords() throws {
            try released("1.0.0")
            let recall = try proposed("recall.proposal")
            try forge(recall) { $0["notes"] = .array([.text("a new life and nothing else")]) }
            let signed = try world.run(["role", "sign", recall, "--key", keys[1], "--yes"]).expecting(0)
            let preview = try world.run(["role", "import", recall, "--dry-run"]).expecting(0)
            let published = try world.run(["role", "import", recall, "--yes"]).expecting(0)
            for text in [signed.errors, preview.output, published.output] {
                let lines = text.split(separator: "\n").filter { $0.contains("a new life") }
                #expect(lines.count == 1, "\(text)")
                #expect(
                    lines.allSatisfy { $0.hasPrefix("unsigned words of whoever made the file: ") },
                    "\(text)"
                )
                #expect(text.contains("is recalled since"), "\(text)")
            }
        }

        @Test("a file that shows another document than would be signed is refused by both")
        func swappedDocument() throws {
            try released("1.0.0")
            let recall = try proposed("recall.proposal")
            let harmless = #"{"channels":{},"model":"vision/detector","states":{},"type":"sealift/live@1"}"#
            try forge(recall) { object in
                let target = JSONValue.members([
                    "path": .text("vision/detector/live.json"),
                    "content": .text(Base64.text(Array(harmless.utf8))),
                ])
                object["targets"] = .array([target])
            }
            let calls = [
                ["role", "sign", recall, "--key", keys[1], "--yes"],
                ["role", "sign", recall, "--key", keys[1], "--yes", "--compare"],
                ["role", "import", recall, "--dry-run"], ["role", "import", recall, "--yes"],
            ]
            for call in calls {
                let refused = try world.run(call).expecting(1)
                #expect(
                    refused.errors.contains("another vision/detector/live.json than would be signed"),
                    "\(refused)"
                )
            }
            try forge(recall) { $0["targets"] = .array([]) }
            for call in calls {
                let refused = try world.run(call).expecting(1)
                #expect(refused.errors.contains("not in the file"), "\(refused)")
            }
        }

        @Test("a file with collected signatures is never overwritten, and what is no such file is named")
        func files() throws {
            try released("1.0.0")
            let recall = try proposed("recall.proposal")
            let before = try Durable.readFile(recall, maximum: .mebibytes(1))
            let calls = [
                ["recall", "vision/detector", "1.0.0", "--reason", "x", "--yes", "--out", recall],
                ["role", "export", "root", recall], ["role", "import", recall, "--yes", "--out", recall],
                ["publish", file, "--model", "vision/detector", "--version", "2.0.0", "--out", recall],
            ]
            for call in calls {
                let refused = try world.run(call).expecting(2)
                #expect(refused.errors.contains("\(recall) is there already"), "\(refused)")
            }
            #expect(try Durable.readFile(recall, maximum: .mebibytes(1)) == before)
            let empty = try world.scratch.write("empty.proposal", [])
            let other = try world.scratch.write("other.proposal", Array("{}".utf8))
            for verb in ["sign", "import"] {
                let nothing = try world.run(["role", verb, empty, "--yes"]).expecting(1)
                #expect(nothing.errors.contains("empty.proposal: not a proposal: it is empty"), "\(nothing)")
                let wrong = try world.run(["role", verb, other, "--yes"]).expecting(1)
                #expect(wrong.errors.contains("other.proposal: not a proposal: its type"), "\(wrong)")
            }
        }

        @Test("a dry run counts what the keys here would sign")
        func dryRun() throws {
            let add = ["model", "add", "vision/other", "--key", keys[0] + ".pub", "--dry-run"]
            let enough = try world.run(add + ["--sign-with", world.key("vision")]).expecting(0)
            #expect(enough.output.contains("to be signed here by 1"), "\(enough)")
            #expect(!enough.output.contains("of 1 signature"), "nothing is missing: \(enough)")
            let publish = [
                "publish", file, "--model", "vision/detector", "--version", "1.0.0", "--channel", "stable",
            ]
            let plan = publish + ["--key", keys[0], "--dry-run", "--json"]
            let planned = try world.run(plan).expecting(0)
            #expect(planned.output.contains(#""state":"dry-run""#), "\(planned)")
            try released("1.0.0")
            let done = try world.run(plan).expecting(0)
            #expect(done.output.contains(#""state":"unchanged""#), "\(done)")
            let recall = ["recall", "vision/detector", "1.0.0", "--reason", "x", "--dry-run"]
            let half = try world.run(recall + ["--key", keys[0]]).expecting(0)
            #expect(half.output.contains("vision~detector~live has 1 of 2 signatures"), "\(half)")
            let wrong = try world.run(recall + ["--key", world.key("root")]).expecting(1)
            #expect(wrong.errors.contains("may not sign vision~detector~live"), "\(wrong)")
            let short = try world.run(["model", "add", "vision/x", "--sign-with", keys[0], "--yes"])
                .expecting(1)
            #expect(short.errors.contains("with --sign-with"), "the verb's own option: \(short)")
        }

        @Test("what was published already is no error, and what another change overtook says which one")
        func again() throws {
            try released("1.0.0")
            let recall = try proposed("recall.proposal")
            let yank = world.scratch.path("yank.proposal")
            try world.run([
                "yank", "vision/detector", "1.0.0", "--reason", "slow", "--yes", "--key", keys[0], "--out",
                yank,
            ]).expecting(0)
            for file in [recall, yank] {
                try world.run(["role", "sign", file, "--key", keys[1], "--yes"]).expecting(0)
            }
            try world.run(["role", "import", yank, "--yes"]).expecting(0)
            let version = try #require(try world.version(of: "vision~detector~live"))
            let told = "published already: vision~detector~live version \(version)"
            let again = try world.run(["role", "import", yank, "--yes"]).expecting(0)
            #expect(again.errors.contains(told) && again.output.contains("nothing was changed"), "\(again)")
            let late = try world.run(["role", "import", recall, "--yes"]).expecting(1)
            let overtaken = "another version \(version) of vision~detector~live was published meanwhile"
            #expect(late.errors.contains(overtaken), "\(late)")
            // What counts since is another one, and the older one was published all the same.
            let unyank = world.scratch.path("unyank.proposal")
            try world.run([
                "unyank", "vision/detector", "1.0.0", "--yes", "--key", keys[0], "--key", keys[1], "--out",
                unyank,
            ]).expecting(0)
            try world.run(["role", "import", unyank, "--yes"]).expecting(0)
            #expect(try world.version(of: "vision~detector~live") != version)
            let older = try world.run(["role", "import", yank, "--yes"]).expecting(0)
            #expect(older.errors.contains(told), "\(older)")
            // Who signs without a terminal is not sent to an option that there is not.
            let signing = ["role", "sign", yank, "--key", keys[1]]
            let unasked = try world.run(signing).expecting(2)
            #expect(!unasked.errors.contains("--dry-run") && unasked.errors.contains("--yes"), "\(unasked)")
            let compared = try world.run(signing + ["--compare", "--yes"]).expecting(1)
            #expect(compared.errors.contains("nobody needs to sign it any more"), "\(compared)")
        }
    }
}
