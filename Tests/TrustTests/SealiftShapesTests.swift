import CanonicalJSON
import Names
import Support
import Testing
import Trust

@Suite("Sealift's shapes")
struct SealiftShapesTests {
    /// One change to a sound repository, and the role that must be refused for it.
    struct Change: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let role: RoleName
        let apply: @Sendable (inout TargetsDocument) -> Void

        init(
            _ description: String,
            _ role: RoleName,
            _ apply: @escaping @Sendable (inout TargetsDocument) -> Void
        ) {
            testDescription = description
            self.role = role
            self.apply = apply
        }
    }

    static let file = TargetFile(of: [])
    static let changes: [Change] = [
        Change("targets lists a manifest", .targets) { $0.targets["vision/detector/1.0.0.json"] = file },
        Change("targets lists another file of its own", .targets) { $0.targets["sealift/other.json"] = file },
        Change("targets delegates to a release role", .targets) {
            $0.delegations?.roles[0].name = "vision~detector"
        },
        Change("targets delegates to a name outside the alphabet", .targets) {
            $0.delegations?.roles[1].name = "Vision"
        },
        Change("targets delegates a namespace everything", .targets) {
            $0.delegations?.roles[1].paths = ["*/*/*"]
        },
        Change("targets delegates a namespace two patterns", .targets) {
            $0.delegations?.roles[1].paths = ["vision/*/*", "audio/*/*"]
        },
        Change("targets delegates a namespace no pattern", .targets) { $0.delegations?.roles[1].paths = [] },
        Change("a delegation is not terminating", .targets) { $0.delegations?.roles[1].terminating = false },
        Change("the hold role has a threshold of two", .targets) {
            $0.delegations?.roles[0].roleKeys.threshold = 2
        },
        Change("the hold role gets other paths", .targets) { $0.delegations?.roles[0].paths = ["sealift/*"] },
        Change("targets lists settings without SHA-256", .targets) {
            $0.targets["sealift/settings.json"]?.hashes = ["sha512": [1]]
        },
        Change("a namespace lists a file", .vision) { $0.targets["vision/detector/1.0.0.json"] = file },
        Change("a namespace delegates to another's model", .vision) {
            $0.delegations?.roles[0].name = "audio~x~live"
        },
        Change("a namespace delegates to the hold role", .vision) {
            $0.delegations?.roles[0].name = "sealift~hold"
        },
        Change("a namespace puts the release role first", .vision) { $0.delegations?.roles.swapAt(0, 1) },
        Change("a namespace leaves out the live role", .vision) { $0.delegations?.roles.removeFirst() },
        Change("a namespace leaves out the release role", .vision) { $0.delegations?.roles.removeLast() },
        Change("a release role may write live.json by its pattern", .vision) {
            $0.delegations?.roles[0].paths = ["vision/detector/*"]
        },
        Change("a namespace denies another's model", .vision) { document in
            guard let model = ModelName("audio/x") else { return }
            document.deny = [
                Denial(
                    model: model,
                    subject: .versions([ModelVersion(major: 1, minor: 0, patch: 0)]),
                    reason: "",
                    since: World.start
                )
            ]
        },
        Change("a release role delegates", .release) {
            $0.delegations = Delegations(
                keys: [],
                roles: [Delegation(name: "x", keyIDs: [], threshold: 1, paths: ["x"], terminating: true)]
            )
        },
        Change("a release role lists a build of a version", .release) {
            $0.targets["vision/detector/1.0.0+b.json"] = file
        },
        Change("a release role lists a version with leading zeros", .release) {
            $0.targets["vision/detector/01.0.0.json"] = file
        },
        Change("a release role denies", .release) { document in
            guard let model = World.detector else { return }
            document.deny = [
                Denial(
                    model: model,
                    subject: .versions([ModelVersion(major: 1, minor: 0, patch: 0)]),
                    reason: "",
                    since: World.start
                )
            ]
        },
        Change("a live role lists a manifest", .live) { $0.targets["vision/detector/1.0.0.json"] = file },
        Change("a live role lists another model's live.json", .live) {
            $0.targets["vision/other/live.json"] = file
        },
        Change("the hold role lists something else", .hold) {
            $0.targets["sealift/holds/vision.json"] = file
        },
        Change("the hold role lists a name outside the alphabet", .hold) {
            $0.targets["sealift/holds/vision/De~tector.json"] = file
        },
        Change("the hold role has no time of signing", .hold) { $0.issued = nil },
    ]

    @Test("the repository that Sealift writes has its own shapes")
    func sound() throws {
        let repository = try SimulatedRepository.sealift(try #require(World.detector), now: World.start)
        try SealiftShapes.check(root: repository.root)
        try SealiftShapes.check(snapshot: repository.snapshot)
        for (role, document) in repository.roles {
            try SealiftShapes.check(try #require(SealiftRole(role)), document: document)
        }
    }

    @Test("anything else is refused", arguments: changes)
    func refused(change: Change) throws {
        let repository = try SimulatedRepository.sealift(try #require(World.detector), now: World.start)
        var document = try #require(repository.roles[change.role])
        change.apply(&document)
        let role = try #require(SealiftRole(change.role))
        let error = #expect(throws: TrustError.self) { try SealiftShapes.check(role, document: document) }
        guard case .shape(role: change.role, _) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test("a `deny` that cannot be read is refused, not skipped")
    func unreadableDeny() throws {
        let repository = try SimulatedRepository.sealift(try #require(World.detector), now: World.start)
        for value in [
            JSONValue.array([.members(["model": .text("vision/detector")])]), .text("all"), .bool(true),
        ] {
            var signed = try #require(repository.roles[.vision]?.signed.object)
            signed["deny"] = value
            let document = try TargetsDocument(signed: .object(signed), role: .vision)
            #expect(
                throws: TrustError.shape(role: .vision, reason: "`deny` holds an entry that cannot be read")
            ) {
                try SealiftShapes.check(.namespace(try #require(Namespace("vision"))), document: document)
            }
        }
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
        for root in [plain, inconsistent, endless] {
            #expect(throws: TrustError.self) { try SealiftShapes.check(root: root) }
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
