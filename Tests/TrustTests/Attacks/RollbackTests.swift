import Names
import Support
import Testing
import Transfer
import Trust

@Suite("Attack: rollback")
struct RollbackTests {
    @Test("an older timestamp is refused")
    func timestamp() async throws {
        let world = try World()
        let old = world.registry.repository.files["timestamp.json"]
        try world.registry.change { try $0.publishTimestamp() }
        try await world.synchronise()
        world.registry.change { $0.files["timestamp.json"] = old }
        try await world.expectRefusal(.rollback(role: .timestamp, trusted: 3, found: 2))
    }

    @Test("a newer timestamp may not name an older snapshot")
    func snapshotVersion() async throws {
        let world = try World()
        try await world.synchronise()
        try world.registry.change { repository in
            repository.timestamp.snapshot = MetaFile(version: 1)
            try repository.publishTimestamp()
        }
        try await world.expectRefusal(.rollback(role: .snapshot, trusted: 2, found: 1))
    }

    @Test("a newer snapshot may not list an older version of a role")
    func listed() async throws {
        let world = try World()
        try world.registry.change { try $0.publish([.live]) }
        try await world.synchronise()
        try world.registry.change { repository in
            repository.snapshot.roles[.live] = MetaFile(version: 1)
            try repository.publishSnapshot()
        }
        let before = world.store.contents["snapshot.json"]
        // Twice: the newer timestamp is trusted by now, and does not help the snapshot.
        for _ in 0..<2 {
            var updater = world.updater()
            await #expect(throws: UpdateError.refused(.rollback(role: .live, trusted: 2, found: 1))) {
                try await updater.refresh()
            }
            #expect(world.store.contents["snapshot.json"] == before)
        }
    }

    @Test("a newer snapshot may not leave out a role")
    func removed() async throws {
        let world = try World()
        try await world.synchronise()
        try world.registry.change { repository in
            repository.snapshot.roles[.hold] = nil
            try repository.publishSnapshot()
        }
        var updater = world.updater()
        await #expect(throws: UpdateError.refused(.removedFromSnapshot(role: .hold))) {
            try await updater.refresh()
        }
        #expect(world.store.contents["snapshot.json"] == world.registry.repository.files["2.snapshot.json"])
    }

    @Test("a root may neither go back nor skip a version", arguments: [1, 3] as [Int64])
    func root(version: Int64) async throws {
        let world = try World()
        try await world.synchronise()
        try world.registry.change { repository in
            repository.root.version = version
            try repository.publishRoot()
            repository.files["2.root.json"] = repository.files["\(version).root.json"]
        }
        try await world.expectRefusal(.versionOutOfOrder(role: .root, expected: 2, found: version))
    }
}
