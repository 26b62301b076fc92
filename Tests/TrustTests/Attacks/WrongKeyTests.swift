import CanonicalJSON
import Names
import Signing
import Support
import Testing
import Transfer
import Trust

@Suite("Attack: the wrong key, or one key as many")
struct WrongKeyTests {
    @Test(
        "the key of one role does not speak for another",
        arguments: [RoleName.timestamp, .targets, .release]
    )
    func otherRole(signer: RoleName) async throws {
        let world = try World()
        try await world.synchronise()
        try world.registry.change { repository in
            repository.signers[.live] = repository.signers[signer]
            try repository.publish([.live])
        }
        var updater = world.updater()
        let expected = TrustError.thresholdNotMet(role: .live, valid: 0, needed: 1)
        await #expect(throws: UpdateError.refused(expected)) {
            try await updater.refresh()
            _ = try await updater.role(.live(try #require(World.detector)))
        }
    }

    @Test("one key under two key IDs is one signer")
    func twice() throws {
        let key = try SoftwareKey.generate(.ecdsaP256)
        let second = try SoftwareKey.generate(.ecdsaP256)
        let quorum = Quorum(
            role: .timestamp,
            keys: ["a": key.publicKey, "b": key.publicKey, "c": second.publicKey],
            threshold: 2
        )
        let document = TimestampDocument(
            version: 1,
            expires: World.start,
            issued: nil,
            snapshot: MetaFile(version: 1)
        )
        let message = document.signed.olpcCanonical
        func file(_ signatures: [(String, SoftwareKey)]) throws -> [UInt8] {
            let listed = try signatures.map { id, key in
                JSONValue.members([
                    "keyid": .text(id), "sig": .text(Hex.text(try key.signature(of: message))),
                ])
            }
            return JSONValue.members(["signatures": .array(listed), "signed": document.signed]).compactJSON
        }
        #expect(throws: TrustError.thresholdNotMet(role: .timestamp, valid: 1, needed: 2)) {
            try Untrusted<TimestampDocument>(try file([("a", key), ("b", key)])).verified(by: quorum)
        }
        let verified = try Untrusted<TimestampDocument>(try file([("a", key), ("c", second)])).verified(
            by: quorum
        )
        #expect(verified.signers == ["a", "c"])
        #expect(throws: TrustError.duplicateSignature(role: .timestamp, keyID: "a")) {
            try Untrusted<TimestampDocument>(try file([("a", key), ("a", key)])).verified(by: quorum)
        }
    }

    @Test("an empty quorum is never met, whatever its threshold says", arguments: [0, 1, -1])
    func empty(threshold: Int) throws {
        let document = TimestampDocument(
            version: 1,
            expires: World.start,
            issued: nil,
            snapshot: MetaFile(version: 1)
        )
        let bytes = try Authoring.envelope(signing: document, by: [])
        let quorum = Quorum(role: .timestamp, keys: [String: PublicKey](), threshold: threshold)
        #expect(throws: TrustError.thresholdNotMet(role: .timestamp, valid: 0, needed: threshold)) {
            try Untrusted<TimestampDocument>(bytes).verified(by: quorum)
        }
    }

    @Test("a key listed under an ID that is not its digest is refused")
    func keyID() async throws {
        let world = try World()
        try await world.synchronise()
        let id = try #require(world.registry.repository.root.roles[.timestamp]?.keyIDs.first)
        let wrong = String(id.reversed())
        try world.registry.change { repository in
            repository.root.keys[wrong] = repository.root.keys.removeValue(forKey: id)
            try repository.publishRoot()
        }
        try await world.expectRefusal(.keyIDMismatch(role: .root, keyID: wrong, computed: id))
    }

    @Test("a key of a type that nobody knows is skipped, and the file stays readable")
    func unknownType() throws {
        let known = try SoftwareKey.generate(.ed25519)
        let unknown = JSONValue.members([
            "keytype": .text("ml-dsa"), "scheme": .text("ml-dsa-44"),
            "keyval": .members(["public": .text("00")]),
        ])
        let unknownID = SHA256.digest(of: unknown.olpcCanonical).hex
        let knownID = Authoring.keyID(of: known.publicKey)
        let roles = RoleKeys(keyIDs: [knownID, unknownID], threshold: 1)
        let root = RootDocument(
            version: 1,
            expires: World.start,
            keys: [KeyObject(known.publicKey)],
            roles: [.root: roles, .timestamp: roles, .snapshot: roles, .targets: roles],
            sealift: nil
        )
        guard case .object(var signed) = root.signed, case .object(var keys)? = signed["keys"] else {
            Issue.record("not an object")
            return
        }
        keys[unknownID] = unknown
        signed["keys"] = .object(keys)
        let bytes = try Authoring.envelope(signing: .object(signed), by: [known])
        let verified = try Untrusted<RootDocument>(bytes).verifiedByItself()
        #expect(verified.document.keys.count == 2)
        #expect(try verified.document.quorum(for: .targets).keys == [knownID: known.publicKey])
    }
}
