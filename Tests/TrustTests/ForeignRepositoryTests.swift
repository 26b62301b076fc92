import CanonicalJSON
import Names
import Signing
import Support
import Testing
import Transfer
import Trust

/// Keys and files with what other tools add to them.
@Suite("Repositories of other tools")
struct ForeignRepositoryTests {
    @Test(
        "a key with members that TUF does not define signs a root that needs it, under either of its IDs",
        arguments: [
            ("x-note", .text("safe 2")), ("x-note", .null), ("keyid_hash_algorithms", .text("sha256")),
            ("keyid_hash_algorithms", .array([.text("sha256"), .text("sha512")])),
            ("keyid_hash_algorithms", .integer(256)),
        ] as [(String, JSONValue)],
        [true, false]
    )
    func member(_ member: (name: String, value: JSONValue), isPartOfID: Bool) async throws {
        let world = try World()
        try await world.synchronise()
        let old = try #require(world.registry.repository.signers[.root])
        let new = try SoftwareKey.generate(.ecdsaP256)
        let plainID = Authoring.keyID(of: new.publicKey)
        var changed = try #require(KeyObject(new.publicKey).value.object)
        changed[member.name] = member.value
        let key = JSONValue.object(changed)
        let id = isPartOfID ? SHA256.digest(of: key.olpcCanonical).hex : plainID
        #expect((id == plainID) != isPartOfID)
        world.registry.change { repository in
            repository.rewriting[.root] = { signed in
                guard var keys = signed["keys"]?.object, var roles = signed["roles"]?.object,
                    let ids = roles["root"]?["keyids"]?.array
                else { return }
                keys[id] = key
                roles["root"] = .members(["keyids": .array(ids + [.text(id)]), "threshold": .integer(2)])
                signed["keys"] = .object(keys)
                signed["roles"] = .object(roles)
            }
        }
        // Root 2 appoints the key, root 3 needs it.
        for _ in 2...3 {
            try world.registry.change { repository in
                try repository.publish(.root, by: old + [new])
                try repository.rewriteSignatures(of: .root) { signatures in
                    let place = try #require(signatures.firstIndex { $0["keyid"]?.string == plainID })
                    let signature = try #require(signatures[place]["sig"])
                    signatures[place] = .members(["keyid": .text(id), "sig": signature])
                }
            }
            try await world.synchronise()
            world.expectStored(.root)
        }
        try world.registry.change { try $0.publish(.root, by: old) }
        try await world.expectRefusal(.thresholdNotMet(role: .root, valid: 1, needed: 2))
    }

    // MARK: tuf-on-ci

    /// A plain repository with the members that tuf-on-ci adds, indented as it indents.
    ///
    /// Of three owners two must sign; one has not, and stands there with an empty
    /// signature. One key signs snapshot and timestamp, which list versions alone.
    /// Keys have IDs without the members that were added.
    private func tufOnCI(owners: [SoftwareKey], signing: Int) throws -> SimulatedRepository {
        var repository = try SimulatedRepository(now: World.start, sealift: nil)
        let online = try SoftwareKey.generate(.ecdsaP256)
        repository.root.keys = [:]
        repository.list(owners, threshold: 2, for: .root)
        repository.list(owners, threshold: 2, for: .targets)
        repository.list([online], threshold: 1, for: .timestamp)
        repository.list([online], threshold: 1, for: .snapshot)
        let signers = Array(owners.prefix(signing))
        repository.signers = [
            .root: signers, .targets: signers, .timestamp: [online], .snapshot: [online],
            "registry.npmjs.org": [owners[0]],
        ]
        try repository.delegate("registry.npmjs.org", by: .targets, paths: ["registry.npmjs.org/*"])
        let artifact: TargetPath = "registry.npmjs.org/keys.json"
        repository.roles["registry.npmjs.org"]?.targets[artifact] = TargetFile(of: [1])
        let ownerIDs = owners.map { Authoring.keyID(of: $0.publicKey) }
        repository.rewriting[.root] = { signed in
            Self.addPeriods(&signed)
            guard var keys = signed["keys"]?.object, var roles = signed["roles"]?.object else { return }
            for member in keys.members {
                guard var key = member.value.object else { continue }
                if let owner = ownerIDs.firstIndex(of: member.key.string) {
                    key["x-tuf-on-ci-keyowner"] = .text("@owner-\(owner)")
                } else {
                    key["x-tuf-on-ci-online-uri"] = .text("gcpkms:projects/example/keys/timestamp")
                }
                keys[member.key.string] = .object(key)
            }
            for name in ["snapshot", "timestamp"] {
                guard var role = roles[name]?.object else { continue }
                Self.addPeriods(&role)
                roles[name] = .object(role)
            }
            signed["keys"] = .object(keys)
            signed["roles"] = .object(roles)
        }
        repository.rewriting[.targets] = Self.addPeriods
        repository.rewriting["registry.npmjs.org"] = Self.addPeriods
        repository.files = [:]
        repository.root.version = 1
        try repository.publishRoot()
        try repository.publish()
        for role in [RoleName.root, .targets] {
            try repository.rewriteSignatures(of: role) { signatures in
                signatures += ownerIDs.dropFirst(signing).map {
                    .members(["keyid": .text($0), "sig": .text("")])
                }
            }
        }
        repository.timestamp.snapshot = MetaFile(version: repository.snapshot.version)
        try repository.signTimestamp()
        repository.files = try repository.files.mapValues { bytes in
            Array(Self.indented(try JSONParser.parse(bytes, maximumLength: bytes.count)).utf8)
        }
        return repository
    }

