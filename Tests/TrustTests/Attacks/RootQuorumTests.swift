import Names
import Signing
import Support
import Testing
import Transfer
import Trust

/// A root may change who signs the next one, and needs the old signatures for it (TUF 1.0.34, 5.3.4).
@Suite("Attack: a root that changes its own signers")
struct RootQuorumTests {
    /// A client whose root, version 2, `threshold` of `keys` must sign.
    private func world(_ keys: [SoftwareKey], threshold: Int) async throws -> World {
        let world = try World()
        try world.registry.change { try $0.appoint(keys, threshold: threshold, for: .root) }
        try await world.synchronise()
        return world
    }

    /// Serves root `version`, which names `keys`, signed by `signers`.
    private func serve(
        _ version: Int64,
        _ keys: [SoftwareKey],
        threshold: Int,
        by signers: [SoftwareKey],
        in world: World
    ) throws {
        try world.registry.change { repository in
            repository.root.version = version
            repository.list(keys, threshold: threshold, for: .root)
            try repository.publish(.root, by: signers)
        }
    }

    @Test("a root that lowers its threshold needs the higher one of the root before it")
    func lowered() async throws {
        let keys = try World.keys(2)
        let world = try await world(keys, threshold: 2)
        try serve(3, keys, threshold: 1, by: [keys[0]], in: world)
        try await world.expectRefusal(.thresholdNotMet(role: .root, valid: 1, needed: 2))
        try serve(3, keys, threshold: 1, by: keys, in: world)
        try await world.synchronise()
        world.expectStored(.root)
        // From now on one is enough.
        try serve(4, keys, threshold: 1, by: [keys[1]], in: world)
        let updater = try await world.synchronise()
        #expect(updater.root?.document.version == 4)
    }

    @Test("a root that raises its threshold must meet it itself")
    func raised() async throws {
        let keys = try World.keys(2)
        let world = try await world(keys, threshold: 1)
        try serve(3, keys, threshold: 2, by: [keys[0]], in: world)
        try await world.expectRefusal(.thresholdNotMet(role: .root, valid: 1, needed: 2))
        try serve(3, keys, threshold: 2, by: keys, in: world)
        let updater = try await world.synchronise()
        #expect(updater.root?.document.version == 3)
        world.expectStored(.root)
    }

    @Test(
        "when one key of five replaces another, three of the old five and three of the new must sign",
        arguments: [
            ("ABE", 2), ("ABF", 2), ("CDE", 2), ("AEF", 2), ("EF", 1), ("ABEF", nil), ("ABC", nil),
            ("BCDF", nil), ("ABCDEF", nil),
        ] as [(String, Int?)]
    )
    func overlapping(signers: String, valid: Int?) async throws {
        let keys = try World.keys(6)
        let letters = Array("ABCDEF")
        let world = try await world(Array(keys[..<5]), threshold: 3)
        let chosen = zip(letters, keys).filter { signers.contains($0.0) }.map(\.1)
        try serve(3, Array(keys[..<4]) + [keys[5]], threshold: 3, by: chosen, in: world)
        if let valid {
            try await world.expectRefusal(.thresholdNotMet(role: .root, valid: valid, needed: 3))
        } else {
            let updater = try await world.synchronise()
            #expect(updater.root?.document.version == 3)
            world.expectStored(.root)
        }
    }
}
