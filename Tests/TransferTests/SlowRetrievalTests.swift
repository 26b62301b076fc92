import Names
import Support
import Testing
import Transfer
import Trust

@Suite("Attack: slow retrieval")
struct SlowRetrievalTests {
    private let start = UnixTime(rawValue: 1_796_000_000)

    /// A client that has refreshed once over loopback, and its registry's next moment.
    private func update(
        _ store: MemoryMetadataStore,
        _ server: FaultServer,
        _ anchor: [UInt8]
    ) -> MetadataUpdater {
        var configuration = TransferConfiguration()
        configuration.allowsPlainLoopback = true
        configuration.stallSeconds = 0.4
        configuration.answerSeconds = 5
        return MetadataUpdater(
            anchor: anchor,
            store: store,
            fetcher: CurlFetcher(configuration: configuration),
            mirrors: Mirrors([RepositoryLocation(base: server.base)]),
            now: start,
            policy: .sealift
        )
    }

    @Test(
        "a file that does not come, or comes byte by byte, is an outage in bounded time; what was trusted stays",
        arguments: ["2.root.json", "timestamp.json", "3.snapshot.json", "3.targets.json"],
        [0, 1]
    )
    func slow(name: String, sent: Int) async throws {
        let model = try #require(ModelName("vision/detector"))
        var repository = try SimulatedRepository.sealift(model, now: start)
        let anchor = try #require(repository.files["1.root.json"])
        let before = repository
        let server = FaultServer { request, _ in Self.answer(before, request) }
        let store = MemoryMetadataStore()
        var updater = update(store, server, anchor)
        try await updater.refresh()
        let trusted = store.contents
        if name == "2.root.json" { try repository.publishRoot() }
        try repository.publish()
        let after = repository
        server.change { request, _ in
            var answer = Self.answer(after, request)
            guard request.path.hasSuffix("/\(name)") else { return answer }
            answer.delivery = sent == 0 ? .stall(after: 0) : .drip(sent)
            return answer
        }
        updater = update(store, server, anchor)
        let error = await #expect(throws: UpdateError.self) { try await updater.refresh() }
        guard case .fetch(.outage(_, url: server.base + "metadata/" + name)) = try #require(error) else {
            Issue.record("\(String(describing: error))")
            return
        }
        // What came whole before it may be newer; that file and those behind it are as they were.
        let order = ["root.json", "timestamp.json", "snapshot.json", "targets.json"]
        let place = try #require(order.firstIndex { name.hasSuffix($0) })
        for file in order[place...] { #expect(store.contents[file] == trusted[file], "\(file)") }
        server.change { request, _ in Self.answer(after, request) }
        updater = update(store, server, anchor)
        try await updater.refresh()
        #expect(updater.targets?.document.version == 3)
    }

    private static func answer(_ repository: SimulatedRepository, _ request: FaultRequest) -> FaultAnswer {
        guard let bytes = repository.files[String(request.path.dropFirst("/metadata/".count))] else {
            return FaultAnswer(status: 404)
        }
        return FaultAnswer.file(bytes, for: request)
    }
}
