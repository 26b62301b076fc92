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
