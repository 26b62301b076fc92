import CanonicalJSON
import Names
import Support
import Testing
import Trust

@Suite("Sealift's shapes")
struct SealiftShapesTests {
    @Test("the repository that Sealift writes has its own shapes")
    func sound() throws {
        let repository = try SimulatedRepository.sealift(try #require(World.detector), now: World.start)
        try SealiftShapes.check(root: repository.root)
        try SealiftShapes.check(snapshot: repository.snapshot)
        for (role, document) in repository.roles {
            try SealiftShapes.check(try #require(SealiftRole(role)), document: document)
        }
    }

    @Test(
        "a device refuses anything else, although its role's keys signed it, and keeps what it had",
        arguments: ShapeAttack.all + ShapeAttack.ofHold
    )
    func refused(attack: ShapeAttack) async throws {
        let world = try World()
        try await world.synchronise()
        try world.registry.change { repository in
            repository.rewriting[attack.role] = { attack.spoil(&$0) }
            try repository.publish([attack.role])
        }
        try await world.expectRefusal(
            .shape(role: attack.role, reason: attack.reason),
            advancing: [.timestamp, .snapshot],
            World.loading(attack.role)
        )
    }

    @Test("a snapshot lists roles of Sealift by version alone")
    func snapshot() throws {
        let repository = try SimulatedRepository.sealift(try #require(World.detector), now: World.start)
        var foreign = repository.snapshot
        foreign.roles["a team"] = MetaFile(version: 1)
        var hashed = repository.snapshot
        hashed.roles[.vision]?.length = 1
        #expect(throws: TrustError.self) { try SealiftShapes.check(snapshot: foreign) }
        #expect(throws: TrustError.self) { try SealiftShapes.check(snapshot: hashed) }
    }

    @Test("a root of another kind of repository is refused")
    func root() throws {
        let repository = try SimulatedRepository.sealift(try #require(World.detector), now: World.start)
        var plain = repository.root
        plain.sealift = nil
        var inconsistent = repository.root
        inconsistent.consistentSnapshot = false
        var endless = repository.root
        endless.sealift?.maximumLifetimes[.timestamp] = nil
        var immortal = repository.root
        immortal.sealift?.maximumLifetimes[.targets] = SealiftShapes.longestLifetime + 1
        var slow = repository.root
        slow.sealift?.maximumLifetimes[.snapshot] = SealiftShapes.longestOnlineLifetime + 1
        for root in [plain, inconsistent, endless, immortal, slow] {
            #expect(throws: TrustError.self) { try SealiftShapes.check(root: root) }
        }
    }

    @Test("a delegation that asks for more signatures than it lists keys is refused")
    func unmeetable() throws {
        let repository = try SimulatedRepository.sealift(try #require(World.detector), now: World.start)
        for spoil: (inout RoleKeys) -> Void in [
            { $0.threshold = .max }, { $0.keyIDs = [String(repeating: "0", count: 64)] },
        ] {
            var targets = try #require(repository.roles[.targets])
            var delegations = try #require(targets.delegations)
            let index = try #require(delegations.roles.firstIndex { $0.role == .vision })
            spoil(&delegations.roles[index].roleKeys)
            targets.delegations = delegations
            #expect(throws: TrustError.self) { try SealiftShapes.check(targets: targets) }
        }
    }

    @Test(
        "role names say what a role is for, and no other name is one",
        arguments: [
            ("targets", "targets"), ("vision", "vision"), ("vision~detector", "vision~detector"),
            ("vision~detector~live", "vision~detector~live"), ("sealift~hold", "sealift~hold"),
            ("vision~live", "vision~live"), ("vision~live~live", "vision~live~live"), ("sealift", nil),
            ("root", nil), ("snapshot", nil), ("sealift~other", nil), ("sealift~hold~live", nil), ("", nil),
            ("~", nil), ("vision~", nil), ("vision~detector~dead", nil), ("vision~detector~live~", nil),
            ("vision/detector", nil), ("Vision", nil), ("targets~x", nil),
        ] as [(String, String?)]
    )
    func names(text: String, expected: String?) {
        #expect(SealiftRole(name: text)?.name == expected)
    }
}
