import Names
import Support
import Testing
import Transfer
import Trust

@Suite("Attack: withholding")
struct OutageTests {
    @Test(
        "an outage at any step is reported as one and changes nothing",
        arguments: ["2.root.json", "timestamp.json", "3.snapshot.json"]
    )
    func outage(name: String) async throws {
        let world = try World()
        try await world.synchronise()
        try world.registry.change { try $0.publish([]) }
        let error = FetchError.outage(.timedOut(seconds: 30), url: name)
        world.registry.fail(name, with: error)
        let before = world.store.contents["snapshot.json"]
        var updater = world.updater()
        await #expect(throws: UpdateError.fetch(error)) { try await updater.refresh() }
        #expect(UpdateError.fetch(error).isOutage)
        #expect(world.store.contents["snapshot.json"] == before)
        world.registry.fail(name, with: nil)
        try await world.synchronise()
    }

    @Test("a file that its own metadata name and the server denies is no answer")
    func absent() async throws {
        let world = try World()
        world.registry.change { $0.files["2.snapshot.json"] = nil }
        var updater = world.updater()
        await #expect(throws: UpdateError.absent(url: world.registry.location.metadata("2.snapshot.json"))) {
            try await updater.refresh()
        }
    }

    @Test(
        "a timestamp that the server denies is no answer; whether it ever had one is told apart",
        arguments: [false, true]
    )
    func noTimestamp(wasSeen: Bool) async throws {
        let world = try World()
        if wasSeen { try await world.synchronise() }
        let before = world.store.contents["timestamp.json"]
        world.registry.change { $0.files["timestamp.json"] = nil }
        var updater = world.updater()
        let error = UpdateError.noTimestamp(repository: "\(world.registry.location)", wasSeen: wasSeen)
        await #expect(throws: error) { try await updater.refresh() }
        #expect(error.isOutage == wasSeen)
        #expect(world.store.contents["timestamp.json"] == before)
    }

    @Test("a role withheld on the way of a search ends the search, also where another would match")
    func search() async throws {
        let world = try World(plain: ())
        try world.registry.change { repository in
            try repository.delegate("first", by: .targets, paths: ["x"], terminating: false)
            try repository.delegate("second", by: .targets, paths: ["x"], terminating: false)
            repository.roles["second"]?.targets["x"] = TargetFile(of: [])
            try repository.publish()
            repository.files["1.first.json"] = nil
        }
        var updater = try await world.synchronise()
        await #expect(throws: UpdateError.absent(url: world.registry.location.metadata("1.first.json"))) {
            try await updater.target("x")
        }
    }
}
