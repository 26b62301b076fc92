import Names
import Support
import Testing
import Transfer
import Trust

@Suite("Refresh")
struct RefreshTests {
    @Test("a first refresh asks for each file once, in the order of TUF 1.0.34, 5")
    func order() async throws {
        let world = try World()
        var updater = world.updater()
        try await updater.refresh()
        #expect(
            world.registry.takeRequests() == [
                "2.root.json", "timestamp.json", "2.snapshot.json", "2.targets.json",
            ]
        )
        let file = try await updater.target("vision/detector/1.0.0.json")
        #expect(file == TargetFile(of: Array("manifest".utf8)))
        #expect(world.registry.takeRequests() == ["1.vision.json", "1.vision~detector.json"])
        let live = try await updater.target("vision/detector/live.json")
        #expect(live == TargetFile(of: Array("live".utf8)))
        #expect(world.registry.takeRequests() == ["1.vision~detector~live.json"])
        #expect(try await updater.role(.hold)?.document.targets.isEmpty == true)
        #expect(world.registry.takeRequests() == ["1.sealift~hold.json"])
    }

    @Test("the store holds exactly the bytes that were served, under percent-encoded names")
    func stored() async throws {
        let world = try World()
        try await world.synchronise()
        let files = world.registry.repository.files
        let stored = world.store.contents
        #expect(stored["root.json"] == files["1.root.json"])
        #expect(stored["timestamp.json"] == files["timestamp.json"])
        #expect(stored["snapshot.json"] == files["2.snapshot.json"])
        #expect(stored["targets.json"] == files["2.targets.json"])
        #expect(stored["vision~detector~live.json"] == files["1.vision~detector~live.json"])
        #expect(RoleName("../a b").fileName == "..%2Fa%20b.json")
    }

    @Test("a refresh without news asks for the next root and the timestamp alone")
    func nothingNew() async throws {
        let world = try World()
        try await world.synchronise()
        let updater = try await {
            var updater = world.updater()
            try await updater.refresh()
            return updater
        }()
        #expect(world.registry.takeRequests() == ["2.root.json", "timestamp.json"])
        #expect(updater.targets?.document.version == 2)
    }

    @Test("after a new publication only what changed is asked for")
    func changed() async throws {
        let world = try World()
        try await world.synchronise()
        try world.registry.change { repository in
            repository.roles[.live]?.targets["vision/detector/live.json"] = TargetFile(of: [1])
            try repository.publish([.live])
        }
        var updater = world.updater()
        try await updater.refresh()
        #expect(try await updater.target("vision/detector/live.json") == TargetFile(of: [1]))
        #expect(
            world.registry.takeRequests()
                == ["2.root.json", "timestamp.json", "3.snapshot.json", "2.vision~detector~live.json"]
        )
    }

    @Test("each new root is stored before the next is asked for, and is replayed from the store later")
    func roots() async throws {
        let world = try World()
        try await world.synchronise()
        try world.registry.change { repository in
            for _ in 0..<3 {
                try repository.rotate(.root)
                try repository.publishRoot()
            }
        }
        world.registry.fail("4.root.json", with: .outage(.timedOut(seconds: 1), url: "4"))
        var updater = world.updater()
        await #expect(throws: UpdateError.self) { try await updater.refresh() }
        let files = world.registry.repository.files
        #expect(world.store.contents["root.json"] == files["3.root.json"])
        #expect(world.store.contents["root_history/2.root.json"] == files["2.root.json"])
        world.registry.fail("4.root.json", with: nil)
        _ = world.registry.takeRequests()
        updater = world.updater()
        try await updater.refresh()
        #expect(world.registry.takeRequests() == ["4.root.json", "5.root.json", "timestamp.json"])
        #expect(updater.root?.document.version == 4)
        #expect(updater.roots.map(\.document.version) == [1, 2, 3, 4])
    }

    @Test("more new roots than one refresh follows are followed in the next")
    func manyRoots() async throws {
        let world = try World()
        try world.registry.change { repository in
            for _ in 0..<300 { try repository.publishRoot() }
        }
        var updater = world.updater()
        try await updater.refresh()
        #expect(updater.root?.document.version == 257)
        updater = world.updater()
        try await updater.refresh()
        #expect(updater.root?.document.version == 301)
    }

    @Test("an expired root may lead to a current one")
    func expiredIntermediate() async throws {
        let world = try World()
        let later = World.start.adding(seconds: 400 * 86_400)
        try world.registry.change { repository in
            repository.now = later
            repository.root.expires = later.adding(seconds: 86_400)
            try repository.publishRoot()
            for role in Array(repository.roles.keys) {
                repository.roles[role]?.expires = later.adding(seconds: 86_400)
                repository.roles[role]?.issued = role == .hold ? later : nil
            }
            try repository.publish()
        }
        var updater = world.updater()
        try await updater.refresh()
        #expect(updater.root?.document.version == 2)
    }

    @Test("a poisoned cache is ignored: the chain starts from the pinned root")
    func poisonedCache() async throws {
        let world = try World()
        let other = try World()
        try await other.synchronise()
        world.store.contents = other.store.contents
        world.store.contents["root_history/2.root.json"] = Array("{}".utf8)
        let updater = try await world.synchronise()
        #expect(updater.targets?.bytes == world.registry.repository.files["2.targets.json"])
        #expect(world.store.contents["root.json"] == world.registry.repository.files["1.root.json"])
    }

    @Test("a role that the snapshot does not list yet is absent, and nothing is asked for")
    func absentRole() async throws {
        let world = try World()
        try world.registry.change { repository in
            let model = try #require(ModelName("vision/segmenter"))
            for role in [SealiftRole.live(model), .release(model)] {
                try repository.delegate(role.roleName, by: .vision, paths: [try #require(role.pattern)])
                repository.roles[role.roleName] = nil
            }
            try repository.publish([.vision])
        }
        var updater = try await world.synchronise()
        let model = try #require(ModelName("vision/segmenter"))
        #expect(try await updater.role(.live(model)) == nil)
        #expect(try await updater.target("vision/segmenter/live.json") == nil)
        #expect(world.registry.takeRequests() == [])
    }
}
