import Durable
import Names
import Support
import Testing

extension EndToEnd {
    @Suite("Grants", .serialized)
    struct GrantTests {
        @Test("a namespace that is something else already is refused, and the message lists which are")
        func reserved() throws {
            let world = try World()
            for name in ["state", "poll-state", "sealift", "targets"] {
                let outcome = try world.run(
                    ["init", world.registry, "--namespace", name, "--keys", world.keys]
                ).expecting(2)
                #expect(outcome.errors.contains("reserved sealift, root, targets"), "\(outcome)")
            }
            try world.created()
            try world.serve()
            let add = ["namespace", "add", "state", "--key", world.key("vision") + ".pub", "--yes"]
            let outcome = try world.run(add).expecting(2)
            #expect(outcome.errors.contains("poll-state"), "\(outcome)")
        }

        @Test(
            "a namespace gets other keys, a threshold and an owner, and what hung from the old keys goes on"
        )
        func namespaceKeys() throws {
            let world = try World()
            try world.created()
            try world.serve()
            try world.release("1.0.0").expecting(0)
            let (first, second) = (try world.newKey("first"), try world.newKey("second"))
            let change = [
                "namespace", "keys", "vision", "--add", first + ".pub", "--add", second + ".pub", "--remove",
                world.key("vision") + ".pub", "--threshold", "2", "--owner", "The new team", "--yes",
            ]
            let short = try world.run(
                change + ["--key", world.key("targets"), "--key", first]
            ).expecting(1)
            #expect(short.errors.contains("vision has 1 of 2 signatures"), "\(short)")
            #expect(try world.version(of: "vision") == "1")
            let done = try world.run(
                change + ["--key", world.key("targets"), "--key", first, "--key", second]
            ).expecting(0)
            #expect(done.output.contains("vision needs 2 signatures instead of 1"), "\(done)")
            #expect(done.output.contains("vision is of The new team"), "\(done)")
            let status = try world.run(
                ["metadata", "status", "--token-file", world.keys + "/administrator-token"]
            ).expecting(0)
            #expect(status.output.contains("of The new team"), "\(status)")
            // The model's own roles still have the old key: the team has yet to change them.
            let add = ["model", "add", "vision/other", "--key", first + ".pub", "--yes", "--sign-with"]
            try world.run(add + [world.key("vision")]).expecting(1)
            try world.run(add + [first, "--sign-with", second]).expecting(0)
            let again = try world.run(change + ["--key", world.key("targets")]).expecting(2)
            #expect(again.errors.contains("does not have key"), "\(again)")
            try world.sync().expecting(0)
            #expect(try world.activeVersion() == "1.0.0")
        }

        @Test("a model's releases and its putting into use get keys and thresholds of their own later")
        func modelKeys() throws {
            let world = try World()
            try world.created()
            try world.serve()
            try world.release("1.0.0").expecting(0)
            let (ci, lead) = (try world.newKey("ci"), try world.newKey("lead"))
            let vision = world.key("vision")
            let release = [
                "model", "keys", "vision/detector", "--role", "release", "--add", ci + ".pub", "--remove",
                vision + ".pub", "--yes", "--key", vision,
            ]
            let alone = try world.run(release).expecting(1)
            #expect(alone.errors.contains("vision~detector has 0 of 1"), "\(alone)")
            try world.run(release + ["--key", ci]).expecting(0)
            let live = [
                "model", "keys", "vision/detector", "--role", "live", "--add", lead + ".pub", "--threshold",
                "2",
                "--yes", "--key", vision, "--key", lead,
            ]
            try world.run(live).expecting(0)
            let missing = try world.release("1.1.0", ["--key", ci, "--key", vision]).expecting(1)
            #expect(missing.errors.contains("vision~detector~live has 1 of 2"), "\(missing)")
            try world.release("1.1.0", ["--key", ci, "--key", vision, "--key", lead]).expecting(0)
            try world.sync().expecting(0)
            #expect(try world.activeVersion() == "1.1.0")
            let impossible = try world.run(
                ["model", "keys", "vision/detector", "--threshold", "3", "--yes", "--key", vision]
            ).expecting(1)
            #expect(impossible.errors.contains("need 3 signatures"), "\(impossible)")
            let nothing = try world.run(["model", "keys", "vision/detector", "--yes"]).expecting(2)
            #expect(nothing.errors.contains("say what changes"), "\(nothing)")
        }

