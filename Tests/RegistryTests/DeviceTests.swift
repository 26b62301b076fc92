import HTTPServer
import Manifest
import Names
import Registry
import RegistryAPI
import Support
import Testing
import Transfer
import Trust

/// Fetches from a service in the same process.
struct ServiceFetcher: Fetching {
    static let location = RepositoryLocation(base: "https://registry.example")

    let service: TestService

    func fetch(_ request: FetchRequest) async throws(FetchError) -> FetchOutcome {
        var fields: HTTPFields = [:]
        if let tag = request.ifNoneMatch { fields.append("If-None-Match", tag) }
        let path = String(request.url.dropFirst("https://registry.example".count))
        let answer = await service.ask(.get, path, fields)
        switch answer.status {
        case 200: return .bytes(answer.content, etag: answer.fields.text("etag"))
        case 304: return .notModified
        case 404: return .absent
        default: throw .refused(.status(answer.status), url: request.url)
        }
    }
}

@Suite("A device follows the registry")
struct DeviceTests {
    private func updater(
        _ service: TestService,
        _ store: MemoryMetadataStore,
        anchor: [UInt8]
    ) -> MetadataUpdater {
        MetadataUpdater(
            anchor: anchor,
            store: store,
            fetcher: ServiceFetcher(service: service),
            mirrors: Mirrors([ServiceFetcher.location]),
            now: service.clock.now,
            policy: .sealift
        )
    }

    @Test("from root version 1 through publishing, a new root and renewals")
    func follows() async throws {
        let service = try await TestService()
        let test = service.test
        let anchor = try #require(try test.store.file("root", version: 1)).bytes
        let store = MemoryMetadataStore()
        var first = updater(service, store, anchor: anchor)
        try await first.refresh()
        #expect(first.snapshot?.document.version == 1)
        #expect(try await first.role(.release(TestRegistry.model)) == nil)

        service.clock.advance(seconds: 60)
        let posting = try await test.publishFirst()
        var second = updater(service, store, anchor: anchor)
        #expect(try await second.poll())
        let path = LiveDocument.targetPath(model: TestRegistry.model)
        let live = try #require(try await second.target(TargetPath(path)))
        #expect(live.describes(posting.contents[path] ?? []))
        #expect(try await second.role(.release(TestRegistry.model))?.document.version == 1)
        #expect(try await second.role(.hold)?.document.version == 2)

        var unchanged = updater(service, store, anchor: anchor)
        #expect(try await unchanged.poll() == false)

        let stored = try #require(try test.store.newest("root"))
        var root = try Untrusted<RootDocument>(stored.bytes).verifiedByItself().document
        root.version = 2
        let bytes = try Authoring.envelope(signing: root, by: [test.root])
        let request = CommitRequest(roles: [CommitRequest.Role(role: "root", metadata: bytes)], targets: [])
        _ = try await test.registry.commit(request, by: .administrator, now: service.clock.now)
        var third = updater(service, store, anchor: anchor)
        #expect(try await third.poll())
        #expect(third.root?.document.version == 2)

        for _ in 0..<8 {
            service.clock.advance(seconds: OnlineLifetime.timestampRenewal * 4)
            _ = try await test.registry.refreshOnline(now: service.clock.now)
            var later = updater(service, store, anchor: anchor)
            try await later.refresh()
            #expect(later.timestamp?.document.issued == service.clock.now)
        }
    }
}
