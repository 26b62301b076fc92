import Names
import Support
import Testing
import Transfer
import Trust

@Suite("Attack: a wrong clock")
struct ClockTests {
    @Test("a timestamp signed more than 10 minutes ahead of the clock is refused; 10 minutes are not")
    func ahead() async throws {
        let world = try World()
        try await world.synchronise()
        let issued = World.start.adding(seconds: 601)
        try world.registry.change { repository in
            repository.now = issued
            try repository.publishTimestamp()
        }
        let expected = TrustError.issuedInFuture(role: .timestamp, issued: issued, clock: World.start)
        try await world.expectRefusal(expected, now: World.start)
        var updater = world.updater(now: World.start.adding(seconds: 1))
        try await updater.refresh()
        #expect(updater.now == issued)
        #expect(updater.clockFloor == issued)
    }

    @Test("a clock more than 10 minutes behind what has been seen signed takes nothing new")
    func behind() async throws {
        let world = try World()
        try await world.synchronise()
        try world.registry.change { try $0.publishTimestamp() }
        let clock = World.start.adding(seconds: -601)
        try await world.expectRefusal(.clockBehind(clock: clock, floor: World.start), now: clock)
        try await world.synchronise(now: World.start.adding(seconds: -600))
    }

    @Test("a clock set back does not revive what has expired")
    func setBack() async throws {
        let world = try World()
        try await world.synchronise()
        let expiry = world.registry.repository.timestamp.expires
        let updater = MetadataUpdater(
            anchor: world.registry.repository.files["1.root.json"] ?? [],
            store: world.store,
            fetcher: world.registry,
            mirrors: Mirrors([world.registry.location]),
            now: World.start,
            floor: expiry,
            policy: .sealift
        )
        var stored = updater
        let expired = TrustError.expired(role: .timestamp, expiry: expiry, now: expiry)
        #expect(throws: UpdateError.refused(expired)) { try stored.openStored() }
    }

    @Test("what is stored still opens under a clock that is behind")
    func stored() async throws {
        let world = try World()
        try await world.synchronise()
        var updater = world.updater(now: UnixTime(rawValue: 0))
        try updater.openStored()
        #expect(updater.now == World.start)
    }
}
