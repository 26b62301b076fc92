import Names
import Publishing
import Signing
import Testing
import Trust

@Suite("Rotation and revocation")
struct RotationTests {
    private var world: SignedState

    init() throws { world = try SignedState() }

    private func replacing(_ old: SoftwareKey, by new: SoftwareKey) throws -> RegistryDraft {
        var change = KeyChange()
        change.adding = [new.publicKey]
        change.removing = [Test.id(old)]
        return try world.draft { try $0.rotate(.root, change) }
    }

    @Test("a root needs the old threshold and its own; every root a device may be pinned to leads there")
    mutating func twice() throws {
        let fourth = try SoftwareKey.generate(.ecdsaP256)
        let draft = try replacing(world.roots[2], by: fourth)
        let half = try world.signed(draft, by: [world.roots[0], fourth])
        let missing = try half.missing(on: world.state)
        #expect(missing.map(\.valid) == [1] && missing.map(\.needed) == [2])
        #expect(missing.first?.candidates.contains(Test.id(world.roots[1])) == true)
        #expect(missing.first?.candidates.contains(Test.id(fourth)) == false, "the old keys are short")
        #expect {
            try Rehearsal.check(half, on: world.state, now: SignedState.now)
        } throws: { "\($0)".contains("strand") && "\($0)".contains("pinned to root 1") }
        try world.take(try world.signed(draft, by: [world.roots[0], world.roots[1]]))

