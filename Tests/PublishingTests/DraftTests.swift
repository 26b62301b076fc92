import Manifest
import Names
import Publishing
import RegistryAPI
import Signing
import Testing
import Trust

@Suite("Drafts and proposals")
struct DraftTests {
    private var world: SignedState

    init() throws { world = try SignedState() }

    /// One released version, put into use, by the team's own key.
    private func publication(_ version: String, key: SoftwareKey? = nil) throws -> RegistryDraft {
        let model = try Test.model()
        return try world.draft { draft in
            if !draft.hasModel(model) {
                let grant = Test.grant(key ?? world.team)
                try draft.addModel(model, release: grant, live: grant)
            }
            let content = Array(version.utf8)
            try draft.list("\(model)/\(version).json", content, in: .release(model))
            let listed = ListedVersion(
                version: try Test.version(version),
                manifest: SHA256.digest(of: content)
            )
            let channel = try #require(ChannelName("stable"))
            try draft.editLive(model, "\(version) on stable") { live throws(ManifestError) in
                try live.adding(listed, to: channel)
            }
        }
    }

    @Test("a model's first version brings namespace, live and release role, as long as the root allows")
    mutating func first() throws {
        let proposal = try world.signed(try publication("1.0.0"), by: [world.team])
        #expect(proposal.roles.map { "\($0.role)" } == ["vision", "vision~detector", "vision~detector~live"])
        #expect(proposal.targets.map(\.path) == ["vision/detector/1.0.0.json", "vision/detector/live.json"])
        #expect(proposal.roles.allSatisfy { $0.version == 1 })
        let expires = SignedState.now.adding(seconds: SignedState.lifetime)
        #expect(proposal.roles.allSatisfy { $0.expires == expires })
        try world.take(proposal)
        let names = world.state.roles[.namespace(try Test.model().namespace)]?.document.delegations?.roles
        #expect(names?.map(\.name) == ["vision~detector~live", "vision~detector"], "live first")
    }

    @Test("a later version leaves the namespace alone and keeps what is listed")
    mutating func later() throws {
        try world.take(try world.signed(try publication("1.0.0"), by: [world.team]))
        let proposal = try world.signed(try publication("1.1.0"), by: [world.team])
        #expect(proposal.roles.map { "\($0.role)" } == ["vision~detector", "vision~detector~live"])
        #expect(proposal.roles.allSatisfy { $0.version == 2 })
        try world.take(proposal)
        #expect(world.state.released(of: try Test.model()).count == 2)
        #expect(try world.state.live(of: try Test.model()).channels.values.first?.versions.count == 2)
    }

