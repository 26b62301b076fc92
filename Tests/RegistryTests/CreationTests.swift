import CanonicalJSON
import Manifest
import Names
import Registry
import RegistryAPI
import RegistryStoreSQLite
import Signing
import Support
import Testing
import Transparency
import Trust

@Suite("The first commit")
struct CreationTests {
    @Test("everything hangs from root version 1 by signatures")
    func chain() async throws {
        let test = try await TestRegistry()
        let file = try #require(try test.store.file("root", version: 1))
        let root = try Untrusted<RootDocument>(file.bytes).verifiedByItself().current(at: TestRegistry.start)
        try SealiftShapes.check(root: root.document)
        let shown = try #require(try test.store.timestamp())
        let timestamp = try Untrusted<TimestampDocument>(shown.bytes)
            .verified(by: root.document.quorum(for: .timestamp))
        let stored = try #require(
            try test.store.file("snapshot", version: timestamp.document.snapshot.version)
        )
        #expect(timestamp.document.snapshot.hashes["sha256"] == stored.sha256.bytes)
        #expect(timestamp.document.snapshot.length == UInt64(stored.bytes.count))
        let snapshot = try Untrusted<SnapshotDocument>(stored.bytes)
            .verified(by: root.document.quorum(for: .snapshot))
        try SealiftShapes.check(snapshot: snapshot.document)
        #expect(Set(snapshot.document.roles.keys) == [.targets, SealiftRole.hold.roleName])

        let targetsFile = try #require(try test.store.file("targets", version: 1))
        let targets = try Untrusted<TargetsDocument>(targetsFile.bytes)
            .verified(by: root.document.quorum(for: .targets))
        try SealiftShapes.check(targets: targets.document)
        let holdFile = try #require(try test.store.file("sealift~hold", version: 1))
        let hold = try Untrusted<TargetsDocument>(holdFile.bytes)
            .verified(by: targets.document.quorum(for: SealiftRole.hold.roleName, named: .targets))
        #expect(hold.document.targets.isEmpty)
        #expect(hold.document.issued == TestRegistry.start)
    }

    @Test("the root names the log, its key and the greatest lifetimes")
    func policy() async throws {
        let test = try await TestRegistry()
        let file = try #require(try test.store.file("root", version: 1))
        let root = try Untrusted<RootDocument>(file.bytes).verifiedByItself().document
        let policy = try #require(root.sealift)
        #expect(policy.logOrigin == "registry.example/log")
        let key = try #require(policy.logKeys.first.flatMap { NoteVerifierKey($0.verifierKey) })
        #expect(key.publicKey == test.log.publicKey)
        #expect(policy.maximumLifetimes[.timestamp] == OnlineLifetime.timestamp)
        #expect(policy.maximumLifetimes[.snapshot] == OnlineLifetime.snapshot)
        #expect(policy.maximumLifetimes[SealiftRole.hold.roleName] == OnlineLifetime.hold)
    }

    @Test("targets lists the settings document, which is stored under its digest")
    func settings() async throws {
        let test = try await TestRegistry()
        let file = try #require(try test.store.file("targets", version: 1))
        let value = try JSONParser.parse(file.bytes, maximumLength: file.bytes.count)
        let targets = try TargetsDocument(signed: try #require(value["signed"]), role: .targets)
        let listed = try #require(targets.targets["sealift/settings.json"])
        let digest = try #require(listed.sha256)
        let stored = try #require(try test.store.document("sealift/settings.json", digest))
        #expect(listed.describes(stored.bytes))
        #expect(try SettingsDocument(canonical: stored.bytes) == SettingsDocument())
    }

    @Test("one log entry stands for each role file and the snapshot, in that order")
    func log() async throws {
        let test = try await TestRegistry()
        let rows = try test.store.logRows(from: 0, limit: 10)
        #expect(rows.map(\.role) == ["root", "targets", "sealift~hold", "snapshot"])
        #expect(rows.map(\.index) == [0, 1, 2, 3])
        for row in rows {
            let entry = try LogEntry(canonical: row.entry)
            let file = try #require(try test.store.file(row.role, version: row.version))
            #expect(entry.sha256 == file.sha256)
            #expect(entry.length == UInt64(file.bytes.count))
            #expect(entry.time == TestRegistry.start)
            #expect(row.leafHash == MerkleTree.leafHash(row.entry))
        }
        #expect(
            try rows.map { try LogEntry(canonical: $0.entry).kind } == [.root, .targets, .hold, .snapshot]
        )
    }

    @Test("a store takes a first commit once")
    func once() async throws {
        let test = try await TestRegistry()
        let before = try test.state()
        let creation = RegistryCreation(
            profile: .solo,
            rootSigners: [test.root],
            targetsSigners: [test.targets],
            onlineSigner: test.online,
            logOrigin: "registry.example/log",
            logKey: test.log.publicKey,
            namespaces: [],
            now: TestRegistry.start
        )
        await #expect(throws: RegistryError.alreadyCreated) {
            try await Registry.create(creation, in: test.store)
        }
        #expect(try test.state() == before)
    }

    @Test(
        "too few keys for the profile, or one key for two duties, are refused",
        arguments: [
            RegistryProfile.team, .regulated,
        ]
    )
    func keys(profile: RegistryProfile) async throws {
        let test = try await TestRegistry()
        let creation = RegistryCreation(
            profile: profile,
            rootSigners: [test.root],
            targetsSigners: [test.targets],
            onlineSigner: test.online,
            logOrigin: "registry.example/log",
            logKey: test.log.publicKey,
            namespaces: [],
            now: TestRegistry.start
        )
        await #expect(throws: RegistryError.self) { try await Registry.create(creation, in: test.store) }
    }

    @Test("a team's root has three keys, of which two must sign")
    func team() async throws {
        let scratch = Scratch()
        let store = try SQLiteRegistryStore.create(
            path: scratch.path("registry.sqlite"),
            now: TestRegistry.start
        )
        let roots = try (0..<3).map { _ in try SoftwareKey.generate(.ecdsaP256) }
        let log = try SoftwareKey.generate(.ed25519)
        let creation = RegistryCreation(
            profile: .team,
            rootSigners: roots,
            targetsSigners: [try SoftwareKey.generate(.ecdsaP256)],
            onlineSigner: try SoftwareKey.generate(.ed25519),
            logOrigin: "registry.example/log",
            logKey: log.publicKey,
            namespaces: [],
            now: TestRegistry.start
        )
        try await Registry.create(creation, in: store)
        let file = try #require(try store.file("root", version: 1))
        let root = try Untrusted<RootDocument>(file.bytes).verifiedByItself()
        let quorum = try root.document.quorum(for: .root)
        #expect(Set(quorum.keys.values) == Set(roots.map(\.publicKey)))
        #expect(quorum.threshold == 2)
        #expect(root.document.expires == TestRegistry.start.adding(seconds: 365 * 86_400))
    }

    @Test("an online key that the root does not name is refused at start")
    func onlineKey() async throws {
        let test = try await TestRegistry()
        #expect(throws: RegistryError.wrongOnlineKey(role: "snapshot")) {
            try Registry(store: test.store, blobs: test.blobs, onlineSigner: test.log)
        }
    }
}
