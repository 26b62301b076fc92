import Manifest
import Names
import Registry
import RegistryAPI
import Signing
import Testing
import Trust

@Suite("Holds and administrators")
struct HoldTests {
    private let released = version("1.0.0")

    @Test("a hold is signed by the registry's own key, prolonged, and taken back")
    func hold() async throws {
        let test = try await TestRegistry()
        try await test.publishFirst()
        let now = TestRegistry.start.adding(seconds: 3_600)
        let registry = test.registry
        let held = try await registry.hold(
            released,
            of: TestRegistry.model,
            reason: "crash",
            seconds: 60,
            now: now
        )
        #expect(held.effect(at: now).holds.values.map(\.reason) == ["crash"])
        let role = try #require(try test.store.newest(SealiftRole.hold.name))
        let path = HoldDocument.targetPath(model: TestRegistry.model)
        let digest = SHA256.digest(of: held.canonical)
        #expect(try test.store.document(path, digest)?.bytes == held.canonical)
        let longer = try await registry.hold(
            released,
            of: TestRegistry.model,
            reason: "still",
            seconds: 7 * 86_400,
            now: now
        )
        #expect(longer.holds.count == 1)
        #expect(try test.store.newest(SealiftRole.hold.name)?.version == role.version + 1)
        let lifted = try await registry.unhold(released, of: TestRegistry.model, now: now)
        #expect(lifted.holds.isEmpty)
        await #expect(throws: RegistryError.self) {
            try await registry.unhold(released, of: TestRegistry.model, now: now)
        }
    }

    @Test("an unknown version, and a hold longer than devices accept, change nothing")
    func refused() async throws {
        let test = try await TestRegistry()
        try await test.publishFirst()
        let now = TestRegistry.start.adding(seconds: 60)
        let before = try test.state()
        await #expect(throws: RegistryError.self) {
            try await test.registry.hold(
                version("9.0.0"),
                of: TestRegistry.model,
                reason: "x",
                seconds: 60,
                now: now
            )
        }
        await #expect(throws: RegistryError.self) {
            try await test.registry.hold(
                released,
                of: TestRegistry.model,
                reason: "x",
                seconds: 7 * 86_400 + 1,
                now: now
            )
        }
        #expect(try test.state() == before)
    }

    @Test("a publisher's token covers its namespace alone; an administrator's covers what people sign")
    func tokens() async throws {
        let test = try await TestRegistry()
        let stored = try #require(try test.store.newest("targets"))
        var targets = try Untrusted<TargetsDocument>(stored.bytes).verified(
            by: Quorum(
                role: .targets,
                keys: [Authoring.keyID(of: test.targets.publicKey): test.targets.publicKey],
                threshold: 1
            )
        ).document
        targets.version = 2
        var posting = Posting(key: test.targets)
        posting.roles = [.targets: targets]
        let request = try posting.request
        let now = TestRegistry.start
        await #expect(throws: RegistryError.self) {
            try await test.registry.commit(request, by: .token(test.token), now: now)
        }
        let administrator = Token(scope: .administer, label: "admin", expires: test.token.expires)
        let secret = try await test.registry.issueToken(administrator, now: now)
        #expect(try test.registry.token(secret, now: now) == administrator)
        let answer = try await test.registry.commit(request, by: .token(administrator), now: now)
        #expect(answer.snapshot == 2)
    }

    @Test(
        "a root under which devices would refuse the registry's own roles is refused before anybody sees it"
    )
    func stranding() async throws {
        let test = try await TestRegistry()
        let stored = try #require(try test.store.newest("root"))
        var root = try Untrusted<RootDocument>(stored.bytes).verifiedByItself().document
        root.version = 2
        func request() throws -> CommitRequest {
            let bytes = try Authoring.envelope(signing: root, by: [test.root])
            return CommitRequest(roles: [.init(role: "root", metadata: bytes)], targets: [])
        }
        root.sealift?.maximumLifetimes[.timestamp] = 60
        let strict = try request()
        let before = try test.state()
        let error = await #expect(throws: RegistryError.self) {
            try await test.registry.commit(strict, by: .administrator, now: TestRegistry.start)
        }
        let words = try #require(error).description
        #expect(
            words.contains("pinned to root 2 would be stranded") && words.contains("timestamp"),
            "\(words)"
        )
        #expect(try test.state() == before)
        root.sealift?.maximumLifetimes[.timestamp] = OnlineLifetime.timestamp
        let sound = try request()
        let answer = try await test.registry.commit(sound, by: .administrator, now: TestRegistry.start)
        #expect(answer.snapshot == 2)
    }
}
