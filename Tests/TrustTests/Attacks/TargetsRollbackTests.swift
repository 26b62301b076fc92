import Names
import Support
import Testing
import Transfer
import Trust

/// The top-level targets role goes back only with a new snapshot key: the snapshot is what remembers its version.
@Suite("Attack: rollback and fast forward of the targets role")
struct TargetsRollbackTests {
    @Test("a newer snapshot may not list an older targets role")
    func rollback() async throws {
        let world = try World()
        try world.registry.change { try $0.publish([.targets]) }
        try await world.synchronise()
        try world.registry.change { repository in
            repository.snapshot.roles[.targets] = MetaFile(version: 2)
            try repository.publishSnapshot()
        }
        try await world.expectRefusal(
            .rollback(role: .targets, trusted: 3, found: 2),
            advancing: [.timestamp]
        )
        try world.registry.change { repository in
            repository.roles[.targets]?.version = 4
            try repository.publish([.targets])
        }
        let updater = try await world.synchronise()
        #expect(updater.targets?.document.version == 4)
        world.expectStored(.timestamp, .snapshot, .targets)
    }

    @Test("after a fast forward new targets keys do not lead back, a new snapshot key does")
    func fastForward() async throws {
        let world = try World()
        try world.registry.change { repository in
            repository.roles[.targets]?.version = .max
            try repository.publish([.targets])
        }
        let attacked = try await world.synchronise()
        #expect(attacked.targets?.document.version == .max)
        try world.registry.change { repository in
            try repository.rotate(.targets)
            try repository.publishRoot()
            repository.snapshot.roles[.targets] = MetaFile(version: 2)
            repository.roles[.targets]?.version = 3
            try repository.publish([.targets])
        }
        let before = world.store.contents["targets.json"]
        var updater = world.updater()
        let refusal = TrustError.rollback(role: .targets, trusted: .max, found: 3)
        await #expect(throws: UpdateError.refused(refusal)) { try await updater.refresh() }
        #expect(world.store.contents["targets.json"] == before)
        try world.registry.change { repository in
            try repository.rotate(.snapshot)
            try repository.publishRoot()
            try repository.publishSnapshot()
        }
        let recovered = try await world.synchronise()
        #expect(recovered.targets?.document.version == 3)
        world.expectStored(.root, .timestamp, .snapshot, .targets)
    }
}
