import Durable
import Glibc
import Support
import Testing

extension EndToEnd {
    /// What administrators sign for all devices, and the registry's own key.
    @Suite("Settings and the registry's own key", .serialized)
    struct SettingsTests {
        @Test("settings are signed by the administrators and come to devices; wrong ones change nothing")
        func settings() throws {
            let world = try World()
            try world.created()
            try world.serve()
            let silent = try world.run(["settings", "set", "--yes"]).expecting(2)
            #expect(silent.errors.contains("--grace"), "\(silent)")
            let future = try world.run(["settings", "set", "--oldest-root", "2", "--yes"]).expecting(2)
            #expect(future.errors.contains("the newest is 1"), "\(future)")
            try world.run(["settings", "set", "--halt", "0%,1", "--yes"]).expecting(2)
            let stranger = try world.run(
                ["settings", "set", "--grace", "14d", "--yes", "--key", world.key("vision")]
            ).expecting(1)
            #expect(stranger.errors.contains("may not sign targets"), "\(stranger)")
            #expect(try world.version(of: "targets") == "1")
            let set = try world.run(
                ["settings", "set", "--grace", "14d", "--after-grace", "refuse", "--yes"]
            ).expecting(0)
            #expect(set.output.contains("grace: 14d instead of 30d"), "\(set)")
            let shown = try world.run(["settings", "show", "--json"]).expecting(0)
            #expect(shown.output.contains("\"after_grace\":\"refuse\""), "\(shown)")
            try world.release("1.0.0").expecting(0)
            try world.sync().expecting(0)
            #expect(try world.activeVersion() == "1.0.0")
            let again = try world.run(["settings", "set", "--grace", "14d", "--yes"]).expecting(0)
            #expect(again.output.contains("nothing was changed"), "\(again)")
        }

        @Test("the oldest root is raised after a rotation, with a word on whom it leaves behind")
        func oldestRoot() throws {
            let world = try World()
            try world.created()
            try world.serve()
            let new = try world.newKey("root-new")
            let keys = ["--key", world.key("root"), "--key", new]
            try world.run(["root", "rotate", "--add", new + ".pub", "--yes"] + keys).expecting(0)
            let unasked = try world.run(["settings", "set", "--oldest-root", "2"]).expecting(2)
            #expect(unasked.errors.contains("--yes"), "\(unasked)")
            let raised = try world.run(["settings", "set", "--oldest-root", "2", "--yes"]).expecting(0)
            #expect(raised.output.contains("pinned to a root below 2"), "\(raised)")
            let shown = try world.run(["settings", "show"]).expecting(0)
            #expect(shown.output.contains("\n  oldest-root     2"), "\(shown)")
        }

        @Test("the registry gets another online key while it runs; the old one opens nothing any more")
        func online() throws {
            let world = try World()
            try world.created()
            try world.serve()
            try world.release("1.0.0").expecting(0)
            try world.sync().expecting(0)
            let elsewhere = world.scratch.path("online-2.pem")
            try world.run(["keygen", elsewhere, "--algorithm", "ed25519"]).expecting(0)
            let rotate = ["root", "rotate", "--role", "online", "--add", elsewhere + ".pub", "--yes"]
            let early = try world.run(rotate).expecting(1)
            #expect(early.errors.contains("online-NAME.pem"), "the server has not got it: \(early)")
            let new = "\(world.registry)/keys/online-2.pem"
            #expect(rename(elsewhere, new) == 0)
            try world.run(rotate).expecting(0)
            #expect(try world.version(of: "root") == "2")
            try world.release("1.1.0").expecting(0)
            try world.sync().expecting(0)
            #expect(try world.activeVersion() == "1.1.0")
            try world.stopServing().expecting(0)
            #expect(unlink("\(world.registry)/keys/online.pem") == 0)
            try world.serve()
            try world.release("1.2.0").expecting(0)
            try world.sync().expecting(0)
            #expect(try world.activeVersion() == "1.2.0")
            let hold = ["hold", world.registry, "vision/detector", "1.2.0", "--reason", "x"]
            try world.run(hold).expecting(0)
            // The log's key changes by the same ceremony.
            let log = try world.run(["keygen", elsewhere, "--algorithm", "ed25519"])
            #expect(log.code == 0)
            let follow = ["root", "rotate", "--role", "log", "--add", elsewhere + ".pub", "--yes"]
            let unsized = try world.run(follow).expecting(2)
            #expect(unsized.errors.contains("--from SIZE"), "\(unsized)")
            try world.run(follow + ["--from", "20"]).expecting(0)
            try world.sync().expecting(0)
        }

        @Test("no secret of a TLS session is written where SSLKEYLOGFILE points")
        func keyLog() throws {
            let world = try World()
            try world.created()
            try world.serve(environment: ["SSLKEYLOGFILE": world.scratch.path("server.log")])
            try world.release("1.0.0").expecting(0)
            try world.sync(environment: ["SSLKEYLOGFILE": world.scratch.path("client.log")]).expecting(0)
            for name in ["server.log", "client.log"] {
                #expect(try Durable.kind(of: world.scratch.path(name)) == nil, "\(name)")
            }
        }

        @Test("a mistyped channel is told from one that is up to date")
        func channel() throws {
            let world = try World()
            try world.created()
            try world.serve()
            try world.release("1.0.0").expecting(0)
            try world.sync().expecting(0)
            let typo = try world.run(
                ["sync", "--directory", world.device, "--model", "vision/detector@stabel"]
            ).expecting(3)
            #expect(
                (typo.output + typo.errors).contains("there is no channel stabel of vision/detector"),
                "\(typo)"
            )
            #expect((typo.output + typo.errors).contains("its channels are stable"), "\(typo)")
            #expect(try world.activeVersion() == "1.0.0")
        }
    }
}
