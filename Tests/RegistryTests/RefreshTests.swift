import CanonicalJSON
import Names
import Registry
import RegistryAPI
import Testing
import Trust

@Suite("What the registry signs itself")
struct RefreshTests {
    private static let hour: Int64 = 3_600

    @Test("a young timestamp is left alone", arguments: [0, 1, 5])
    func young(hours: Int64) async throws {
        let test = try await TestRegistry()
        let before = try test.state()
        let now = TestRegistry.start.adding(seconds: hours * Self.hour)
        #expect(
            try await test.registry.refreshOnline(now: now) == OnlineRefresh(snapshot: nil, timestamp: nil)
        )
        #expect(try test.state() == before)
    }

    @Test("after six hours the timestamp is signed again over the same snapshot")
    func timestamp() async throws {
        let test = try await TestRegistry()
        let now = TestRegistry.start.adding(seconds: 6 * Self.hour)
        #expect(try await test.registry.refreshOnline(now: now) == OnlineRefresh(snapshot: nil, timestamp: 2))
        let shown = try #require(try test.store.timestamp())
        #expect(shown.snapshot == 1)
        let value = try JSONParser.parse(shown.bytes, maximumLength: shown.bytes.count)
        let document = try TimestampDocument(signed: try #require(value["signed"]), role: .timestamp)
        #expect(document.issued == now)
        #expect(document.expires == now.adding(seconds: OnlineLifetime.timestamp))
    }

    @Test("at half its life the snapshot is signed again, and the hold with it")
    func snapshot() async throws {
        let test = try await TestRegistry()
        let now = TestRegistry.start.adding(seconds: OnlineLifetime.snapshotRenewal)
        #expect(try await test.registry.refreshOnline(now: now) == OnlineRefresh(snapshot: 2, timestamp: 2))
        let versions = try test.state().versions
        #expect(versions == ["root": 1, "targets": 1, "sealift~hold": 2, "snapshot": 2])
        #expect(try test.store.logRows(from: 4, limit: 10).map(\.role) == ["sealift~hold", "snapshot"])
    }

    @Test("a commit whose process died before publishing is shown at the next start, and not before")
    func crash() async throws {
        let test = try await TestRegistry()
        let bytes = Array("weights".utf8)
        _ = try await test.upload(bytes)
        let request = try test.firstPosting(try TestVersion("1.0.0", bytes: bytes)).request
        let dying = try Registry(
            store: StoppingStore(store: test.store),
            blobs: test.blobs,
            onlineSigner: test.online
        )
        let token = CommitAuthority.token(test.token)
        await #expect(throws: StoppingStore.stopped) {
            try await dying.commit(request, by: token, now: TestRegistry.start)
        }
        #expect(try test.store.counts().committed == 2)
        #expect(try test.store.counts().published == 1)
        #expect(try test.store.file("snapshot", version: 2) == nil)
        #expect(try test.store.file("vision", version: 1) == nil)
        #expect(try test.store.publishedVersions().isEmpty)

        let restarted = try test.reopened()
        let refreshed = try await restarted.refreshOnline(now: TestRegistry.start.adding(seconds: 5))
        #expect(refreshed == OnlineRefresh(snapshot: nil, timestamp: 2))
        #expect(try test.store.file("snapshot", version: 2) != nil)
        #expect(try test.store.file("vision", version: 1) != nil)
        #expect(try test.store.publishedVersions().count == 1)
    }

    @Test("the publisher of such a commit may post it again and is told that it is published")
    func repetitionAfterCrash() async throws {
        let test = try await TestRegistry()
        let bytes = Array("weights".utf8)
        _ = try await test.upload(bytes)
        let request = try test.firstPosting(try TestVersion("1.0.0", bytes: bytes)).request
        let dying = try Registry(
            store: StoppingStore(store: test.store),
            blobs: test.blobs,
            onlineSigner: test.online
        )
        let token = CommitAuthority.token(test.token)
        await #expect(throws: StoppingStore.stopped) {
            try await dying.commit(request, by: token, now: TestRegistry.start)
        }
        let answer = try await test.registry.commit(request, by: token, now: TestRegistry.start)
        #expect(answer == CommitResponse(snapshot: 2, timestamp: 2, state: .published))
    }

    @Test("a clock a little behind what was signed is held, one far behind is refused")
    func clock() async throws {
        let test = try await TestRegistry()
        let later = TestRegistry.start.adding(seconds: 6 * Self.hour)
        _ = try await test.registry.refreshOnline(now: later)
        let behind = later.adding(seconds: -OnlineLifetime.clockTolerance - 1)
        await #expect(throws: RegistryError.clockBehind(now: behind, signed: later)) {
            try await test.registry.refreshOnline(now: behind)
        }
        let held = later.adding(seconds: -60)
        let bytes = Array("weights".utf8)
        _ = try await test.upload(bytes)
        let posting = try test.firstPosting(try TestVersion("1.0.0", bytes: bytes))
        _ = try await test.commit(posting, now: held)
        #expect(try test.store.timestamp()?.issued == later)
    }
}
