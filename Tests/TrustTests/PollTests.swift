import Names
import Support
import Testing
import Transfer
import Trust

@Suite("Poll")
struct PollTests {
    @Test("without news a poll is one request")
    func unchanged() async throws {
        let world = try World()
        try await world.synchronise()
        var updater = world.updater()
        #expect(try await updater.poll() == false)
        #expect(world.registry.takeRequests() == ["timestamp.json"])
        #expect(try await updater.target("vision/detector/live.json") == TargetFile(of: Array("live".utf8)))
        #expect(world.registry.takeRequests() == [])
    }

    @Test("roles that will be asked for are read from the store meanwhile, and are one request together")
    func ahead() async throws {
        let world = try World()
        try await world.synchronise()
        let model = try #require(ModelName("vision/detector"))
        let roles: [SealiftRole] = [.hold, .namespace(model.namespace), .live(model), .release(model)]
        var updater = world.updater()
        try await updater.poll()
        _ = try await updater.role(.release(model))
        _ = world.registry.takeRequests()
        updater = world.updater()
        #expect(try await updater.poll(for: roles) == false)
        #expect(world.registry.takeRequests() == ["timestamp.json"])
        // What was verified is not read again, and what is not there is asked for when it is wanted.
        world.store.contents["vision~detector.json"] = nil
        #expect(try await updater.role(.release(model)) != nil)
        #expect(world.registry.takeRequests() == [])
    }

    @Test("a role that does not hold in the store is fetched when it is asked for")
    func damagedRole() async throws {
        let world = try World()
        try await world.synchronise()
        let model = try #require(ModelName("vision/detector"))
        var updater = world.updater()
        try await updater.poll()
        _ = try await updater.role(.release(model))
        world.store.contents["vision~detector.json"]?[40] ^= 1
        _ = world.registry.takeRequests()
        updater = world.updater()
        #expect(try await updater.poll(for: [.namespace(model.namespace), .release(model)]) == false)
        #expect(try await updater.role(.release(model)) != nil)
        #expect(world.registry.takeRequests().count == 2)
    }

    @Test("any other answer is thrown away and the whole order runs, root first")
    func changed() async throws {
        let world = try World()
        try await world.synchronise()
        try world.registry.change { try $0.publish([]) }
        var updater = world.updater()
        #expect(try await updater.poll())
        #expect(
            world.registry.takeRequests() == [
                "timestamp.json", "2.root.json", "timestamp.json", "3.snapshot.json",
            ]
        )
    }

    @Test("after 24 hours the whole order runs")
    func stale() async throws {
        let world = try World()
        try await world.synchronise()
        var updater = world.updater(now: World.start.adding(seconds: 86_401))
        #expect(try await updater.poll())
        #expect(world.registry.takeRequests() == ["2.root.json", "timestamp.json"])
    }

    @Test("an expired stored chain is not kept alive by a 304")
    func expired() async throws {
        let world = try World()
        try await world.synchronise()
        let expiry = world.registry.repository.timestamp.expires
        // The tag and the time of the last refresh may be forged; expiry is signed.
        var updater = world.updater(now: expiry)
        world.store.contents["poll-state"] = forged(at: expiry, world)
        await #expect(throws: UpdateError.refused(.expired(role: .timestamp, expiry: expiry, now: expiry))) {
            try await updater.poll()
        }
    }

    @Test(
        "a damaged stored chain is fetched again",
        arguments: ["timestamp.json", "snapshot.json", "targets.json"]
    )
    func damaged(name: String) async throws {
        let world = try World()
        try await world.synchronise()
        world.store.contents[name]?[40] ^= 1
        var updater = world.updater()
        #expect(try await updater.poll())
        #expect(updater.targets?.document.version == 2)
    }

    @Test(
        "a poll state that makes no sense costs one request and no more",
        arguments: ["", "x", "\n\n\n", "9999"]
    )
    func nonsense(state: String) async throws {
        let world = try World()
        try await world.synchronise()
        world.store.contents["poll-state"] = Array(state.utf8)
        var updater = world.updater()
        #expect(try await updater.poll())
    }

    @Test("the stored chain opens without a request and serves what it holds")
    func offline() async throws {
        let world = try World()
        try await world.synchronise()
        var updater = world.updater()
        try updater.openStored()
        #expect(
            try await updater.target("vision/detector/1.0.0.json") == TargetFile(of: Array("manifest".utf8))
        )
        world.store.contents["vision~detector.json"] = nil
        updater = world.updater()
        try updater.openStored()
        await #expect(throws: UpdateError.notStored(role: .release)) {
            try await updater.target("vision/detector/1.0.0.json")
        }
        #expect(world.registry.takeRequests() == [])
        #expect(updater.freshUntil == world.registry.repository.timestamp.expires)
    }

    @Test("an empty store says so")
    func empty() throws {
        let world = try World()
        var updater = world.updater()
        #expect(throws: UpdateError.refused(.missing(role: .timestamp))) { try updater.openStored() }
    }

    private func forged(at time: UnixTime, _ world: World) -> [UInt8] {
        let state = String(decoding: world.store.contents["poll-state"] ?? [], as: UTF8.self)
        let tag = state.split(separator: "\n").last ?? ""
        return Array("\(time)\n\(tag)\n".utf8)
    }
}
