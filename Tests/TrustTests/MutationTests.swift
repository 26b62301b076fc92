import CanonicalJSON
import Names
import Signing
import Support
import Testing
import Transfer
import Trust

/// Damage by a seed: any bytes must end in a typed refusal, or say exactly what was signed.
@Suite("Mutated files")
struct MutationTests {
    static let seeds: [UInt64] = [1, 2, 3, 4]

    private let repository: SimulatedRepository
    private let root: RootDocument

    init() throws {
        repository = try SimulatedRepository.sealift(try #require(World.detector), now: World.start)
        let bytes = try #require(repository.files["1.root.json"])
        root = try Untrusted<RootDocument>(bytes).verifiedByItself().document
    }

    /// Flips, drops, doubles or replaces a few bytes.
    private func mutated(_ bytes: [UInt8], _ random: inout Seeded) -> [UInt8] {
        var bytes = bytes
        for _ in 0...Int.random(in: 0...2, using: &random) where !bytes.isEmpty {
            let index = Int.random(in: bytes.indices, using: &random)
            switch Int.random(in: 0..<4, using: &random) {
            case 0: bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            case 1: bytes.remove(at: index)
            case 2: bytes.insert(bytes[index], at: index)
            default: bytes[index] = UInt8.random(in: 0...255, using: &random)
            }
        }
        return bytes
    }

    private static func value(_ random: inout Seeded) -> JSONValue {
        let pool: [JSONValue] = [
            .null, .bool(true), .integer(0), .integer(-1), .integer(.max), .integer(.min),
            .bigInteger(Array("99999999999999999999999".utf8)), .text(""), .text("\u{0}"), .text("../../x"),
            .text(String(repeating: "é", count: 300)), .text("2026-02-30T25:61:61Z"), .array([]),
            .array([.array([.array([])])]), .object(JSONObject()), .members(["keyids": .null]),
            .text(String(repeating: "0", count: 64)), .text("-----BEGIN PUBLIC KEY-----\nAA==\n"),
        ]
        return pool.randomElement(using: &random) ?? .null
    }

    /// Replaces, drops or adds something at a place that the seed finds.
    private func rearranged(_ value: JSONValue, _ random: inout Seeded) -> JSONValue {
        guard Int.random(in: 0..<6, using: &random) > 0 else { return Self.value(&random) }
        switch value {
        case .object(var object):
            guard let key = object.keys.randomElement(using: &random) else { return Self.value(&random) }
            switch Int.random(in: 0..<10, using: &random) {
            case 0: object[key] = nil
            case 1: object[key + "\u{301}"] = object[key]
            default: object[key] = object[key].map { rearranged($0, &random) }
            }
            return .object(object)
        case .array(var elements):
            guard let place = elements.indices.randomElement(using: &random) else {
                return Self.value(&random)
            }
            if Bool.random(using: &random) { elements.append(elements[place]) }
            elements[place] = rearranged(elements[place], &random)
            return .array(elements)
        default: return Self.value(&random)
        }
    }

    private func check<Document: SignedDocument & Equatable>(
        _ role: RoleName,
        _ name: String,
        _ random: inout Seeded,
        as: Document.Type
    ) throws {
        let parent = SealiftRole(role)?.delegator?.roleName
        let delegator = parent.flatMap { repository.roles[$0] }
        let quorum =
            if let parent, let delegator { try delegator.quorum(for: role, named: parent) } else {
                try root.quorum(for: role)
            }
        let genuine = try #require(repository.files[name])
        let document = try Untrusted<Document>(genuine).verified(by: quorum).document
        var refusals = 0
        for _ in 0..<120 {
            let bytes = mutated(genuine, &random)
            do throws(TrustError) {
                let found = try Untrusted<Document>(bytes).verified(by: quorum)
                #expect(found.document == document)
                #expect(found.bytes == bytes)
            } catch {
                refusals += 1
                #expect(!error.description.isEmpty)
            }
        }
        #expect(refusals > 90)
        // The same, but the role's own keys sign what came of it: what decodes is judged, and nothing traps.
        for _ in 0..<120 {
            let signed = rearranged(document.signed, &random)
            let bytes = try Authoring.envelope(signing: signed, by: repository.signers[role] ?? [])
            do throws(TrustError) {
                let found = try Untrusted<Document>(bytes).verified(by: quorum).document
                _ = found.signed.compactJSON
                if let targets = found as? TargetsDocument, let sealift = SealiftRole(role) {
                    try SealiftShapes.check(sealift, document: targets)
                    // What was checked where it stands can be read, every file of it.
                    #expect(targets.targets.keys.count == targets.targets.count)
                } else if let root = found as? RootDocument {
                    try SealiftShapes.check(root: root)
                    for role in [RoleName.root, .timestamp, .snapshot, .targets] {
                        _ = try root.quorum(for: role)
                    }
                } else if let snapshot = found as? SnapshotDocument {
                    try SealiftShapes.check(snapshot: snapshot)
                }
            } catch {
                #expect(!error.description.isEmpty)
            }
        }
    }

    @Test("of top-level roles, by anybody and by the role's own signer", arguments: seeds)
    func topLevel(seed: UInt64) throws {
        var random = Seeded(state: seed)
        try check(.root, "1.root.json", &random, as: RootDocument.self)
        try check(.timestamp, "timestamp.json", &random, as: TimestampDocument.self)
        try check(.snapshot, "2.snapshot.json", &random, as: SnapshotDocument.self)
        try check(.targets, "2.targets.json", &random, as: TargetsDocument.self)
    }

    @Test("of delegated roles, by anybody and by the role's own signer", arguments: seeds)
    func delegated(seed: UInt64) throws {
        var random = Seeded(state: seed)
        for role in [RoleName.vision, .release, .live, .hold] {
            try check(role, "1.\(role).json", &random, as: TargetsDocument.self)
        }
    }

    @Test("keys and signatures: what is damaged is no key, or another, and signs nothing", arguments: seeds)
    func keys(seed: UInt64) throws {
        var random = Seeded(state: seed)
        let message = Array("message".utf8)
        for algorithm in [KeyAlgorithm.ed25519, .ecdsaP256] {
            let key = try SoftwareKey.generate(algorithm)
            let genuine = key.publicKey
            let signature = try key.signature(of: message)
            for _ in 0..<150 {
                let text = String(decoding: mutated(Array(genuine.publicText.utf8), &random), as: UTF8.self)
                let read = PublicKey(keytype: genuine.keytype, scheme: genuine.scheme, publicText: text)
                if let read, read != genuine { #expect(!read.isValid(signature, for: message)) }
                _ = PublicKey(pem: String(decoding: mutated(Array(genuine.pem.utf8), &random), as: UTF8.self))
                _ = PublicKey(publicKeyInfo: mutated(genuine.publicKeyInfo, &random))
                let forged = mutated(signature, &random)
                #expect(forged == signature || !genuine.isValid(forged, for: message))
                let other = mutated(message, &random)
                #expect(other == message || !genuine.isValid(signature, for: other))
            }
            for type in ["", "rsa", "ed25519 ", "ECDSA", "ecdsa-sha2-nistp256\u{0}"] {
                let scheme = genuine.scheme
                #expect(PublicKey(keytype: type, scheme: scheme, publicText: genuine.publicText) == nil)
                #expect(PublicKey(keytype: scheme, scheme: type, publicText: genuine.publicText) == nil)
            }
        }
    }

    @Test("names of roles and targets: any text is a safe file name, and matching ends", arguments: seeds)
    func names(seed: UInt64) {
        var random = Seeded(state: seed)
        let seedlings = [
            "vision~detector~live", "../../etc/passwd", "a/*/?", "é\u{0}\n%2F", "*a*a*a*b", "root", ".",
        ]
        for _ in 0..<400 {
            let genuine = seedlings.randomElement(using: &random) ?? ""
            let text = String(decoding: mutated(Array(genuine.utf8), &random), as: UTF8.self)
            let role = RoleName(text)
            #expect(role.description == text)
            for name in [role.fileName, TargetPath(text).fileName] {
                #expect(name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != 0x2F }, "\(name)")
                #expect(name != "." && name != ".." && !name.isEmpty)
            }
            if let known = SealiftRole(name: text) { #expect(known.name == text) }
            let pattern = String(decoding: mutated(Array(genuine.utf8), &random), as: UTF8.self)
            if TargetPath(text).matches(pattern) {
                #expect(text.utf8.count(where: { $0 == 0x2F }) == pattern.utf8.count(where: { $0 == 0x2F }))
            }
        }
    }

    @Test(
        "served to a device, they end in a typed refusal and leave what was trusted",
        arguments: [1, 2] as [UInt64]
    )
    func served(seed: UInt64) async throws {
        var random = Seeded(state: seed)
        let world = try World()
        try await world.synchronise()
        try world.registry.change { repository in
            try repository.publishRoot()
            try repository.publish()
        }
        let genuine = world.registry.repository.files
        let before = world.store.contents
        let names = ["2.root.json", "timestamp.json", "3.snapshot.json", "3.targets.json", "2.vision.json"]
        let vision = SealiftRole.namespace(try #require(Namespace("vision")))
        for _ in 0..<20 {
            let name = try #require(names.randomElement(using: &random))
            let bytes = mutated(genuine[name] ?? [], &random)
            world.registry.change { $0.files[name] = bytes }
            var updater = world.updater()
            do throws(UpdateError) {
                try await updater.refresh()
                _ = try await updater.role(vision)
            } catch {
                #expect(!error.description.isEmpty)
                let stored = String(name.drop { $0.isNumber }.drop { $0 == "." })
                #expect(world.store.contents[stored] == before[stored], "\(name): \(error)")
            }
            world.registry.change { $0.files = genuine }
            world.store.contents = before
        }
    }
}