    @Test("a key that no role names signs nothing, and it is said whose signature is missing")
    func stranger() throws {
        let stranger = try SoftwareKey.generate(.ecdsaP256)
        var proposal = try publication("1.0.0").proposal()
        #expect(try proposal.sign(by: stranger).isEmpty)
        let missing = try proposal.missing(on: world.state)
        #expect(missing.map { "\($0.role)" } == ["vision", "vision~detector", "vision~detector~live"])
        #expect(
            missing.allSatisfy { $0.candidates == [Test.id(world.team)] && $0.valid == 0 && $0.needed == 1 }
        )
        #expect(throws: PublishingError.self) {
            try Rehearsal.check(proposal, on: world.state, now: SignedState.now)
        }
    }

    @Test(
        "a namespace that takes two signatures has models that take two, and any key alone its models alone"
    )
    func inherited() throws {
        let (other, model) = (try SoftwareKey.generate(.ecdsaP256), try Test.model("audio/tagger"))
        for threshold in [1, 2] {
            let grant = RoleGrant(keys: [world.team.publicKey, other.publicKey], threshold: threshold)
            let proposal = try world.draft { draft in
                try draft.addNamespace(model.namespace, grant: grant)
                try draft.introduce(model, by: [other.publicKey])
            }.proposal()
            let namespace = try #require(proposal.roles.first { "\($0.role)" == "audio" })
            let roles = try #require(
                try TargetsDocument(signed: namespace.signed, role: namespace.role).delegations?.roles
            )
            let all = grant.keys.map { Authoring.keyID(of: $0) }.sorted()
            #expect(roles.map(\.roleKeys.threshold) == [threshold, threshold])
            let wanted = threshold == 2 ? all : [Test.id(other)]
            #expect(roles.allSatisfy { $0.roleKeys.keyIDs.sorted() == wanted })
        }
    }

    @Test("a namespace that the administrators never added is refused, and it is said who adds one")
    func unknownNamespace() throws {
        #expect {
            _ = try world.draft { draft in
                let grant = Test.grant(world.team)
                try draft.addModel(try Test.model("audio/tagger"), release: grant, live: grant)
            }
        } throws: { "\($0)".contains("no namespace audio") && "\($0)".contains("namespace add") }
    }

    @Test("an added namespace needs the administrators' signature and leaves the others alone")
    mutating func namespace() throws {
        let audio = try SoftwareKey.generate(.ecdsaP256)
        let namespace = try #require(Namespace("audio"))
        let draft = try world.draft { draft in
            try draft.addNamespace(namespace, grant: Test.grant(audio), owner: OwnerName("Audio"))
        }
        let alone = try world.signed(draft, by: [world.team])
        #expect(try Proposal(alone.bytes).request.owners == ["audio": try #require(OwnerName("Audio"))])
        #expect(try alone.missing(on: world.state).map(\.candidates) == [[Test.id(world.administrator)]])
        try world.take(try world.signed(draft, by: [world.administrator]))
        let names = world.state.roles[.targets]?.document.delegations?.roles.map(\.name)
        #expect(names == ["vision", "audio"])
        #expect(throws: PublishingError.self) {
            _ = try world.draft { draft in
                try draft.addNamespace(namespace, grant: Test.grant(audio), owner: OwnerName("Audio"))
            }
        }
    }

    @Test(
        "a threshold that the keys can never meet is refused",
        arguments: [(0, 1), (2, 1), (1, 0), (3, 2)]
    )
    func impossible(threshold: Int, count: Int) throws {
        let keys = try (0..<count).map { _ in try SoftwareKey.generate(.ecdsaP256).publicKey }
        let namespace = try #require(Namespace("audio"))
        #expect(throws: PublishingError.self) {
            _ = try world.draft { draft in
                let grant = RoleGrant(keys: keys, threshold: threshold)
                try draft.addNamespace(namespace, grant: grant, owner: nil)
            }
        }
    }

    @Test("a proposal comes out of its file as it went in, and foreign files are told apart")
    func file() throws {
        let proposal = try world.signed(try publication("1.0.0"), by: [world.team])
        let read = try Proposal(proposal.bytes)
        #expect(read == proposal)
        #expect(read.request.bytes == proposal.request.bytes)
        #expect(throws: PublishingError.self) { try Proposal(Array("{}".utf8)) }
        #expect(throws: PublishingError.self) { try Proposal([0xFF, 0x00]) }
        var other = read
        #expect(throws: PublishingError.self) { try other.merge(try publication("1.1.0").proposal()) }
        #expect(other == read)
    }

    @Test("signatures of copies come together, and a spoilt one does not count")
    func copies() throws {
        var change = KeyChange()
        change.threshold = 3
        let draft = try world.draft { try $0.rotate(.root, change) }
        var first = try world.signed(draft, by: [world.roots[0]])
        try first.merge(try world.signed(draft, by: [world.roots[1], world.roots[2]]))
        #expect(try first.missing(on: world.state).isEmpty)
        var spoilt = try world.signed(draft, by: [world.roots[0], world.roots[1]])
        let foreign = try world.signed(try world.draft { try $0.renew(.root) }, by: [world.roots[2]])
        let text = String(decoding: spoilt.bytes, as: UTF8.self)
        let signature = Hex.text(try #require(spoilt.roles[0].signatures[Test.id(world.roots[1])]))
        let other = Hex.text(try #require(foreign.roles[0].signatures[Test.id(world.roots[2])]))
        spoilt = try Proposal(Array(text.split(separator: signature).joined(separator: other).utf8))
        let missing = try spoilt.missing(on: world.state)
        #expect(missing.map(\.valid) == [1, 1] && missing.map(\.needed) == [2, 3])
    }

    @Test("refresh takes what the keys at hand may sign and reports the rest")
    mutating func refresh() throws {
        try world.take(try world.signed(try publication("1.0.0"), by: [world.team]))
        let limit = SignedState.now.adding(seconds: 60 * 86_400)
        let some = try world.draft { try $0.refresh(expiringBefore: limit, by: [Test.id(world.team)]) }
        #expect(some.isEmpty, "the team's roles are young, targets is not theirs")
        let left = try world.state.ending(before: limit)
        #expect(left.map(\.role) == [.targets])
        #expect(left.first?.keyIDs == [Test.id(world.administrator)] && left.first?.threshold == 1)
        #expect(left.first?.words(naming: [:], now: SignedState.now).contains("ends in 30 days") == true)
        let all = try world.draft {
            try $0.refresh(expiringBefore: limit, by: [Test.id(world.administrator)])
        }
        #expect(try world.state.ending(before: limit, after: try all.proposal()).isEmpty, "as it will be")
        try world.take(try world.signed(all, by: [world.administrator]))
        #expect(world.state.roles[.targets]?.document.version == 2)
    }

    @Test("denials are added once, lifted one by one, and need the role's own keys")
    mutating func denials() throws {
        try world.take(try world.signed(try publication("1.0.0"), by: [world.team]))
        let model = try Test.model()
        let versions = [try Test.version("1.0.0"), try Test.version("1.1.0")]
        #expect {
            _ = try world.draft { draft in
                try draft.deny(versions, of: model, in: .targets, reason: "stolen", now: SignedState.now)
            }
        } throws: { "\($0)".contains("1.1.0 was never released") && "\($0)".contains("--unpublished") }
        let deny = try world.draft { draft in
            try draft.deny(
                versions,
                of: model,
                in: .targets,
                reason: "stolen",
                now: SignedState.now,
                includingUnpublished: true
            )
        }
        #expect(deny.notes == ["vision/detector 1.0.0, 1.1.0 are denied: stolen"])
        #expect(try deny.proposal().roles.map { "\($0.role)" } == ["targets"])
        try world.take(try world.signed(deny, by: [world.administrator]))
        let again = try world.draft { draft in
            try draft.deny([versions[0]], of: model, in: .targets, reason: "x", now: SignedState.now)
        }
        #expect(again.isEmpty)
        let lift = try world.draft { try $0.liftDenial(of: [versions[0]], of: model, in: .targets) }
        try world.take(try world.signed(lift, by: [world.administrator]))
        let denial = try #require(world.state.roles[.targets]?.document.deny.first)
        #expect(denial.denies(model, version: versions[1], manifest: SHA256.digest(of: [])))
        #expect(!denial.denies(model, version: versions[0], manifest: SHA256.digest(of: [])))
        #expect(throws: PublishingError.self) {
            _ = try world.draft { try $0.liftDenial(of: [versions[0]], of: model, in: .targets) }
        }
    }
}
