import Names
import Signing
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

    @Test(
        "a role whose length or any digest is not what the snapshot lists is refused before it is parsed",
        arguments: ["length", "sha256", "sha512", "md5"]
    )
    func listed(_ what: String) async throws {
        let world = try World(plain: ())
        try await world.synchronise()
        var expected: TrustError?
        try world.registry.change { repository in
            try repository.sign(.targets)
            let bytes = try #require(repository.files["2.targets.json"])
            var file = MetaFile(
                version: 2,
                length: UInt64(bytes.count),
                hashes: ["sha256": SHA256.digest(of: bytes).bytes, "sha512": SHA512.digest(of: bytes)]
            )
            let length = UInt64(bytes.count)
            if what == "length" {
                file.length = length + 1
                expected = .lengthMismatch(role: .targets, expected: length + 1, found: length)
            } else {
                file.hashes[what] = [UInt8](repeating: 1, count: 32)
                expected = .digestMismatch(role: .targets, algorithm: what)
            }
            repository.snapshot.roles[.targets] = file
            try repository.publishSnapshot()
        }
        try await world.expectRefusal(try #require(expected), advancing: [.timestamp, .snapshot])
    }

    @Test("a delegated role that the snapshot does not list is refused, and not asked for")
    func unlisted() async throws {
        let world = try World(plain: ())
        try world.registry.change { repository in
            try repository.delegate("team", by: .targets, paths: ["*"])
            try repository.sign(.targets)
            try repository.publishSnapshot()
            repository.files["1.team.json"] = try repository.envelope(
                of: TargetsDocument(
                    version: 1,
                    expires: World.start.adding(seconds: 60),
                    targets: ["x": TargetFile(of: [])]
                ),
                "team"
            )
        }
        try await world.synchronise()
        try await world.expectRefusal(.notInSnapshot(role: "team")) { updater in
            try await updater.refresh()
            _ = try await updater.target("x")
        }
        #expect(world.registry.takeRequests() == ["2.root.json", "timestamp.json"])
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
