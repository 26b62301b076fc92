import Names
import Support
import Testing
import Transfer
import Trust

@Suite("Attack: indefinite freeze")
struct FreezeTests {
    @Test("an expired timestamp is refused, also when its version is the trusted one")
    func timestamp() async throws {
        let world = try World()
        try await world.synchronise()
        let expiry = world.registry.repository.timestamp.expires
        try await world.expectRefusal(.expired(role: .timestamp, expiry: expiry, now: expiry), now: expiry)
    }

    @Test("a newer timestamp that has expired is refused and not stored")
    func newTimestamp() async throws {
        let world = try World()
        try await world.synchronise()
        try world.registry.change { try $0.publishTimestamp() }
        let expiry = world.registry.repository.timestamp.expires
        try await world.expectRefusal(.expired(role: .timestamp, expiry: expiry, now: expiry), now: expiry)
    }

    @Test("an expired snapshot is refused although the timestamp is fresh")
    func snapshot() async throws {
        let world = try World()
        try await world.synchronise()
        let later = World.start.adding(seconds: 7 * 86_400)
        try world.registry.change { repository in
            repository.now = later
            try repository.publishTimestamp()
        }
        try await world.expectRefusal(
            .expired(role: .snapshot, expiry: later, now: later),
            now: later,
            advancing: [.timestamp]
        )
    }

    @Test("an expired root is refused")
    func root() async throws {
        let world = try World()
        try await world.synchronise()
        let expiry = world.registry.repository.root.expires
        try await world.expectRefusal(.expired(role: .root, expiry: expiry, now: expiry), now: expiry)
    }

    @Test("an expired delegated role stops only what is below it")
    func delegated() async throws {
        let world = try World()
        try world.registry.change { repository in
            repository.roles[.live]?.expires = World.start.adding(seconds: 60)
            try repository.publish([.live])
        }
        try await world.synchronise()
        let later = World.start.adding(seconds: 60)
        let expected = TrustError.expired(role: .live, expiry: later, now: later)
        try await world.expectRefusal(expected, now: later) { updater in
            try await updater.refresh()
            #expect(try await updater.target("vision/detector/1.0.0.json") != nil)
            _ = try await updater.target("vision/detector/live.json")
        }
    }

    @Test(
        "an online role may not live longer than the root allows",
        arguments: [RoleName.timestamp, .snapshot, .hold]
    )
    func lifetime(role: RoleName) async throws {
        let world = try World()
        try await world.synchronise()
        let tooLate = World.start.adding(seconds: 30 * 86_400)
        try world.registry.change { repository in
            if role == .timestamp {
                repository.timestamp.version += 1
                repository.timestamp.expires = tooLate
                try repository.signTimestamp()
            } else if role == .snapshot {
                repository.snapshot.version += 1
                repository.snapshot.expires = tooLate
                try repository.signSnapshot()
                try repository.publishTimestamp()
            } else {
                repository.roles[.hold]?.expires = tooLate
                try repository.publish([.hold])
            }
        }
        let maximum: Int64 = role == .timestamp ? 3 * 86_400 : 7 * 86_400
        let before: [RoleName: Set<RoleName>] = [.snapshot: [.timestamp], .hold: [.timestamp, .snapshot]]
        try await world.expectRefusal(
            .lifetimeTooLong(role: role, seconds: 30 * 86_400, maximum: maximum),
            advancing: before[role] ?? [],
            World.loading(.hold)
        )
    }
}
