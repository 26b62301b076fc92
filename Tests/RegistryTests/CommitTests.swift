import CanonicalJSON
import Manifest
import Names
import Registry
import RegistryAPI
import Signing
import Testing
import Transparency
import Trust

@Suite("Commits that are accepted")
struct CommitTests {
    @Test("a new model brings namespace, live and release role in one commit")
    func first() async throws {
        let test = try await TestRegistry()
        let bytes = Array("weights of 1.0.0".utf8)
        _ = try await test.upload(bytes)
        let posting = try test.firstPosting(try TestVersion("1.0.0", bytes: bytes))
        let answer = try await test.commit(posting)
        #expect(answer == CommitResponse(snapshot: 2, timestamp: 2, state: .published))
        let rows = try test.store.logRows(from: 4, limit: 10)
        #expect(
            rows.map(\.role) == [
                "vision", "vision~detector~live", "vision~detector", "sealift~hold", "snapshot",
            ]
        )
        #expect(
            try rows.map { try LogEntry(canonical: $0.entry).kind } == [
                .namespace, .live, .release, .hold, .snapshot,
            ]
        )
        let snapshot = try #require(try test.store.newest("snapshot"))
        let value = try JSONParser.parse(snapshot.bytes, maximumLength: snapshot.bytes.count)
        let document = try SnapshotDocument(signed: try #require(value["signed"]), role: .snapshot)
        #expect(
            document.roles.mapValues(\.version) == [
                .targets: 1, .delegated("vision"): 1, .delegated("vision~detector"): 1,
                .delegated("vision~detector~live"): 1, .delegated("sealift~hold"): 2,
            ]
        )
        let published = try test.store.publishedVersions()
        #expect(published.map { "\($0.model) \($0.version)" } == ["vision/detector 1.0.0"])
    }

    @Test("the next version follows with release and live role alone")
    func second() async throws {
        let test = try await TestRegistry()
        let first = try await test.publishFirst()
        let bytes = Array("weights of 1.1.0".utf8)
        _ = try await test.upload(bytes)
        let next = try test.nextPosting(after: first, try TestVersion("1.1.0", bytes: bytes))
        let answer = try await test.commit(next, now: TestRegistry.start.adding(seconds: 60))
        #expect(answer == CommitResponse(snapshot: 3, timestamp: 3, state: .published))
    }

    @Test("a file with blocks is taken when file and list describe the same bytes")
    func blocks() async throws {
        let test = try await TestRegistry()
        let bytes = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let list = try #require(try TestVersion.blockList(of: bytes))
        _ = try await test.upload(bytes)
        _ = try await test.upload(list.encoded)
        let posting = try test.firstPosting(try TestVersion("1.0.0", bytes: bytes))
        #expect(try await test.commit(posting).snapshot == 2)
    }

    @Test("the same files again get the same answer and change nothing")
    func repetition() async throws {
        let test = try await TestRegistry()
        let bytes = Array("weights".utf8)
        _ = try await test.upload(bytes)
        let request = try test.firstPosting(try TestVersion("1.0.0", bytes: bytes)).request
        let token = CommitAuthority.token(test.token)
        let answer = try await test.registry.commit(request, by: token, now: TestRegistry.start)
        let state = try test.state()
        let again = try await test.registry.commit(
            request,
            by: token,
            now: TestRegistry.start.adding(seconds: 60)
        )
        #expect(again == answer)
        #expect(try test.state() == state)
    }
}
