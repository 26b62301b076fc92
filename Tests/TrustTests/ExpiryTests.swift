import Names
import Support
import Testing
import Transfer
import Trust

/// Files that are published expired, and clients that come back after theirs have (TUF 1.0.34, 5.3.10, 5.4.4, 5.5.6).
@Suite("Expiry")
struct ExpiryTests {
    /// Everything is signed anew `days` after the start; `change` then lies.
    private func renew(
        _ world: World,
        days: Int64,
        _ change: (inout SimulatedRepository) throws -> Void = { _ in }
    ) throws {
        try world.registry.change { repository in
            repository.now = World.days(days)
            repository.root.expires = World.days(days + 365)
            try repository.publishRoot()
            for role in repository.roles.keys {
                repository.roles[role]?.expires = World.days(days + (role == .hold ? 7 : 90))
                if role == .hold { repository.roles[role]?.issued = repository.now }
            }
            try repository.publish()
            try change(&repository)
        }
    }

    @Test("a new root that has expired already is stored and stops the update, until the next one")
    func root() async throws {
        let world = try World()
        try await world.synchronise()
        let before = world.store.contents
        let expiry = World.start.adding(seconds: -1)
        try world.registry.change { repository in
            repository.root.expires = expiry
            try repository.publishRoot()
            repository.root.expires = World.days(365)
            try repository.publish()
        }
        var updater = world.updater()
        let expired = TrustError.expired(role: .root, expiry: expiry, now: World.start)
        await #expect(throws: UpdateError.refused(expired)) { try await updater.refresh() }
        #expect(world.registry.takeRequests() == ["2.root.json", "3.root.json"])
        let root = try #require(world.registry.repository.files["2.root.json"])
        var expected = before
        expected["root.json"] = root
        expected["root_history/2.root.json"] = root
        #expect(world.store.contents == expected)
        // Without a network neither: the old root is not a way round the new one.
        updater = world.updater()
        #expect(throws: UpdateError.refused(expired)) { try updater.openStored() }
        try world.registry.change { try $0.publishRoot() }
        let current = try await world.synchronise()
        #expect(current.root?.document.version == 3)
        world.expectStored(.root, .timestamp, .snapshot, .targets)
    }

    @Test(
        "a client that was away while its timestamp, snapshot and root expired comes up to date by itself",
        arguments: [4, 10, 400] as [Int64]
    )
    func away(days: Int64) async throws {
        let world = try World()
        try await world.synchronise()
        let now = World.days(days)
        var updater = world.updater(now: now)
        await #expect(throws: UpdateError.self) { try await updater.refresh() }
        try renew(world, days: days)
        updater = try await world.synchronise(now: now)
        #expect(updater.root?.document.version == 2)
        world.expectStored(.root, .timestamp, .snapshot, .targets, .hold, .vision, .live, .release)
    }

    @Test(
        "what a client stored rules out going back also after it has expired",
        arguments: ["timestamp", "snapshot", "listed"]
    )
    func expiredButTrusted(lie: String) async throws {
        let world = try World()
        try world.registry.change { repository in
            try repository.publish([.live])
            try repository.publish([.live])
        }
        try await world.synchronise()
        let stored = world.registry.repository
        #expect(stored.timestamp.version == 4)
        let refusal: TrustError
        switch lie {
        case "timestamp": refusal = .rollback(role: .timestamp, trusted: 4, found: 3)
        case "snapshot": refusal = .rollback(role: .snapshot, trusted: 4, found: 3)
        default: refusal = .rollback(role: .live, trusted: 3, found: 2)
        }
        try renew(world, days: 400) { repository in
            switch lie {
            case "timestamp":
                repository.timestamp.version = 2
                try repository.publishTimestamp()
            case "snapshot":
                repository.snapshot.version = 2
                try repository.publishSnapshot()
            default:
                repository.snapshot.roles[.live] = MetaFile(version: 2)
                try repository.publishSnapshot()
            }
        }
        let before = world.store.contents
        var updater = world.updater(now: World.days(400))
        await #expect(throws: UpdateError.refused(refusal)) { try await updater.refresh() }
        world.expectStored(.root)
        for name in ["timestamp.json", "snapshot.json", "targets.json", "vision~detector~live.json"]
        where lie != "listed" || name != "timestamp.json" {
            #expect(world.store.contents[name] == before[name], "\(name)")
        }
    }

    @Test("a delegated role that has expired before it is fetched is neither used nor stored")
    func delegated() async throws {
        let world = try World()
        let expiry = World.start.adding(seconds: -60)
        try world.registry.change { repository in
            repository.roles[.live]?.expires = expiry
            try repository.publish([.live])
        }
        var updater = world.updater()
        try await updater.refresh()
        let expired = TrustError.expired(role: .live, expiry: expiry, now: World.start)
        // Twice: the first attempt leaves nothing that the second could take.
        for _ in 0..<2 {
            await #expect(throws: UpdateError.refused(expired)) {
                try await updater.target("vision/detector/live.json")
            }
            #expect(world.store.contents["vision~detector~live.json"] == nil)
        }
        #expect(try await updater.target("vision/detector/1.0.0.json") != nil)
        world.expectStored(.vision, .release)
    }

    @Test("a stored delegated role that has expired gives way to a fresh version")
    func replaced() async throws {
        let world = try World()
        try await world.synchronise()
        let now = World.days(100)
        try renew(world, days: 100) { repository in
            repository.roles[.live]?.targets["vision/detector/live.json"] = TargetFile(of: [1])
            try repository.publish([.live])
        }
        var updater = world.updater(now: now)
        try await updater.refresh()
        _ = world.registry.takeRequests()
        #expect(try await updater.target("vision/detector/live.json") == TargetFile(of: [1]))
        #expect(world.registry.takeRequests() == ["2.vision.json", "3.vision~detector~live.json"])
        world.expectStored(.vision, .live)
    }

    @Test(
        "a snapshot or targets role published expired is not stored",
        arguments: [RoleName.snapshot, .targets]
    )
    func published(role: RoleName) async throws {
        let world = try World()
        try await world.synchronise()
        try world.registry.change { repository in
            if role == .snapshot {
                try repository.publish([])
                repository.snapshot.expires = World.start
                try repository.signSnapshot()
                try repository.signTimestamp()
            } else {
                repository.roles[.targets]?.expires = World.start
                try repository.publish([.targets])
            }
        }
        try await world.expectRefusal(
            .expired(role: role, expiry: World.start, now: World.start),
            advancing: World.before(role)
        )
        world.expectStored(.timestamp)
        if role == .targets { world.expectStored(.snapshot) }
    }
}
