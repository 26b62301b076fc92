import Names
import Support
import Testing
import Transfer
import Trust

@Suite("Attack: mix and match")
struct MixAndMatchTests {
    @Test(
        "an old, genuine role file in the place of the listed version is refused",
        arguments: [RoleName.targets, .vision, .live, .release]
    )
    func role(role: RoleName) async throws {
        let world = try World()
        let version = try #require(world.registry.repository.snapshot.roles[role]?.version)
        let old = world.registry.repository.files["\(version).\(role).json"]
        try world.registry.change { repository in
            try repository.publish([role])
            repository.files["\(version + 1).\(role).json"] = old
        }
        var updater = world.updater()
        let expected = TrustError.versionMismatch(role: role, expected: version + 1, found: version)
        await #expect(throws: UpdateError.refused(expected)) {
            try await updater.refresh()
            if let role = SealiftRole(role) { _ = try await updater.role(role) }
        }
        #expect(world.store.contents[role.fileName] == nil)
    }

    @Test("an old, genuine snapshot in the place of the listed one is refused before it is parsed")
    func snapshot() async throws {
        let world = try World()
        let old = try #require(world.registry.repository.files["2.snapshot.json"])
        try world.registry.change { repository in
            repository.roles[.targets]?.expires = World.start.adding(seconds: 100_000)
            try repository.publish()
            repository.files["3.snapshot.json"] = old
        }
        var updater = world.updater()
        let length = UInt64(old.count)
        let error = await #expect(throws: UpdateError.self) { try await updater.refresh() }
        let listed = try #require(world.registry.repository.timestamp.snapshot.length)
        let expected: UpdateError =
            listed == length
            ? .refused(.digestMismatch(role: .snapshot, algorithm: "sha256"))
            : .refused(.lengthMismatch(role: .snapshot, expected: listed, found: length))
        #expect(error == expected)
        #expect(world.store.contents["snapshot.json"] == nil)
    }

    @Test("a snapshot of another version than the timestamp names is refused")
    func snapshotVersion() async throws {
        let world = try World(plain: ())
        try world.registry.change { repository in
            repository.timestamp.snapshot = MetaFile(version: 2)
            try repository.publishTimestamp()
            repository.files["2.snapshot.json"] = repository.files["1.snapshot.json"]
        }
        var updater = world.updater()
        let expected = TrustError.versionMismatch(role: .snapshot, expected: 2, found: 1)
        await #expect(throws: UpdateError.refused(expected)) { try await updater.refresh() }
    }
}
