import Manifest
import Names
import Publishing
import RegistryAPI
import Signing
import Trust

/// A registry's signed state, made by keys that a test holds.
struct SignedState {
    static let now = UnixTime(rawValue: 1_796_000_000)
    static let lifetime: Int64 = 90 * 86_400

    let roots: [SoftwareKey]
    let administrator: SoftwareKey
    let team: SoftwareKey
    let online: SoftwareKey
    private(set) var state: RegistryState

    /// Root 2 of 3, targets and the namespace `vision` 1 of 1.
    init() throws {
        roots = try (0..<3).map { _ in try SoftwareKey.generate(.ecdsaP256) }
        administrator = try SoftwareKey.generate(.ecdsaP256)
        team = try SoftwareKey.generate(.ecdsaP256)
        online = try SoftwareKey.generate(.ed25519)
        func keys(_ signers: [SoftwareKey], _ threshold: Int = 1) -> RoleKeys {
            RoleKeys(keyIDs: signers.map { Authoring.keyID(of: $0.publicKey) }.sorted(), threshold: threshold)
        }
        let root = RootDocument(
            version: 1,
            expires: Self.now.adding(seconds: Self.lifetime),
            keys: (roots + [administrator, online]).map { KeyObject($0.publicKey) },
            roles: [
                .root: keys(roots, 2), .targets: keys([administrator]), .snapshot: keys([online]),
                .timestamp: keys([online]),
            ],
            sealift: SealiftRootPolicy(
                logOrigin: "test/log",
                logKeys: [.init(verifierKey: "test", from: 0)],
                maximumLifetimes: [
                    .timestamp: 1, .snapshot: 1, SealiftRole.hold.roleName: 1, .targets: Self.lifetime,
                ]
            )
        )
        let targets = TargetsDocument(
            version: 1,
            expires: Self.now.adding(seconds: 30 * 86_400),
            targets: [:],
            delegations: Delegations(
                keys: [KeyObject(team.publicKey)],
                roles: [
                    Delegation(
                        name: "vision",
                        keyIDs: [Authoring.keyID(of: team.publicKey)],
                        threshold: 1,
                        paths: ["vision/*/*"],
                        terminating: true
                    )
                ]
            )
        )
        let verified = try Untrusted<RootDocument>(
            Authoring.envelope(signing: root, by: Array(roots.prefix(2)))
        )
        .verifiedByItself()
        let file = try Authoring.envelope(signing: targets, by: [administrator])
        state = RegistryState(
            roots: [verified],
            roles: [
                .targets: try Untrusted<TargetsDocument>(file).verified(by: try root.quorum(for: .targets))
            ],
            isComplete: true
        )
    }

    /// A change on the present state, not signed.
    func draft(_ edit: (inout RegistryDraft) throws -> Void) throws -> RegistryDraft {
        var draft = try RegistryDraft(on: state, now: Self.now)
        try edit(&draft)
        return draft
    }

    func signed(_ draft: RegistryDraft, by signers: [SoftwareKey]) throws -> Proposal {
        var proposal = try draft.proposal()
        for signer in signers { try proposal.sign(by: signer) }
        return proposal
    }

    /// Adds a model with released versions, of the team.
    mutating func release(_ versions: [String], of model: ModelName) throws {
        let grant = Test.grant(team)
        let change = try draft { draft in
            try draft.addModel(model, release: grant, live: grant)
            for version in versions {
                try draft.list("\(model)/\(version).json", Array(version.utf8), in: .release(model))
            }
        }
        try take(try signed(change, by: [team]))
    }

    /// Makes what a proposal says the present state, if devices would follow.
    mutating func take(_ proposal: Proposal) throws {
        try Rehearsal.check(proposal, on: state, now: Self.now)
        var roots = state.roots
        var roles = state.roles
        for role in proposal.roles where role.role == .root {
            roots.append(try Untrusted<RootDocument>(role.file).verifiedByItself())
        }
        guard let root = roots.last?.document else { return }
        for file in proposal.roles where file.role != .root {
            guard let role = SealiftRole(file.role) else { continue }
            let quorum =
                if let parent = role.delegator.flatMap({ roles[$0] }) {
                    try parent.document.quorum(for: file.role, named: parent.role)
                } else {
                    try root.quorum(for: .targets)
                }
            roles[role] = try Untrusted<TargetsDocument>(file.file).verified(by: quorum)
        }
        var contents = state.contents
        for target in proposal.targets { contents[target.path] = target.content }
        state = RegistryState(roots: roots, roles: roles, isComplete: true, contents: contents)
    }
}

/// Names of the tests.
enum Test {
    static func model(_ text: String = "vision/detector") throws -> ModelName {
        guard let model = ModelName(text) else { throw PublishingError.usage(text) }
        return model
    }

    static func version(_ text: String) throws -> ModelVersion {
        guard let version = ModelVersion(text) else { throw PublishingError.usage(text) }
        return version
    }

    static func id(_ key: SoftwareKey) -> String { Authoring.keyID(of: key.publicKey) }

    static func grant(_ keys: SoftwareKey...) -> RoleGrant { RoleGrant(keys: keys.map(\.publicKey)) }
}
