import Manifest
import Names
import Registry
import RegistryAPI
import Signing
import Testing
import Trust

@Suite("Commits on top of others")
struct SuccessionTests {
    private let space = SealiftRole.namespace(TestRegistry.model.namespace)
    private let live = SealiftRole.live(TestRegistry.model)
    private let release = SealiftRole.release(TestRegistry.model)

    private func expectRefusal(
        _ test: TestRegistry,
        _ posting: Posting,
        by authority: CommitAuthority? = nil,
        _ isExpected: (RegistryError) -> Bool
    ) async throws {
        let before = try test.state()
        let request = try posting.request
        let authority = authority ?? .token(test.token)
        let error = await #expect(throws: RegistryError.self) {
            try await test.registry.commit(request, by: authority, now: TestRegistry.start)
        }
        #expect(error.map(isExpected) == true, "\(String(describing: error))")
        #expect(try test.state() == before)
    }

    /// The next file of one role, changed.
    private func next(
        _ role: SealiftRole,
        of posting: Posting,
        _ change: (inout TargetsDocument) -> Void
    ) throws -> Posting {
        var following = Posting(key: posting.key)
        var document = try #require(posting.roles[role])
        document.version += 1
        change(&document)
        following.roles[role] = document
        return following
    }

    @Test("of two publishers at once one wins, the other learns the versions to build on")
    func conflict() async throws {
        let test = try await TestRegistry()
        let first = try await test.publishFirst()
        for text in ["1.1.0", "1.2.0"] { _ = try await test.upload(Array(text.utf8)) }
        let one = try test.nextPosting(after: first, try TestVersion("1.1.0", bytes: Array("1.1.0".utf8)))
        let other = try test.nextPosting(after: first, try TestVersion("1.2.0", bytes: Array("1.2.0".utf8)))
        _ = try await test.commit(one)
        try await expectRefusal(test, other) {
            $0 == .conflict(role: live.name, posted: 2, current: [live.name: 2, release.name: 2])
        }
    }

    @Test("a published version never gets another manifest")
    func republished() async throws {
        let test = try await TestRegistry()
        let first = try await test.publishFirst()
        let bytes = Array("other weights".utf8)
        _ = try await test.upload(bytes)
        let again = try TestVersion("1.0.0", bytes: bytes)
        var posting = try next(release, of: first) { _ in }
        posting.list(again.manifest.targetPath, again.manifest.canonical, in: release)
        try await expectRefusal(test, posting) {
            if case .republished(_, version("1.0.0"), _, again.digest) = $0 { true } else { false }
        }
    }

    @Test("nor after it was taken off the release role")
    func republishedLater() async throws {
        let test = try await TestRegistry()
        let first = try await test.publishFirst()
        let empty = LiveDocument(model: TestRegistry.model)
        var removal = try next(release, of: first) { $0.targets = [:] }
        removal.roles[live] = try next(live, of: first) { _ in }.roles[live]
        removal.list(empty.targetPath, empty.canonical, in: live)
        _ = try await test.commit(removal)
        let bytes = Array("other weights".utf8)
        _ = try await test.upload(bytes)
        let again = try TestVersion("1.0.0", bytes: bytes)
        var posting = try next(release, of: removal) { _ in }
        posting.list(again.manifest.targetPath, again.manifest.canonical, in: release)
        try await expectRefusal(test, posting) {
            if case .republished = $0 { true } else { false }
        }
    }

    @Test("a version that a channel lists cannot leave the release role")
    func unreleased() async throws {
        let test = try await TestRegistry()
        let first = try await test.publishFirst()
        let posting = try next(release, of: first) { $0.targets = [:] }
        try await expectRefusal(test, posting) {
            if case .unreleased(_, channel("stable"), version("1.0.0"), _) = $0 { true } else { false }
        }
    }

    @Test("a namespace that changes a model's keys must bring its roles signed again")
    func rotation() async throws {
        let test = try await TestRegistry()
        let first = try await test.publishFirst()
        let fresh = try SoftwareKey.generate(.ecdsaP256)
        let key = KeyObject(fresh.publicKey)
        var rotation = try next(space, of: first) { document in
            document.delegations?.keys[key.id] = key
            for index in document.delegations?.roles.indices ?? 0..<0 {
                document.delegations?.roles[index].roleKeys.keyIDs = [key.id]
            }
        }
        try await expectRefusal(test, rotation) {
            if case .mustSignAgain(release.name, "vision", _) = $0 { true } else { false }
        }
        for role in [live, release] {
            rotation.roles[role] = try next(role, of: first) { _ in }.roles[role]
            rotation.signers[role] = [fresh]
        }
        #expect(try await test.commit(rotation).snapshot == 3)
    }

    @Test("a role that is present never leaves")
    func removal() async throws {
        let test = try await TestRegistry()
        let first = try await test.publishFirst()
        let posting = try next(space, of: first) { $0.delegations?.roles = [] }
        try await expectRefusal(test, posting) {
            if case .mustSignAgain(release.name, "vision", _) = $0 { true } else { false }
        }
    }

    @Test("an administrator adds a namespace; one that drops a present one is told which")
    func targets() async throws {
        let test = try await TestRegistry()
        _ = try await test.publishFirst()
        let stored = try #require(try test.store.newest("targets"))
        let root = try #require(try test.store.newest("root"))
        let quorum = try Untrusted<RootDocument>(root.bytes).verifiedByItself().document.quorum(for: .targets)
        var document = try Untrusted<TargetsDocument>(stored.bytes).verified(by: quorum).document
        document.version = 2
        var posting = Posting(key: test.targets)

        document.delegations?.roles.removeAll { $0.name == "vision" }
        posting.roles[.targets] = document
        try await expectRefusal(test, posting) {
            if case .forbidden("targets", _) = $0 { true } else { false }
        }
        try await expectRefusal(test, posting, by: .administrator) {
            if case .mustSignAgain("vision", "targets", _) = $0 { true } else { false }
        }

        document = try Untrusted<TargetsDocument>(stored.bytes).verified(by: quorum).document
        document.version = 2
        let audio = try #require(Namespace("audio"))
        let key = KeyObject(test.publisher.publicKey)
        document.delegations?.roles.append(
            Delegation(
                name: "audio",
                keyIDs: [key.id],
                threshold: 1,
                paths: SealiftRole.namespace(audio).pattern.map { [$0] } ?? [],
                terminating: true
            )
        )
        posting.roles[.targets] = document
        let request = try posting.request
        let answer = try await test.registry.commit(request, by: .administrator, now: TestRegistry.start)
        #expect(answer.snapshot == 3)
    }

    @Test("nothing is published below an expired role, and the refusal names that role")
    func expiredDelegator() async throws {
        let test = try await TestRegistry()
        let first = try await test.publishFirst()
        let expires = try #require(first.roles[space]).expires
        let posting = try next(release, of: first) { $0.expires = expires.adding(seconds: 86_400) }
        let request = try posting.request
        let error = await #expect(throws: RegistryError.self) {
            try await test.registry.commit(request, by: .token(test.token), now: expires)
        }
        guard case .lifetime("root", expires, expires, _) = error else {
            Issue.record("expected .lifetime of root, found \(String(describing: error))")
            return
        }
    }

    @Test("a role signed again may bring its unchanged document along")
    func unchanged() async throws {
        let test = try await TestRegistry()
        let first = try await test.publishFirst()
        let path = LiveDocument.targetPath(model: TestRegistry.model)
        var posting = try next(live, of: first) { _ in }
        posting.contents[path] = first.contents[path]
        #expect(try await test.commit(posting).snapshot == 3)
    }

    @Test("a new root is signed by the old keys and its own")
    func root() async throws {
        let test = try await TestRegistry()
        let stored = try #require(try test.store.newest("root"))
        var root = try Untrusted<RootDocument>(stored.bytes).verifiedByItself().document
        let fresh = try SoftwareKey.generate(.ecdsaP256)
        let key = KeyObject(fresh.publicKey)
        root.version = 2
        root.keys[key.id] = key
        root.roles[.root] = RoleKeys(keyIDs: [key.id], threshold: 1)
        for signers in [[fresh], [test.root]] {
            let bytes = try Authoring.envelope(signing: root, by: signers)
            let role = CommitRequest.Role(role: "root", metadata: bytes)
            let request = CommitRequest(roles: [role], targets: [])
            let error = await #expect(throws: RegistryError.self) {
                try await test.registry.commit(request, by: .administrator, now: TestRegistry.start)
            }
            guard case .untrusted("root", _) = error else {
                Issue.record("expected .untrusted root, found \(String(describing: error))")
                return
            }
        }
        let bytes = try Authoring.envelope(signing: root, by: [fresh, test.root])
        let request = CommitRequest(roles: [CommitRequest.Role(role: "root", metadata: bytes)], targets: [])
        let answer = try await test.registry.commit(request, by: .administrator, now: TestRegistry.start)
        #expect(answer.snapshot == 2)
        #expect(try test.store.file("root", version: 2)?.bytes == bytes)
    }

    @Test("a root that takes the online key away is refused")
    func rootWithoutOnlineKey() async throws {
        let test = try await TestRegistry()
        let stored = try #require(try test.store.newest("root"))
        var root = try Untrusted<RootDocument>(stored.bytes).verifiedByItself().document
        let key = KeyObject(test.publisher.publicKey)
        root.version = 2
        root.keys[key.id] = key
        root.roles[.timestamp] = RoleKeys(keyIDs: [key.id], threshold: 1)
        let bytes = try Authoring.envelope(signing: root, by: [test.root])
        let request = CommitRequest(roles: [CommitRequest.Role(role: "root", metadata: bytes)], targets: [])
        await #expect(throws: RegistryError.wrongOnlineKey(role: "timestamp")) {
            try await test.registry.commit(request, by: .administrator, now: TestRegistry.start)
        }
    }

    @Test("targets that give the hold to another key are refused")
    func hold() async throws {
        let test = try await TestRegistry()
        let stored = try #require(try test.store.newest("targets"))
        let root = try #require(try test.store.newest("root"))
        let quorum = try Untrusted<RootDocument>(root.bytes).verifiedByItself().document.quorum(for: .targets)
        var document = try Untrusted<TargetsDocument>(stored.bytes).verified(by: quorum).document
        document.version = 2
        let key = KeyObject(test.publisher.publicKey)
        document.delegations?.roles[0].roleKeys.keyIDs = [key.id]
        var posting = Posting(key: test.targets)
        posting.roles[.targets] = document
        try await expectRefusal(test, posting, by: .administrator) {
            $0 == .wrongOnlineKey(role: "sealift~hold")
        }
    }
}