        let fifth = try SoftwareKey.generate(.ed25519)
        let second = try replacing(world.roots[1], by: fifth)
        try world.take(try world.signed(second, by: [world.roots[0], world.roots[1], fourth]))
        #expect(world.state.roots.map(\.document.version) == [1, 2, 3])
        let keys = try #require(world.state.roots.last?.document.keys)
        #expect(
            keys[Test.id(world.roots[1])] == nil && keys[Test.id(world.roots[2])] == nil,
            "unnamed keys leave"
        )
    }

    @Test("a change of the administrators' keys makes them sign their role again")
    mutating func administrators() throws {
        let successor = try SoftwareKey.generate(.ecdsaP256)
        var change = KeyChange()
        change.adding = [successor.publicKey]
        change.removing = [Test.id(world.administrator)]
        let draft = try world.draft { try $0.rotate(.targets, change) }
        let proposal = try world.signed(draft, by: [world.roots[0], world.roots[1]])
        #expect(proposal.roles.map { "\($0.role)" } == ["root", "targets"])
        #expect(try proposal.missing(on: world.state).map(\.candidates) == [[Test.id(successor)]])
        try world.take(try world.signed(draft, by: [world.roots[0], world.roots[1], successor]))
    }

    @Test("whoever signs a root reads its log and its lifetimes from the bytes to be signed")
    func shown() throws {
        let draft = try world.draft { draft in
            try draft.editRoot("a harmless word") { root in
                root.sealift?.logOrigin = "evil.example/log"
                root.sealift?.logKeys = [.init(verifierKey: "evil+key", from: 7)]
                root.sealift?.maximumLifetimes[.snapshot] = 3 * 86_400
            }
        }
        let proposal = try draft.proposal()
        let words = proposal.statements(of: try #require(proposal.roles.first)).joined(separator: "\n")
        #expect(words.contains("the log is evil.example/log"))
        #expect(words.contains("evil+key, from size 7 on"))
        #expect(words.contains("snapshot lives at most 3 days"))
        #expect(words.contains("root is signed by 2 of"))
    }

    @Test("what devices would refuse is said before anybody signs")
    func rehearsedUnsigned() throws {
        for spoil: (inout RootDocument) -> Void in [
            { $0.expires = SignedState.now }, { $0.consistentSnapshot = false }, { $0.sealift = nil },
            { $0.sealift?.maximumLifetimes[.targets] = 1 << 40 },
        ] {
            let draft = try world.draft { draft in try draft.editRoot { spoil(&$0) } }
            #expect {
                try Rehearsal.checkContents(try draft.proposal(), on: world.state, now: SignedState.now)
            } throws: { "\($0)".contains("strand") }
        }
        let sound = try replacing(world.roots[2], by: try SoftwareKey.generate(.ecdsaP256))
        try Rehearsal.checkContents(try sound.proposal(), on: world.state, now: SignedState.now)
    }

    @Test("snapshot and timestamp are the registry's and cannot be rotated here")
    func online() throws {
        var change = KeyChange()
        change.threshold = 1
        #expect(throws: PublishingError.self) { _ = try world.draft { try $0.rotate(.snapshot, change) } }
        #expect {
            _ = try world.draft { try $0.revoke(Test.id(world.online), replacement: nil) }
        } throws: { "\($0)".contains("--role online") }
    }

    @Test("a rotation that changes nothing, drops a stranger, or can never be signed is refused")
    func pointless() throws {
        var same = KeyChange()
        same.threshold = 2
        #expect(throws: PublishingError.self) { _ = try world.draft { try $0.rotate(.root, same) } }
        var stranger = KeyChange()
        stranger.removing = [String(repeating: "0", count: 64)]
        #expect(throws: PublishingError.self) { _ = try world.draft { try $0.rotate(.root, stranger) } }
        var impossible = KeyChange()
        impossible.threshold = 4
        #expect(throws: PublishingError.self) { _ = try world.draft { try $0.rotate(.root, impossible) } }
    }

    @Test("a revoked key leaves every role, and all that hung from it is signed again by its successor")
    mutating func revocation() throws {
        let model = try Test.model()
        let grant = Test.grant(world.team)
        let publication = try world.draft { draft in
            try draft.addModel(model, release: grant, live: grant)
            try draft.list("\(model)/1.0.0.json", [1], in: .release(model))
        }
        try world.take(try world.signed(publication, by: [world.team]))
        let successor = try SoftwareKey.generate(.ecdsaP256)
        let id = Test.id(world.team)
        #expect {
            _ = try world.draft { try $0.revoke(id, replacement: nil) }
        } throws: { "\($0)".contains("0 keys and need 1") }

        var named: [RoleName] = []
        let draft = try world.draft { named = try $0.revoke(id, replacement: successor.publicKey) }
        #expect(named.map(\.description) == ["vision", "vision~detector~live", "vision~detector"])
        let half = try world.signed(draft, by: [world.administrator])
        #expect(half.roles.map { "\($0.role)" } == ["targets", "vision", "vision~detector"])
        #expect(try half.missing(on: world.state).map { "\($0.role)" } == ["vision", "vision~detector"])
        #expect(try half.missing(on: world.state).allSatisfy { $0.candidates == [Test.id(successor)] })
        try world.take(try world.signed(draft, by: [world.administrator, successor]))
        #expect(world.state.released(of: model).count == 1, "what was released stays")

        var next = try world.draft { try $0.list("\(model)/1.1.0.json", [2], in: .release(model)) }.proposal()
        #expect(try next.sign(by: world.team).isEmpty)
        #expect(try next.sign(by: successor).map(\.description) == ["vision~detector"])
        #expect {
            _ = try world.draft { try $0.revoke(id, replacement: nil) }
        } throws: { "\($0)".contains("no role here names") }
    }

    @Test("a team gets a second key and a threshold, signed above it, and signs its own role again")
    mutating func team() throws {
        let second = try SoftwareKey.generate(.ecdsaP256)
        let model = try Test.model()
        let grant = Test.grant(world.team)
        let first = try world.draft { try $0.addModel(model, release: grant, live: grant) }
        try world.take(try world.signed(first, by: [world.team]))
        var change = KeyChange()
        change.adding = [second.publicKey]
        change.threshold = 2
        let draft = try world.draft { try $0.changeKeys(of: model.namespace, change) }
        #expect(draft.notes.contains("vision needs 2 signatures instead of 1"))
        let half = try world.signed(draft, by: [world.administrator, world.team])
        #expect(half.roles.map { "\($0.role)" } == ["targets", "vision"])
        #expect(try half.missing(on: world.state).map(\.candidates) == [[Test.id(second)]])
        try world.take(try world.signed(draft, by: [world.administrator, world.team, second]))
        let stranger = try #require(Namespace("audio"))
        #expect {
            _ = try world.draft { try $0.changeKeys(of: stranger, change) }
        } throws: { "\($0)".contains("there is no audio here") }
    }

    @Test("the beginning of a key ID as shown names the key; one that fits none is refused")
    func prefixes() throws {
        let id = Test.id(world.roots[2])
        for text in [id, KeyID.short(id), String(id.prefix(8))] {
            let digits = try #require(KeyID.digits(text))
            var change = KeyChange()
            change.removing = [digits]
            let draft = try world.draft { try $0.rotate(.root, change) }
            #expect(draft.root.roles[.root]?.keyIDs.contains(id) == false)
        }
        let team = String(Test.id(world.team).prefix(10))
        let successor = try SoftwareKey.generate(.ecdsaP256)
        let revoked = try world.draft { try $0.revoke(team, replacement: successor.publicKey) }
        #expect(revoked.notes.contains { $0.contains("may no longer sign vision") })
        for text in ["1234567", "ABCDEF0123", "vision.pem", id + "0", ""] {
            #expect(KeyID.digits(text) == nil)
        }
    }
}
