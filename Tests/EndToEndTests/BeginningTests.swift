import Durable
import Names
import Support
import Testing

extension EndToEnd {
    /// How registries and devices begin.
    @Suite("Beginnings", .serialized)
    struct BeginningTests {
        @Test(
            "an init that is stopped leaves nothing in the way of the next one",
            arguments: [
                "write.renamed:init.unfinished", "write.renamed:online.pem", "write.renamed:targets.pem.pub",
                "write.renamed:registry.db", "write.renamed:server.pem", "write.renamed:administrator-token",
                "write.renamed:client.json",
            ]
        )
        func stopped(point: String) throws {
            let world = try World()
            let arguments = ["init", world.registry, "--namespace", "vision", "--keys", world.keys]
            let stopped = try world.run(arguments, environment: ["SEALIFT_CRASH_AT": point])
            #expect(stopped.code != 0, "it did not stop at \(point)")
            let early = try world.run(["serve", world.registry, "--listen", "127.0.0.1:0"]).expecting(2)
            #expect(early.errors.contains("run it again"), "\(early)")
            let again = try world.created()
            #expect(again.errors.contains("an earlier ‘init’ was stopped"), "\(again)")
            try world.serve()
            try world.release("1.0.0").expecting(0)
            try world.sync().expecting(0)
            #expect(try world.activeVersion() == "1.0.0")
            let over = try world.run(arguments).expecting(2)
            #expect(over.errors.contains("never overwrites"), "\(over)")
        }

        @Test("what a stopped init left is cleared, and never what another registry made since")
        func another() throws {
            let world = try World()
            let stopped = ["init", world.registry, "--namespace", "vision", "--keys", world.keys]
            let other = ["init", world.scratch.path("other"), "--namespace", "audio", "--keys", world.keys]
            let crash = ["SEALIFT_CRASH_AT": "write.renamed:online.pem"]
            #expect(try world.run(stopped, environment: crash).code != 0)
            let refused = try world.run(other).expecting(2)
            #expect(refused.errors.contains("the ‘init’ of \(world.registry)"), "\(refused)")

            // Somebody clears the client's folder by hand, and another registry moves in.
            let client = Durable.parent(of: world.keys)
            try Durable.removeFile("\(client)/init.unfinished")
            try world.run(other).expecting(0)
            let key = try Durable.readFile(world.key("audio"), maximum: .kibibytes(64))
            let again = try world.run(stopped).expecting(2)
            #expect(again.errors.contains("is there already"), "\(again)")
            #expect(try Durable.readFile(world.key("audio"), maximum: .kibibytes(64)) == key)
            #expect(try Durable.kind(of: "\(client)/client.json") != nil)

            // A registry that was given up altogether holds nobody up.
            let third = [
                "init", world.scratch.path("third"), "--keys", world.scratch.path("third-keys/keys"),
            ]
            #expect(try world.run(third, environment: crash).code != 0)
            try Durable.removeTree(world.scratch.path("third"))
            try world.run([
                "init", world.scratch.path("fourth"), "--keys", world.scratch.path("third-keys/keys"),
            ]).expecting(0)
        }

        @Test("a device's directory follows one chain of roots and refuses another, naming both")
        func otherRoot() throws {
            let world = try World()
            try world.created()
            try world.serve()
            try world.release("1.0.0").expecting(0)
            try world.sync().expecting(0)
            let other = try World()
            try other.created()
            try other.serve()
            try other.release("3.0.0").expecting(0)
            let foreign = ["--directory", world.device, "--model", "vision/detector@stable"]
            let refused = try other.run(["sync"] + foreign).expecting(1)
            #expect(refused.errors.contains(world.url) && refused.errors.contains(other.root), "\(refused)")
            try other.run(["sync", "--dry-run"] + foreign).expecting(1)
            #expect(try world.activeVersion() == "1.0.0")
            try world.sync().expecting(0)

            // The next root of the same chain is as good a pin as the first, before and after it was followed.
            let first = try Durable.readFile(world.root, maximum: .kibibytes(512))
            let new = try world.newKey("root-new")
            try world.run([
                "root", "rotate", "--add", new + ".pub", "--yes", "--key", world.key("root"), "--key", new,
            ]).expecting(0)
            #expect(try world.version(of: "root") == "2")
            let trust = "\(world.scratch.path)/config/trust"
            let folder = try #require(try Durable.names(in: trust).first)
            let second = try Durable.readFile("\(trust)/\(folder)/root.json", maximum: .kibibytes(512))
            #expect(second != first)
            let file = try world.scratch.write("second-root.json", second)
            try world.sync(["--root", file]).expecting(0)
            try world.sync().expecting(0)
            try world.sync(["--root", file]).expecting(0)
        }
    }
}
