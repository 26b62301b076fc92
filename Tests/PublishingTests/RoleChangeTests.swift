import Names
import Publishing
import RegistryAPI
import Signing
import Testing
import Trust

@Suite("Role changes")
struct RoleChangeTests {
    private let key: SoftwareKey
    private let targets: TargetsDocument
    private let now = UnixTime(rawValue: 1_796_000_000)
    private let model: ModelName

    init() throws {
        key = try SoftwareKey.generate(.ecdsaP256)
        model = try #require(ModelName("vision/detector"))
        targets = TargetsDocument(
            version: 1,
            expires: now.adding(seconds: 86_400),
            targets: [:],
            delegations: Delegations(
                keys: [KeyObject(key.publicKey)],
                roles: [
                    Delegation(
                        name: "vision",
                        keyIDs: [Authoring.keyID(of: key.publicKey)],
                        threshold: 1,
                        paths: ["vision/*/*"],
                        terminating: true
                    )
                ]
            )
        )
    }

    private func change() -> RoleChange {
        var change = RoleChange(model: model)
        change.manifest = ("vision/detector/1.0.0.json", [1, 2, 3])
        change.live = [4, 5]
        return change
    }

    @Test("a model's first version brings namespace, release and live role, in the order they depend on")
    func first() throws {
        let none = ModelRoles(namespace: nil, release: nil, live: nil)
        let commit = try change().signed(on: none, targets: targets, by: key, now: now, lifetime: 60)
        #expect(commit.roles.map(\.role) == ["vision", "vision~detector", "vision~detector~live"])
        #expect(commit.targets.map(\.path) == ["vision/detector/1.0.0.json", "vision/detector/live.json"])
        let namespace = try Untrusted<TargetsDocument>(commit.roles[0].metadata)
            .verified(by: try targets.quorum(for: .delegated("vision"), named: .targets))
        try SealiftShapes.check(.namespace(model.namespace), document: namespace.document)
        #expect(
            namespace.document.delegations?.roles.map(\.name) == ["vision~detector~live", "vision~detector"]
        )
        for index in 1...2 {
            let role = RoleName(commit.roles[index].role)
            let quorum = try namespace.document.quorum(for: role, named: .delegated("vision"))
            let document = try Untrusted<TargetsDocument>(commit.roles[index].metadata).verified(by: quorum)
                .document
            #expect(document.version == 1)
            #expect(document.expires == now.adding(seconds: 60))
        }
    }

    @Test("a later version leaves the namespace role alone and keeps what is listed")
    func later() throws {
        let none = ModelRoles(namespace: nil, release: nil, live: nil)
        let first = try change().signed(on: none, targets: targets, by: key, now: now, lifetime: 60)
        let namespace = try Untrusted<TargetsDocument>(first.roles[0].metadata)
            .verified(by: try targets.quorum(for: .delegated("vision"), named: .targets)).document
        let quorum = try namespace.quorum(for: .delegated("vision~detector"), named: .delegated("vision"))
        let release = try Untrusted<TargetsDocument>(first.roles[1].metadata).verified(by: quorum).document
        var second = RoleChange(model: model)
        second.manifest = ("vision/detector/1.1.0.json", [9])
        let roles = ModelRoles(namespace: namespace, release: release, live: nil)
        let commit = try second.signed(on: roles, targets: targets, by: key, now: now, lifetime: 60)
        #expect(commit.roles.map(\.role) == ["vision~detector"])
        let next = try Untrusted<TargetsDocument>(commit.roles[0].metadata).verified(by: quorum).document
        #expect(next.version == 2)
        #expect(next.targets.count == 2)
    }

    @Test("a key that the delegation does not name signs nothing, and the message says whose may")
    func stranger() throws {
        let stranger = try SoftwareKey.generate(.ecdsaP256)
        let none = ModelRoles(namespace: nil, release: nil, live: nil)
        #expect {
            try change().signed(on: none, targets: targets, by: stranger, now: now, lifetime: 60)
        } throws: { error in
            "\(error)".contains("may not sign vision")
                && "\(error)".contains(Authoring.keyID(of: key.publicKey).prefix(16))
        }
    }

    @Test("a namespace that the administrators never added is refused")
    func unknownNamespace() throws {
        var foreign = RoleChange(model: try #require(ModelName("audio/detector")))
        foreign.live = [1]
        let none = ModelRoles(namespace: nil, release: nil, live: nil)
        #expect {
            try foreign.signed(on: none, targets: targets, by: key, now: now, lifetime: 60)
        } throws: { "\($0)".contains("audio") }
    }
}
