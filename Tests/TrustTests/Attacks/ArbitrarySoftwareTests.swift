import Names
import Signing
import Support
import Testing
import Transfer
import Trust

@Suite("Attack: arbitrary software")
struct ArbitrarySoftwareTests {
    @Test(
        "metadata signed by a stranger are refused",
        arguments: [RoleName.timestamp, .snapshot, .targets, .vision, .live, .release, .hold]
    )
    func stranger(role: RoleName) async throws {
        let world = try World()
        try await world.synchronise()
        try world.registry.change { repository in
            repository.signers[role] = [try SoftwareKey.generate(.ed25519)]
            try repository.publish()
        }
        // What a client takes before the forged file is genuine, and stays.
        if role != .timestamp {
            let before = world.store.contents[role.fileName]
            var updater = world.updater()
            await #expect(throws: UpdateError.refused(.thresholdNotMet(role: role, valid: 0, needed: 1))) {
                try await updater.refresh()
                if let role = SealiftRole(role) { _ = try await updater.role(role) }
            }
            #expect(world.store.contents[role.fileName] == before)
        } else {
            try await world.expectRefusal(.thresholdNotMet(role: role, valid: 0, needed: 1))
        }
    }

    @Test("one changed byte of the signed part breaks the signature")
    func changed() async throws {
        let world = try World()
        try await world.synchronise()
        try world.registry.change { repository in
            try repository.publishTimestamp()
            var text = String(decoding: repository.files["timestamp.json"] ?? [], as: UTF8.self)
            text = text.split(separator: #""version":3"#).joined(separator: #""version":9"#)
            repository.files["timestamp.json"] = Array(text.utf8)
        }
        try await world.expectRefusal(.thresholdNotMet(role: .timestamp, valid: 0, needed: 1))
    }

    @Test("a root that only its own new keys signed is refused")
    func root() async throws {
        let world = try World()
        try await world.synchronise()
        try world.registry.change { repository in
            try repository.rotate(.root)
            let new = repository.signers[.root] ?? []
            repository.files["2.root.json"] = try Authoring.envelope(signing: repository.root, by: new)
        }
        try await world.expectRefusal(.thresholdNotMet(role: .root, valid: 0, needed: 1))
    }

    @Test("a root that only the old keys signed is refused")
    func rootByOldKeys() async throws {
        let world = try World()
        try await world.synchronise()
        try world.registry.change { repository in
            let old = repository.signers[.root] ?? []
            try repository.rotate(.root)
            repository.files["2.root.json"] = try Authoring.envelope(signing: repository.root, by: old)
        }
        try await world.expectRefusal(.thresholdNotMet(role: .root, valid: 0, needed: 1))
    }
}
