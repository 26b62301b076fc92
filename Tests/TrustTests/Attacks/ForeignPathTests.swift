import Names
import Signing
import Support
import Testing
import Transfer
import Trust

@Suite("Attack: speaking for somebody else's models")
struct ForeignPathTests {
    @Test("a namespace can never speak for another's model")
    func namespace() async throws {
        let world = try World()
        try await world.synchronise()
        // The team `audio` signs a role for vision/detector with a key of its own.
        try world.registry.change { repository in
            try repository.delegate("audio", by: .targets, paths: ["audio/*/*"])
            try repository.delegate("audio~x~live", by: "audio", paths: ["vision/detector/live.json"])
            try repository.delegate("audio~x", by: "audio", paths: ["vision/detector/*"])
            try repository.publish()
        }
        var updater = world.updater()
        try await updater.refresh()
        let audio = try #require(Namespace("audio"))
        let shape = TrustError.shape(
            role: "audio",
            reason: "delegates to audio~x~live by other paths than audio/x/live.json"
        )
        await #expect(throws: UpdateError.refused(shape)) { try await updater.role(.namespace(audio)) }
        // And the search for the genuine file never visits it.
        _ = world.registry.takeRequests()
        #expect(try await updater.target("vision/detector/live.json") == TargetFile(of: Array("live".utf8)))
        #expect(!world.registry.takeRequests().contains { $0.contains("audio") })
        #expect(world.store.contents["audio.json"] == nil)
    }

    @Test("a release role that lists another model, live.json or a loose version is refused")
    func release() async throws {
        for path in ["vision/segmenter/1.0.0.json", "vision/detector/live.json", "vision/detector/1.0.json"] {
            let world = try World()
            try world.registry.change { repository in
                repository.roles[.release]?.targets[TargetPath(path)] = TargetFile(of: [])
                try repository.publish([.release])
            }
            var updater = world.updater()
            try await updater.refresh()
            let shape = TrustError.shape(role: .release, reason: "it may not list \(path)")
            await #expect(throws: UpdateError.refused(shape)) {
                try await updater.target("vision/detector/1.0.0.json")
            }
        }
    }

    @Test("in plain TUF, a path must match at every delegation on the way")
    func plain() async throws {
        let world = try World(plain: ())
        try world.registry.change { repository in
            try repository.delegate("a", by: .targets, paths: ["a/*"])
            try repository.delegate("b", by: .targets, paths: ["b/*"], terminating: false)
            try repository.delegate("deep", by: "a", paths: ["b/*"])
            for role in ["a", "deep"] as [RoleName] {
                repository.roles[role]?.targets["b/detector"] = TargetFile(of: [])
            }
            try repository.publish()
        }
        var updater = try await world.synchronise()
        #expect(try await updater.target("b/detector") == nil)
        #expect(world.registry.takeRequests() == ["1.b.json"])
    }

    @Test("a diamond is refused: no role of Sealift can be reached by two edges")
    func diamond() async throws {
        let world = try World()
        try world.registry.change { repository in
            try repository.delegate(.release, by: .targets, paths: ["vision/detector/*"])
            try repository.publish()
        }
        var updater = world.updater()
        let shape = TrustError.shape(role: .targets, reason: "it may not delegate to vision~detector")
        await #expect(throws: UpdateError.refused(shape)) { try await updater.refresh() }
    }

    @Test("in plain TUF, trust belongs to the edge: a role's file must satisfy the parent that names it")
    func edge() async throws {
        let world = try World(plain: ())
        try world.registry.change { repository in
            try repository.delegate("a", by: .targets, paths: ["a"])
            try repository.delegate("b", by: .targets, paths: ["b"])
            try repository.delegate("shared", by: "a", paths: ["a"])
            let genuine = repository.signers["shared"]
            repository.signers["shared"] = nil
            try repository.delegate("shared", by: "b", paths: ["b"])
            repository.signers["shared"] = genuine
            repository.roles["shared"]?.targets = ["a": TargetFile(of: []), "b": TargetFile(of: [])]
            try repository.publish()
        }
        var updater = try await world.synchronise()
        #expect(try await updater.target("a") == TargetFile(of: []))
        let expected = TrustError.thresholdNotMet(role: "shared", valid: 0, needed: 1)
        await #expect(throws: UpdateError.refused(expected)) { try await updater.target("b") }
        #expect(try await updater.target("a") == TargetFile(of: []))
    }
}
