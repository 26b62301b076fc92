import CanonicalJSON
import Names
import Signing
import Support
import Testing
import Transfer
import Trust

/// Files that two readers could read differently, and keys that count twice.
@Suite("Attack: duplicates")
struct DuplicateTests {
    @Test(
        "a member that stands twice makes a file no file, also when it is written with an escape",
        arguments: [
            (#""version":3"#, #""version":3,"version":9"#),
            (#""version":3"#, #""vers\u0069on":9,"version":3"#),
            (#""signed":"#, #""signed":{},"signed":"#),
            (#""_type":"#, #""_type":"root","_type":"#),
        ]
    )
    func member(genuine: String, doubled: String) async throws {
        let world = try World()
        try await world.synchronise()
        try world.registry.change { repository in
            try repository.publishTimestamp()
            let text = String(decoding: repository.files["timestamp.json"] ?? [], as: UTF8.self)
            #expect(text.split(separator: genuine, omittingEmptySubsequences: false).count == 2)
            let lie = text.split(separator: genuine, omittingEmptySubsequences: false).joined(
                separator: doubled
            )
            repository.files["timestamp.json"] = Array(lie.utf8)
        }
        let before = world.store.contents
        var updater = world.updater()
        let error = await #expect(throws: UpdateError.self) { try await updater.refresh() }
        guard case .refused(.malformed(role: .timestamp, let reason)) = try #require(error) else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(reason.contains("a key twice"), "\(reason)")
        #expect(world.store.contents == before)
    }

    @Test("two signatures under one key ID are refused, valid or not", arguments: ["genuine", "00", ""])
    func signature(second: String) async throws {
        let world = try World()
        try await world.synchronise()
        let id = try #require(world.registry.repository.root.roles[.timestamp]?.keyIDs.first)
        try world.registry.change { repository in
            try repository.publishTimestamp()
            let bytes = repository.files["timestamp.json"] ?? []
            let file = try JSONParser.parse(bytes, maximumLength: bytes.count)
            let genuine = try #require(file["signatures"]?.array?.first)
            let forged = JSONValue.members(["keyid": .text(id), "sig": .text(second)])
            repository.files["timestamp.json"] =
                JSONValue.members([
                    "signatures": .array([genuine, second == "genuine" ? genuine : forged]),
                    "signed": try #require(file["signed"]),
                ]).compactJSON
        }
        try await world.expectRefusal(.duplicateSignature(role: .timestamp, keyID: id))
    }

    @Test("a role that names one key twice, or one role twice, is refused")
    func names() async throws {
        let world = try World()
        try await world.synchronise()
        try world.registry.change { repository in
            let id = try #require(repository.root.roles[.snapshot]?.keyIDs.first)
            repository.root.roles[.snapshot] = RoleKeys(keyIDs: [id, id], threshold: 2)
            try repository.publishRoot()
        }
        let twice = "`keyids` in `snapshot` is not a list without repetition"
        try await world.expectRefusal(.malformed(role: .root, reason: twice))
        let other = try World()
        try await other.synchronise()
        try other.registry.change { repository in
            let again = try #require(repository.roles[.targets]?.delegations?.roles.last)
            repository.roles[.targets]?.delegations?.roles.append(again)
            try repository.publish([.targets])
        }
        let role = "`roles` in `delegations` is not a list without repetition"
        try await other.expectRefusal(
            .malformed(role: .targets, reason: role),
            advancing: [.timestamp, .snapshot]
        )
    }

    @Test(
        "one public key under several IDs is one signer: by a foreign member, and by another encoding",
        arguments: ["member", "encoding"]
    )
    func publicKey(by way: String) async throws {
        let world = try World()
        try await world.synchronise()
        let key = try SoftwareKey.generate(.ecdsaP256)
        let first = KeyObject(key.publicKey)
        var object = try #require(first.value.object)
        if way == "member" {
            object["x-copy"] = .integer(2)
        } else {
            // The same point, written compressed.
            let compressed = try #require(Self.compressed(key.publicKey))
            object["keyval"] = .members(["public": .text(compressed)])
        }
        let second = JSONValue.object(object)
        let secondID = SHA256.digest(of: second.olpcCanonical).hex
        #expect(secondID != first.id)
        try world.registry.change { repository in
            repository.rewriting[.root] = { signed in
                guard var keys = signed["keys"]?.object, var roles = signed["roles"]?.object else { return }
                keys[first.id] = first.value
                keys[secondID] = second
                roles["snapshot"] = .members([
                    "keyids": .array([.text(first.id), .text(secondID)]), "threshold": .integer(2),
                ])
                signed["keys"] = .object(keys)
                signed["roles"] = .object(roles)
            }
            try repository.publishRoot()
            repository.signers[.snapshot] = [key]
            try repository.publishSnapshot()
            let name = "\(repository.snapshot.version).snapshot.json"
            let bytes = repository.files[name] ?? []
            let file = try JSONParser.parse(bytes, maximumLength: bytes.count)
            let signature = try #require(file["signatures"]?.array?.first?["sig"])
            let both = [first.id, secondID].map { JSONValue.members(["keyid": .text($0), "sig": signature]) }
            let forged = JSONValue.members([
                "signatures": .array(both), "signed": try #require(file["signed"]),
            ]).compactJSON
            repository.files[name] = forged
            repository.timestamp.snapshot = MetaFile(
                version: repository.snapshot.version,
                length: UInt64(forged.count),
                hashes: ["sha256": SHA256.digest(of: forged).bytes]
            )
            try repository.publishTimestamp()
        }
        let before = world.store.contents
        var updater = world.updater()
        let refused = TrustError.thresholdNotMet(role: .snapshot, valid: 1, needed: 2)
        await #expect(throws: UpdateError.refused(refused)) { try await updater.refresh() }
        for name in ["snapshot.json", "targets.json"] {
            #expect(world.store.contents[name] == before[name], "\(name)")
        }
    }

    /// The SubjectPublicKeyInfo of a P-256 key with its point compressed (SEC 1, 2.3.3).
    private static func compressed(_ key: PublicKey) -> String? {
        let lines = key.pem.split(separator: "\n").filter { !$0.hasPrefix("-") }
        guard let info = Base64.bytes(lines.joined()), info.count == 91 else { return nil }
        let point = info.suffix(65)
        let x = point.dropFirst().prefix(32)
        let sign: UInt8 = (point.last ?? 0).isMultiple(of: 2) ? 2 : 3
        let algorithm = info[2..<23]
        let encoded = [0x30, 0x39] + algorithm + [0x03, 0x22, 0x00, sign] + x
        return "-----BEGIN PUBLIC KEY-----\n\(Base64.text(encoded))\n-----END PUBLIC KEY-----\n"
    }
}
