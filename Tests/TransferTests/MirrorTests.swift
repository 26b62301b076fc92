import Names
import Support
import Testing
import Transfer
import Trust

@Suite("Mirrors")
struct MirrorTests {
    @Test("a mirror that failed is left alone for the files that follow, and the others serve them")
    func standing() async throws {
        let (one, other) = (Sample(200_000), Sample(300_000))
        let down = FaultServer { _, _ in FaultAnswer(status: 503, fields: [("Retry-After", "60")]) }
        let good = FaultServer { request, _ in
            .file(request.path.hasSuffix(one.digest.hex) ? one.content : other.content, for: request)
        }
        let downloader = BlobDownloader(configuration: quickConfiguration())
        let locations = [down, good].map { RepositoryLocation(base: $0.base) }
        for sample in [one, other] {
            _ = try await downloader.download(sample.download(blocks: true), from: locations)
            try sample.expectWhole()
        }
        #expect(down.requests.count == 1)
        #expect(good.requests.count == 2)
    }

    @Test("what went wrong with a location is known until it is forgotten, and longer while it is left alone")
    func troubles() {
        let locations = ["https://a.test/", "https://b.test/"].map { RepositoryLocation(base: $0) }
        let standings = MirrorStandings()
        let mirrors = Mirrors(locations, standings)
        for location in locations { mirrors.failed(location, "first") }
        mirrors.failed(locations[0], "second")
        mirrors.succeeded(locations[0])
        #expect(mirrors.troubles.map(\.what) == ["first", "first"])
        standings.forgetTroubles()
        #expect(mirrors.troubles.map(\.location) == [locations[1]])
        mirrors.succeeded(locations[1])
        standings.forgetTroubles()
        #expect(mirrors.troubles.isEmpty)
        Mirrors([locations[0]], standings).failed(locations[0], "alone")
        #expect(mirrors.troubles.isEmpty, "what fails alone is the sync's own error")
    }

    @Test("a location is left alone as long as it asks, while another answers")
    func asked() async throws {
        let busy = FaultServer { _, _ in FaultAnswer(status: 503, fields: [("Retry-After", "600")]) }
        let good = FaultServer { _, _ in FaultAnswer(status: 404) }
        let mirrors = Mirrors([busy, good].map { RepositoryLocation(base: $0.base) })
        let fetcher = CurlFetcher(configuration: quickConfiguration())
        let model = try #require(ModelName("vision/detector"))
        let repository = try SimulatedRepository.sealift(model, now: UnixTime(rawValue: 1_796_000_000))
        good.change { request, _ in
            let name = String(request.path.dropFirst("/metadata/".utf8.count))
            guard let bytes = repository.files[name] else { return FaultAnswer(status: 404) }
            return FaultAnswer.file(bytes, for: request)
        }
        let anchor = try #require(repository.files["1.root.json"])
        for _ in 0..<2 {
            var updater = MetadataUpdater(
                anchor: anchor,
                store: MemoryMetadataStore(),
                fetcher: fetcher,
                mirrors: mirrors,
                now: UnixTime(rawValue: 1_796_000_000),
                policy: .sealift
            )
            try await updater.refresh()
        }
        #expect(busy.requests.count == 1)
    }

    @Test("a mirror that comes back is asked again when its time is over")
    func recovery() async throws {
        let (one, other) = (Sample(200_000), Sample(300_000))
        let first = FaultServer { _, number in FaultAnswer(status: 503) }
        let second = FaultServer { request, number in
            number == 0 ? .file(one.content, for: request) : FaultAnswer(status: 503)
        }
        let downloader = BlobDownloader(configuration: quickConfiguration())
        let locations = [first, second].map { RepositoryLocation(base: $0.base) }
        _ = try await downloader.download(one.download(blocks: true), from: locations)
        first.change { request, _ in .file(other.content, for: request) }
        _ = try await downloader.download(other.download(blocks: true), from: locations)
        try other.expectWhole()
        #expect(first.requests.count == 2)
    }

    @Test("each mirror has its own share of the attempts")
    func attempts() async {
        let sample = Sample(100_000)
        let servers = (0..<3).map { _ in FaultServer { _, _ in FaultAnswer(status: 500) } }
        var configuration = quickConfiguration()
        configuration.retry.attempts = 3
        let downloader = BlobDownloader(configuration: configuration)
        let locations = servers.map { RepositoryLocation(base: $0.base) }
        await #expect(throws: FetchError.self) {
            try await downloader.download(sample.download(blocks: true), from: locations)
        }
        #expect(servers.map(\.requests.count).reduce(0, +) == 9)
        #expect(servers.allSatisfy { $0.requests.count > 1 })
    }

    @Test("a mirror that sends wrong bytes is left for another, block by block")
    func lying() async throws {
        let sample = Sample()
        let liar = FaultServer { request, _ in .file(sample.flipped(at: 1_000_000), for: request) }
        let honest = FaultServer { request, _ in .file(sample.content, for: request) }
        let receipt = try await sample.get(blocks: true, from: liar, honest)
        try sample.expectWhole()
        #expect(receipt.received == UInt64(3_000_000 + Sample.blockSize))
        #expect(honest.requests.count == 1)
    }
}