    @Sendable private static func addPeriods(_ object: inout JSONObject) {
        object["x-tuf-on-ci-expiry-period"] = .integer(365)
        object["x-tuf-on-ci-signing-period"] = .integer(60)
    }

    private static func indented(_ value: JSONValue, depth: Int = 0) -> String {
        func lines(_ opening: String, _ inside: [String], _ closing: String) -> String {
            let margin = "\n" + String(repeating: " ", count: depth)
            return opening + inside.map { margin + " " + $0 }.joined(separator: ",") + margin + closing
        }
        switch value {
        case .object(let object) where !object.isEmpty:
            let members = object.members.map { member in
                indented(.string(member.key)) + ": " + indented(member.value, depth: depth + 1)
            }
            return lines("{", members, "}")
        case .array(let elements) where !elements.isEmpty:
            return lines("[", elements.map { indented($0, depth: depth + 1) }, "]")
        default: return String(decoding: value.compactJSON, as: UTF8.self)
        }
    }

    @Test("a repository as tuf-on-ci writes it: extra members everywhere, empty signatures, indentation")
    func publishedByTUFOnCI() async throws {
        let owners = try (0..<3).map { _ in try SoftwareKey.generate(.ecdsaP256) }
        let repository = try tufOnCI(owners: owners, signing: 2)
        let root = String(decoding: try #require(repository.files["1.root.json"]), as: UTF8.self)
        #expect(root.contains("\n   \"sig\": \"\""))
        #expect(root.contains("\n    \"x-tuf-on-ci-keyowner\": \"@owner-2\""))
        let world = try World(plain: ())
        world.registry.change { $0 = repository }
        var updater = try await world.synchronise()
        #expect(try await updater.target("registry.npmjs.org/keys.json") == TargetFile(of: [1]))
        world.expectStored(.root, .timestamp, .snapshot, .targets, "registry.npmjs.org")
        #expect(updater.root?.signers.count == 2)
    }

    @Test("empty signatures of two of its three owners leave the targets role unsigned")
    func unsignedByTUFOnCI() async throws {
        let owners = try (0..<3).map { _ in try SoftwareKey.generate(.ecdsaP256) }
        let world = try World(plain: ())
        let complete = try tufOnCI(owners: owners, signing: 2)
        let incomplete = try tufOnCI(owners: owners, signing: 1)
        world.registry.change { $0 = incomplete }
        var updater = world.updater()
        let root = TrustError.thresholdNotMet(role: .root, valid: 1, needed: 2)
        await #expect(throws: UpdateError.refused(root)) { try await updater.refresh() }
        #expect(world.registry.takeRequests() == [])
        world.registry.change { repository in
            repository = complete
            repository.files["1.targets.json"] = incomplete.files["1.targets.json"]
            repository.files["2.targets.json"] = incomplete.files["2.targets.json"]
        }
        updater = world.updater()
        let targets = TrustError.thresholdNotMet(role: .targets, valid: 1, needed: 2)
        await #expect(throws: UpdateError.refused(targets)) { try await updater.refresh() }
        world.expectStored(.root, .timestamp, .snapshot)
        #expect(world.store.contents["targets.json"] == nil)
    }
}
