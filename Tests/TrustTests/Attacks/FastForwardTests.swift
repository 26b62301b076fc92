import Names
import Support
import Testing
import Transfer
import Trust

@Suite("Attack: fast forward")
struct FastForwardTests {
    /// A stolen online key has raised `role` to the greatest version there is.
    private func attacked(_ raise: (inout SimulatedRepository) throws -> Void) async throws -> World {
        let world = try World()
        try world.registry.change(raise)
        try await world.synchronise()
        return world
    }

    @Test("after a timestamp fast-forward, a new timestamp key lets clients go on")
    func timestamp() async throws {
        let world = try await attacked { repository in
            repository.timestamp.version = .max - 1
            try repository.publishTimestamp()
        }
        try world.registry.change { repository in
            repository.timestamp.version = 2
            try repository.publishTimestamp()
        }
        try await world.expectRefusal(.rollback(role: .timestamp, trusted: .max, found: 3))
        try world.registry.change { repository in
            try repository.rotate(.timestamp)
            try repository.publishRoot()
            try repository.publishTimestamp()
        }
        let updater = try await world.synchronise()
        #expect(updater.timestamp?.document.version == 4)
    }

    @Test("after a snapshot fast-forward, new snapshot and timestamp keys let clients go on")
    func snapshot() async throws {
        let world = try await attacked { repository in
            repository.snapshot.version = .max - 1
            try repository.publishSnapshot()
        }
        try world.registry.change { repository in
            repository.snapshot.version = 2
            try repository.publishSnapshot()
        }
        try await world.expectRefusal(.rollback(role: .snapshot, trusted: .max, found: 3))
        try world.registry.change { repository in
            try repository.rotate(.timestamp)
            try repository.rotate(.snapshot)
            try repository.publishRoot()
            try repository.publishSnapshot()
        }
        let updater = try await world.synchronise()
        #expect(updater.snapshot?.document.version == 4)
    }

    @Test("after a fast-forward of a delegated role, a new snapshot key lets clients go on")
    func delegated() async throws {
        let world = try await attacked { repository in
            repository.roles[.live]?.version = .max
            try repository.publish([.live])
        }
        try world.registry.change { repository in
            try repository.rotate(.snapshot)
            try repository.publishRoot()
            repository.snapshot.roles[.live] = MetaFile(version: 1)
            repository.roles[.live]?.version = 2
            try repository.publish([.live])
        }
        var updater = try await world.synchronise()
        #expect(try await updater.role(.live(try #require(World.detector)))?.document.version == 2)
    }
}
