import CanonicalJSON
import Names
import Registry
import RegistryAPI
import Support
import Testing
import Trust

@Suite("Shapes at commit")
struct ShapeTests {
    /// The next version of a stored role, changed before its own key signs it.
    private func next(
        _ role: RoleName,
        of test: TestRegistry,
        _ change: (inout JSONObject) -> Void
    ) throws -> CommitRequest {
        let stored = try #require(try test.store.newest(role.description))
        let file = try JSONParser.parse(stored.bytes, maximumLength: stored.bytes.count)
        var signed = try #require(file["signed"]?.object)
        signed["version"] = .integer(stored.version + 1)
        change(&signed)
        let key = role == .targets ? test.targets : test.publisher
        let bytes = try Authoring.envelope(signing: .object(signed), by: [key])
        return CommitRequest(
            roles: [CommitRequest.Role(role: role.description, metadata: bytes)],
            targets: []
        )
    }

    @Test(
        "a file outside the shapes is refused, although its role's keys signed it, and nothing changes",
        arguments: ShapeAttack.all
    )
    func refused(attack: ShapeAttack) async throws {
        let test = try await TestRegistry()
        try await test.publishFirst()
        let before = try test.state()
        let request = try next(attack.role, of: test) { attack.spoil(&$0) }
        let error = await #expect(throws: RegistryError.self) {
            try await test.registry.commit(request, by: .administrator, now: TestRegistry.start)
        }
        guard case .untrusted(role: attack.role.description, let reason) = try #require(error) else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(reason.hasSuffix("not a shape that Sealift accepts: \(attack.reason)"), "\(reason)")
        #expect(try test.state() == before)
    }

    @Test("the same files without their attack are taken", arguments: Set(ShapeAttack.all.map(\.role)))
    func sound(role: RoleName) async throws {
        let test = try await TestRegistry()
        try await test.publishFirst()
        let request = try next(role, of: test) { _ in }
        _ = try await test.registry.commit(request, by: .administrator, now: TestRegistry.start)
        #expect(try test.store.newest(role.description)?.version == 2)
    }

    @Test(
        "what only a stolen online key could write is not taken from anybody",
        arguments: ShapeAttack.ofHold
    )
    func hold(attack: ShapeAttack) async throws {
        let test = try await TestRegistry()
        let before = try test.state()
        let stored = try #require(try test.store.newest(attack.role.description))
        let file = try JSONParser.parse(stored.bytes, maximumLength: stored.bytes.count)
        var signed = try #require(file["signed"]?.object)
        signed["version"] = .integer(stored.version + 1)
        attack.spoil(&signed)
        let bytes = try Authoring.envelope(signing: .object(signed), by: [test.online])
        let request = CommitRequest(
            roles: [CommitRequest.Role(role: attack.role.description, metadata: bytes)],
            targets: []
        )
        let error = await #expect(throws: RegistryError.self) {
            try await test.registry.commit(request, by: .administrator, now: TestRegistry.start)
        }
        guard case .unpostableRole(attack.role.description, _) = try #require(error) else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(try test.state() == before)
    }

    @Test(
        "a team's token never speaks for another team's model",
        arguments: ["audio", "audio~x", "audio~x~live"]
    )
    func foreign(role: String) async throws {
        let test = try await TestRegistry()
        try await test.publishFirst()
        let before = try test.state()
        let document = TargetsDocument(
            version: 1,
            expires: TestRegistry.start.adding(seconds: 86_400),
            targets: ["vision/detector/1.0.0.json": TargetFile(of: [])]
        )
        let bytes = try Authoring.envelope(signing: document, by: [test.publisher])
        let request = CommitRequest(roles: [CommitRequest.Role(role: role, metadata: bytes)], targets: [])
        await #expect(throws: RegistryError.forbidden(role: role, scope: "publish:vision")) {
            try await test.registry.commit(request, by: .token(test.token), now: TestRegistry.start)
        }
        // An administrator may post it, and no delegation stands behind it.
        let error = await #expect(throws: RegistryError.self) {
            try await test.registry.commit(request, by: .administrator, now: TestRegistry.start)
        }
        guard case .untrusted(role, _) = try #require(error) else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(try test.state() == before)
    }
}
