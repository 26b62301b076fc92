import Manifest
import Names
import Registry
import RegistryAPI
import Signing
import Testing
import Trust

/// One way to spoil the first commit of a model, and the refusal that it must meet.
struct Spoiling: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let spoil: @Sendable (inout Posting, TestRegistry) throws -> Void
    let isExpected: @Sendable (RegistryError) -> Bool

    init(
        _ description: String,
        _ spoil: @escaping @Sendable (inout Posting, TestRegistry) throws -> Void,
        isExpected: @escaping @Sendable (RegistryError) -> Bool
    ) {
        testDescription = description
        self.spoil = spoil
        self.isExpected = isExpected
    }
}

@Suite("Commits that are refused")
struct RefusalTests {
    private static let model = TestRegistry.model
    private static let live = SealiftRole.live(model)
    private static let release = SealiftRole.release(model)
    private static let space = SealiftRole.namespace(model.namespace)
    private static let bytes = Array("weights of 1.0.0".utf8)

    private static func isUntrusted(_ role: SealiftRole) -> @Sendable (RegistryError) -> Bool {
        { if case .untrusted(let found, _) = $0 { found == role.name } else { false } }
    }

    private static func isBadDocument(_ path: String) -> @Sendable (RegistryError) -> Bool {
        { if case .badDocument(let found, _) = $0 { found == path } else { false } }
    }

    static let trust: [Spoiling] = [
        Spoiling("no role at all") { posting, _ in
            posting.roles = [:]
        } isExpected: {
            $0 == .empty
        },
        Spoiling("a role twice") { posting, _ in
            posting.verbatim = [CommitRequest.Role(role: "vision", metadata: [])]
        } isExpected: {
            if case .unpostableRole("vision", _) = $0 { true } else { false }
        },
        Spoiling("the registry's own hold") { posting, _ in
            posting.verbatim = [CommitRequest.Role(role: "sealift~hold", metadata: [])]
        } isExpected: {
            if case .unpostableRole("sealift~hold", _) = $0 { true } else { false }
        },
        Spoiling("a snapshot") { posting, _ in
            posting.verbatim = [CommitRequest.Role(role: "snapshot", metadata: [])]
        } isExpected: {
            if case .unpostableRole("snapshot", _) = $0 { true } else { false }
        },
        Spoiling("a role outside the token's namespace") { posting, _ in
            posting.verbatim = [CommitRequest.Role(role: "audio", metadata: [])]
        } isExpected: {
            $0 == .forbidden(role: "audio", scope: "publish:vision")
        },
        Spoiling("metadata that is not JSON") { posting, _ in
            posting.roles[live] = nil
            posting.verbatim = [CommitRequest.Role(role: live.name, metadata: Array("{".utf8))]
        } isExpected: {
            isUntrusted(live)($0)
        },
        Spoiling("metadata beyond the greatest length") { posting, _ in
            posting.roles[live] = nil
            let long = [UInt8](repeating: 0x20, count: 5_000_001)
            posting.verbatim = [CommitRequest.Role(role: live.name, metadata: long)]
        } isExpected: {
            if case .tooLarge = $0 { true } else { false }
        },
        Spoiling("a namespace signed by another key") { posting, test in
            posting.signers[space] = [test.targets]
        } isExpected: {
            isUntrusted(space)($0)
        },
        Spoiling("a release role without signature") { posting, _ in
            posting.signers[release] = []
        } isExpected: {
            isUntrusted(release)($0)
        },
        Spoiling("a release role whose namespace has no file") { posting, _ in
            posting.roles[space] = nil
        } isExpected: {
            isUntrusted(live)($0)
        },
        Spoiling("a model that the namespace does not delegate") { posting, _ in
            posting.roles[space]?.delegations?.roles = []
        } isExpected: {
            isUntrusted(live)($0)
        },
        Spoiling("a namespace that lists a target") { posting, _ in
            posting.list("vision/detector/1.0.0.json", [], in: space)
        } isExpected: {
            isUntrusted(space)($0)
        },
        Spoiling("a release role that stands before its live role") { posting, _ in
            posting.roles[space]?.delegations?.roles.reverse()
        } isExpected: {
            isUntrusted(space)($0)
        },
        Spoiling("a version that does not follow") { posting, _ in
            posting.roles[release]?.version = 2
        } isExpected: {
            let current: [String: Int64] = ["vision": 0, "vision~detector": 0, "vision~detector~live": 0]
            return $0 == .conflict(role: release.name, posted: 2, current: current)
        },
        Spoiling("a signature that has expired") { posting, _ in
            posting.roles[live]?.expires = TestRegistry.start
        } isExpected: {
            if case .lifetime(live.name, _, _, _) = $0 { true } else { false }
        },
        Spoiling("a signature that lives longer than the profile allows") { posting, _ in
            posting.roles[live]?.expires = TestRegistry.start.adding(seconds: 731 * 86_400)
        } isExpected: {
            if case .lifetime(live.name, _, _, _) = $0 { true } else { false }
        },
    ]

