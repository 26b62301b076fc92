import CanonicalJSON
import Names
import Support
import Testing
import Transfer
import Trust

@Suite("Attack: extraneous dependencies")
struct ExtraneousDependenciesTests {
    @Test("a file that nobody lists is no target, whatever the server has")
    func unlisted() async throws {
        let world = try World()
        try await world.synchronise()
        let before = world.store.contents
        var updater = world.updater()
        try await updater.refresh()
        _ = world.registry.takeRequests()
        for path in ["vision/detector/9.9.9.json", "vision/detector/live.json/x", "sealift/other.json", ""] {
            #expect(try await updater.target(TargetPath(path)) == nil, "\(path)")
        }
        #expect(world.registry.takeRequests() == [])
        #expect(world.store.contents == before)
    }

    @Test("a role that the snapshot lists and nobody delegates to is never asked for")
    func undelegated() async throws {
        let world = try World()
        try await world.synchronise()
        try world.registry.change { repository in
            repository.roles["audio"] = TargetsDocument(
                version: 1,
                expires: World.start.adding(seconds: 86_400),
                targets: ["vision/detector/live.json": TargetFile(of: [1])]
            )
            try repository.publish(["audio"])
        }
        var updater = try await world.synchronise()
        #expect(try await updater.role(.namespace(try #require(Namespace("audio")))) == nil)
        #expect(try await updater.target("vision/detector/live.json") == TargetFile(of: Array("live".utf8)))
        #expect(try await updater.target("audio/x/live.json") == nil)
        #expect(world.registry.takeRequests() == [])
        #expect(world.store.contents["audio.json"] == nil)
    }

    @Test("a snapshot with a role that no Sealift repository has is refused whole")
    func foreignName() async throws {
        let world = try World()
        try await world.synchronise()
        try world.registry.change { repository in
            repository.snapshot.roles["a team"] = MetaFile(version: 1)
            try repository.publishSnapshot()
        }
        let shape = TrustError.shape(role: .snapshot, reason: "lists a team, which is no role of Sealift")
        try await world.expectRefusal(shape, advancing: [.timestamp])
    }

    @Test(
        "a stolen team key cannot pull in a file from elsewhere: its whole role is refused",
        arguments: [
            (RoleName.release, "audio/x/1.0.0.json"), (.release, "vision/other/1.0.0.json"),
            (.release, "sealift/settings.json"), (.live, "vision/detector/1.0.0.json"),
            (.live, "audio/x/live.json"), (.vision, "vision/detector/live.json"),
            (.hold, "vision/detector/live.json"), (.targets, "vision/detector/live.json"),
        ]
    )
    func foreignFile(role: RoleName, path: String) async throws {
        let world = try World()
        try await world.synchronise()
        try world.registry.change { repository in
            repository.roles[role]?.targets[TargetPath(path)] = TargetFile(of: [1])
            try repository.publish([role])
        }
        try await world.expectRefusal(
            .shape(role: role, reason: "it may not list \(path)"),
            advancing: [.timestamp, .snapshot],
            World.loading(role)
        )
    }

    @Test("members that ask for more are kept and mean nothing")
    func requests() async throws {
        let world = try World()
        try await world.synchronise()
        try world.registry.change { repository in
            let wish = JSONValue.members(["requires": .array([.text("audio/x/1.0.0.json")])])
            repository.roles[.release]?.targets["vision/detector/1.0.0.json"]?.custom = wish
            repository.rewriting[.release] = { $0["dependencies"] = wish }
            try repository.publish([.release])
        }
        var updater = world.updater()
        try await updater.refresh()
        let file = try await updater.target("vision/detector/1.0.0.json")
        #expect(file?.describes(Array("manifest".utf8)) == true)
        #expect(file?.custom?["requires"] != nil)
        #expect(
            world.registry.takeRequests()
                == ["2.root.json", "timestamp.json", "3.snapshot.json", "2.vision~detector.json"]
        )
    }
}
