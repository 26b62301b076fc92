import Names
import Signing
import Support
import Testing
import Transfer
import Trust

@Suite("Attack: wrong software")
struct WrongSoftwareTests {
    /// A second model of the same team, released by the same key.
    private func twoModels() async throws -> World {
        let world = try World()
        try world.registry.change { repository in
            let model = try #require(ModelName("vision/segmenter"))
            for role in [SealiftRole.live(model), .release(model)] {
                repository.signers[role.roleName] = repository.signers[.release]
                try repository.delegate(role.roleName, by: .vision, paths: [try #require(role.pattern)])
            }
            repository.roles[SealiftRole.release(model).roleName]?.targets["vision/segmenter/1.0.0.json"] =
                TargetFile(of: Array("another manifest".utf8))
            try repository.publish()
        }
        try await world.synchronise()
        return world
    }

    @Test("a genuine role file of another model, signed by the very same key, is refused")
    func otherModel() async throws {
        let world = try await twoModels()
        try world.registry.change { repository in
            try repository.publish([.release, "vision~segmenter"])
            let detector = try #require(repository.snapshot.roles[.release]?.version)
            // Of the very version that the snapshot asks for, so that nothing else is wrong with it.
            repository.roles["vision~segmenter"]?.version = detector
            repository.files["\(detector).vision~detector.json"] = try repository.envelope(
                of: try #require(repository.roles["vision~segmenter"]),
                "vision~segmenter"
            )
        }
        try await world.expectRefusal(
            .shape(role: .release, reason: "it may not list vision/segmenter/1.0.0.json"),
            advancing: [.timestamp, .snapshot],
            World.loading(.release)
        )
    }

    @Test(
        "a file of one role in the place of another is refused by its keys",
        arguments: [RoleName.live, .hold]
    )
    func otherRole(role: RoleName) async throws {
        let world = try await twoModels()
        try world.registry.change { repository in
            try repository.publish([role])
            let version = try #require(repository.snapshot.roles[role]?.version)
            repository.files["\(version).\(role).json"] = repository.files["2.targets.json"]
        }
        try await world.expectRefusal(
            .thresholdNotMet(role: role, valid: 0, needed: 1),
            advancing: [.timestamp, .snapshot],
            World.loading(role)
        )
    }

    @Test("a document of another type in the place of a role is refused by its type")
    func otherType() async throws {
        let world = try World(plain: ())
        try await world.synchronise()
        try world.registry.change { repository in
            // One key for both roles, as small repositories do.
            repository.root.roles[.timestamp] = repository.root.roles[.snapshot]
            repository.signers[.timestamp] = repository.signers[.snapshot]
            try repository.publishRoot()
            repository.files["timestamp.json"] = repository.files["1.snapshot.json"]
        }
        let before = world.store.contents
        var updater = world.updater()
        let wrong = TrustError.wrongType(role: .timestamp, expected: "timestamp", found: "snapshot")
        await #expect(throws: UpdateError.refused(wrong)) { try await updater.refresh() }
        for name in ["timestamp.json", "snapshot.json", "targets.json"] {
            #expect(world.store.contents[name] == before[name], "\(name)")
        }
    }

    @Test("bytes are the target only with its length and every listed digest")
    func content() {
        let genuine = Array("manifest".utf8)
        let file = TargetFile(
            length: UInt64(genuine.count),
            hashes: ["sha256": SHA256.digest(of: genuine).bytes, "sha512": SHA512.digest(of: genuine)]
        )
        #expect(file.describes(genuine))
        #expect(!file.describes(Array("manifesT".utf8)))
        #expect(!file.describes(genuine + [0]))
        #expect(!file.describes(genuine.dropLast()))
        var half = file
        half.hashes["sha512"] = SHA512.digest(of: [])
        #expect(!half.describes(genuine))
        var unknown = file
        unknown.hashes["md5"] = [1]
        #expect(!unknown.describes(genuine))
    }

    @Test("a path that only looks like a listed one is another path")
    func lookAlike() async throws {
        let world = try World()
        var updater = try await world.synchronise()
        for path in [
            "vision/detector/Live.json", "vision/detector/live.json ", "vision/detector/./live.json",
            "vision/detector//live.json", "vision/d\u{435}tector/live.json", "/vision/detector/live.json",
        ] {
            #expect(try await updater.target(TargetPath(path)) == nil, "\(path)")
        }
    }
}