        @Test("authors who write at the same moment all come through, one after the other")
        func contention() throws {
            let world = try World()
            try world.created()
            try world.serve()
            let key = world.key("vision") + ".pub"
            let names = ["a", "b", "c"]
            var children = try names.map { name in
                try world.start(["namespace", "add", name, "--key", key, "--yes"])
            }
            children.append(try world.start(["metadata", "refresh", "--expiring", "900d"]))
            let files = try ["x", "y"].map { label in
                try world.scratch.write("\(label).onnx", TestModel.bytes(label: label))
            }
            for (file, model) in zip(files, ["vision/one", "vision/two"]) {
                children.append(try world.start(["publish", file, "--model", model, "--version", "1.0.0"]))
            }
            for child in children {
                let outcome = try child.finished(within: 120)
                #expect(outcome.code == 0, "\(outcome)")
            }
            let status = try world.run(["metadata", "status"]).expecting(0)
            for role in ["vision~one", "vision~two"] {
                // The renewal may have come after the release, or before it.
                #expect(status.output.contains("\n\(role)  version "), "\(status)")
            }
            #expect(
                try world.version(of: "targets") == "5",
                "three namespaces and one renewal, none of them lost"
            )
            // What is taken already is taken: the second of two who want the same gets a refusal.
            let same = try [world.key("vision"), world.key("targets")].map { key in
                try world.start(["namespace", "add", "d", "--key", key + ".pub", "--yes"])
            }
            let codes = try same.map { try $0.finished(within: 120) }
            #expect(codes.map(\.code).sorted() == [0, 1], "\(codes)")
            #expect(codes.contains { $0.errors.contains("exists already") }, "\(codes)")
        }

        @Test(
            "whoever writes is told what must soon be signed again",
            .enabled(if: Peers.fakeTimeLibrary != nil, Peers.noFakeTime)
        )
        func ending() throws {
            let world = try World()
            let library = try #require(Peers.fakeTimeLibrary)
            try world.run(
                [
                    "init", world.registry, "--profile", "regulated", "--namespace", "vision", "--keys",
                    world.keys,
                ],
                environment: [
                    "LD_PRELOAD": library, "FAKETIME": "-150d", "FAKETIME_DONT_FAKE_MONOTONIC": "1",
                ]
            ).expecting(0)
            try world.serve()
            let token = world.scratch.path("token")
            try world.run(["token", "create", world.registry, token, "--administrator"]).expecting(0)
            let published = try world.release("1.0.0", ["--token-file", token]).expecting(0)
            for role in ["root", "targets"] {
                #expect(published.errors.contains("warning: \(role) ends in "), "\(published)")
            }
            #expect(!published.errors.contains("warning: vision~detector"), "that was signed just now")
            let status = try world.run(["metadata", "status"]).expecting(0)
            #expect(status.errors.contains("warning: targets ends in "), "\(status)")
            let some = try world.run(
                [
                    "metadata", "refresh", "--token-file", token, "--key", world.key("vision"),
                ]
            ).expecting(1)
            #expect(some.errors.contains("root ends in "), "\(some)")
            let all = try world.run(["metadata", "refresh", "--token-file", token]).expecting(0)
            #expect(!all.errors.contains("warning: "), "\(all)")
            let next = try world.release("1.1.0", ["--token-file", token]).expecting(0)
            #expect(!next.errors.contains("warning: "), "\(next)")
        }
    }
}
