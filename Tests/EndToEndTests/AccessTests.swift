import Durable
import Names
import Support
import Testing

extension EndToEnd {
    /// Who may write to a registry, and whose its roles are.
    @Suite("Access", .serialized)
    struct AccessTests {
        @Test("a token that is taken back is refused by the running server, and its neighbours go on")
        func revocation() throws {
            let world = try World()
            try world.created()
            try world.serve()
            let token = world.scratch.path("ci-token")
            try world.run([
                "token", "create", world.registry, token, "--namespace", "vision", "--label", "ci",
            ]).expecting(0)
            try world.release("1.0.0", ["--token-file", token]).expecting(0)
            let list = try world.run(["token", "list", world.registry]).expecting(0)
            #expect(list.output.contains("publish:vision") && list.output.contains("administer"), "\(list)")
            let secret = try Durable.readFile(token, maximum: .kibibytes(4))
            #expect(!list.output.contains(String(decoding: secret, as: UTF8.self).suffix(32)))
            let revoked = try world.run(["token", "revoke", world.registry, "ci"]).expecting(0)
            #expect(revoked.output.contains("ci: publish:vision"), "\(revoked)")
            let refused = try world.release("1.1.0", ["--token-file", token]).expecting(1)
            #expect(refused.errors.contains("token"), "\(refused)")
            try world.release("1.1.0").expecting(0)
            let again = try world.run(["token", "revoke", world.registry, "ci"]).expecting(2)
            #expect(again.errors.contains("token list"), "\(again)")
            let after = try world.run(["token", "list", world.registry, "--json"]).expecting(0)
            #expect(after.output.contains("\"valid\":false"), "\(after)")
        }

        @Test("the name of whoever owns a role stands beside it, and in no signed file")
        func owners() throws {
            let world = try World()
            try world.created(["--owner", "Vision team"])
            try world.serve()
            let key = try world.newKey("audio")
            try world.run(
                ["namespace", "add", "audio", "--key", key + ".pub", "--owner", "Team Ünïcode", "--yes"]
            ).expecting(0)
            try world.run(
                ["model", "add", "vision/detector", "--key", key + ".pub", "--owner", "CI", "--yes"]
            ).expecting(0)
            try world.release("1.0.0", ["--key", key]).expecting(0)
            let status = try world.run(["metadata", "status"]).expecting(0)
            for owner in ["of Vision team", "of CI"] { #expect(status.output.contains(owner), "\(status)") }
            let two = try world.run(
                ["namespace", "add", "x", "--key", key + ".pub", "--owner", "a\nb", "--yes"]
            ).expecting(2)
            #expect(two.errors.contains("--owner"), "\(two)")
            let json = try world.run(["metadata", "status", "--json"]).expecting(0)
            #expect(json.output.contains("\"owner\":\"Vision team\""), "\(json)")
            let copy = world.scratch.path("targets.proposal")
            try world.run(["role", "export", "targets", copy]).expecting(0)
            let file = try Durable.readFile(copy, maximum: .mebibytes(1))
            #expect(!String(decoding: file, as: UTF8.self).contains("Ünïcode"))
        }
    }
}
