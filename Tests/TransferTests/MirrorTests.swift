import Names
import Support
import Testing
import Transfer

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