    static let documents: [Spoiling] = [
        Spoiling("a manifest that is not canonical") { posting, _ in
            let manifest = posting.contents["vision/detector/1.0.0.json"] ?? []
            posting.list("vision/detector/1.0.0.json", manifest + [0x0A], in: release)
        } isExpected: {
            isBadDocument("vision/detector/1.0.0.json")($0)
        },
        Spoiling("a manifest at the path of another version") { posting, _ in
            let manifest = posting.contents["vision/detector/1.0.0.json"] ?? []
            posting.list("vision/detector/1.0.1.json", manifest, in: release)
        } isExpected: {
            isBadDocument("vision/detector/1.0.1.json")($0)
        },
        Spoiling("a manifest other than the listed one") { posting, _ in
            posting.contents["vision/detector/1.0.0.json"]?.append(0x20)
        } isExpected: {
            isBadDocument("vision/detector/1.0.0.json")($0)
        },
        Spoiling("a listed manifest that was not posted") { posting, _ in
            posting.contents["vision/detector/1.0.0.json"] = nil
        } isExpected: {
            if case .missingDocument("vision/detector/1.0.0.json", _) = $0 { true } else { false }
        },
        Spoiling("a document that nothing lists") { posting, _ in
            posting.contents["vision/detector/9.9.9.json"] = [0x7B, 0x7D]
        } isExpected: {
            $0 == .unlistedDocument(path: "vision/detector/9.9.9.json")
        },
        Spoiling("a live document of another model") { posting, _ in
            let other = LiveDocument(model: name("vision/other"))
            posting.list("vision/detector/live.json", other.canonical, in: live)
        } isExpected: {
            isBadDocument("vision/detector/live.json")($0)
        },
        Spoiling("a channel with a version that is not released") { posting, _ in
            let digest = SHA256.digest(of: [])
            let document = try LiveDocument(model: model)
                .adding(ListedVersion(version: version("2.0.0"), manifest: digest), to: channel("stable"))
            posting.list("vision/detector/live.json", document.canonical, in: live)
        } isExpected: {
            if case .unreleased(model, _, version("2.0.0"), _) = $0 { true } else { false }
        },
        Spoiling("a channel with another manifest than the released one") { posting, _ in
            let digest = SHA256.digest(of: [])
            let document = try LiveDocument(model: model)
                .adding(ListedVersion(version: version("1.0.0"), manifest: digest), to: channel("stable"))
            posting.list("vision/detector/live.json", document.canonical, in: live)
        } isExpected: {
            if case .unreleased(model, _, version("1.0.0"), _) = $0 { true } else { false }
        },
    ]

    @Test("and the registry stays as it was", arguments: trust + documents)
    func refused(_ spoiling: Spoiling) async throws {
        let test = try await TestRegistry()
        _ = try await test.upload(Self.bytes)
        var posting = try test.firstPosting(try TestVersion("1.0.0", bytes: Self.bytes))
        try spoiling.spoil(&posting, test)
        let before = try test.state()
        let error = await #expect(throws: RegistryError.self) { try await test.commit(posting) }
        #expect(error.map(spoiling.isExpected) == true, "\(String(describing: error))")
        #expect(error?.isOutage == false)
        #expect(try test.state() == before)
    }

    @Test("a document posted twice is refused")
    func twice() async throws {
        let test = try await TestRegistry()
        _ = try await test.upload(Self.bytes)
        let request = try test.firstPosting(try TestVersion("1.0.0", bytes: Self.bytes)).request
        let doubled = CommitRequest(
            roles: request.roles,
            targets: request.targets + request.targets.prefix(1)
        )
        let before = try test.state()
        let path = request.targets[0].path
        await #expect(throws: RegistryError.unlistedDocument(path: path)) {
            try await test.registry.commit(doubled, by: .token(test.token), now: TestRegistry.start)
        }
        #expect(try test.state() == before)
    }
}
