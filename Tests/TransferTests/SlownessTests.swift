import Names
import Support
import Testing
import Transfer

@Suite("Slow mirrors beside fast ones")
struct SlownessTests {
    private typealias Other = SlownessRule.Other
    private let rule = SlownessRule()

    @Test("a location is left when the rest would take long and another is new, or faster by far")
    func better() {
        func better(_ rate: Double, _ remaining: UInt64, _ rates: Double?...) -> Int? {
            let others = rates.enumerated().map { Other($0.offset, rate: $0.element) }
            return rule.better(than: rate, for: remaining, among: others)
        }
        #expect(better(3_000, 1_000_000) == nil, "alone")
        #expect(better(3_000, 30_000, nil) == nil, "ten seconds are no reason")
        #expect(better(3_000, 30_001, nil) == 0)
        #expect(better(3_000, 1_000_000, 1_000, nil, 90_000) == 1, "who knows how fast the new one is")
        #expect(better(3_000, 1_000_000, 1_000, 7_000, 6_500) == 1, "the fastest")
        #expect(better(3_000, 1_000_000, 1_000, 6_000) == nil, "twice as fast is not enough")
        #expect(better(0, 1, 0) == nil, "nothing is not faster than nothing")
        #expect(better(0, 1, 0.1) == 0)
    }

    @Test("a download begins with the fastest when all were measured, else with the one whose turn it is")
    func first() {
        func first(_ rate: Double?, _ remaining: UInt64, _ rates: Double?...) -> Int? {
            let others = rates.enumerated().map { Other($0.offset, rate: $0.element) }
            return rule.first(insteadOf: rate, for: remaining, among: others)
        }
        #expect(first(nil, 1_000_000, 90_000) == nil)
        #expect(first(3_000, 10, 90_000) == 0, "also for little")
        #expect(first(3_000, 10, nil, 90_000) == nil)
        #expect(first(3_000, 1_000_000, nil, 90_000) == 0)
        #expect(first(50_000, 1_000_000, 90_000) == nil)
    }

    private static func configuration() -> TransferConfiguration {
        var configuration = quickConfiguration()
        configuration.slowness.window = 0.2
        configuration.slowness.patience = 0.5
        return configuration
    }

    private static func slow(_ sample: Sample, _ drip: Int) -> FaultServer {
        FaultServer { request, _ in
            var answer = FaultAnswer.file(sample.content, for: request)
            answer.delivery = .drip(drip)
            return answer
        }
    }

    @Test("a mirror that is slow and not too slow is left at a block's end, and not begun with again")
    func left() async throws {
        let (sample, next) = (Sample(3_000_000), Sample(3_000_000))
        let slow = Self.slow(sample, 4_000)
        let fast = FaultServer { request, _ in .file(sample.content, for: request) }
        let downloader = BlobDownloader(configuration: Self.configuration())
        let locations = [slow, fast].map { RepositoryLocation(base: $0.base) }
        let receipt = try await downloader.download(sample.download(blocks: true), from: locations)
        try sample.expectWhole()
        #expect(slow.requests.count == 1 && fast.requests.count == 1, "one request more")
        let start = try #require(fast.requests.first?.range(of: 3_000_000)).lowerBound
        #expect(start > 0 && start % Sample.blockSize == 0, "what was proved is kept")
        #expect(receipt.received <= 3_000_000 + UInt64(2 * Sample.blockSize))
        _ = try await downloader.download(next.download(blocks: true), from: locations)
        try next.expectWhole()
        #expect(slow.requests.count == 1 && fast.requests.count == 2)
    }

    @Test("where a block would be long in coming, its beginning is given up")
    func given() async throws {
        let sample = Sample(3_000_000)
        let slow = Self.slow(sample, 50)
        let fast = FaultServer { request, _ in .file(sample.content, for: request) }
        let downloader = BlobDownloader(configuration: Self.configuration())
        let locations = [slow, fast].map { RepositoryLocation(base: $0.base) }
        _ = try await downloader.download(sample.download(blocks: true), from: locations)
        try sample.expectWhole()
        #expect(slow.requests.count == 1 && fast.requests.count == 1)
        #expect(slow.bytesSent < 2 * Sample.blockSize)
    }

    @Test("a slow mirror that stands alone, or beside one that is as slow, brings all of it")
    func alone() async throws {
        let sample = Sample(300_000)
        let servers = [Self.slow(sample, 2_000), Self.slow(sample, 2_000)]
        for count in 1...2 {
            let place = Sample(300_000)
            let downloader = BlobDownloader(configuration: Self.configuration())
            let locations = servers.prefix(count).map { RepositoryLocation(base: $0.base) }
            _ = try await downloader.download(place.download(blocks: true), from: locations)
            try place.expectWhole()
        }
        #expect(servers.map(\.requests.count).reduce(0, +) <= 3, "the second was tried once")
    }

    @Test("a rate cap of ours makes no mirror slow")
    func capped() async throws {
        let sample = Sample(400_000)
        let servers = (0..<2).map { _ in FaultServer { request, _ in .file(sample.content, for: request) } }
        var configuration = Self.configuration()
        configuration.rateCap = RateCap(bytesPerSecond: ByteCount(200_000))
        let downloader = BlobDownloader(configuration: configuration)
        let locations = servers.map { RepositoryLocation(base: $0.base) }
        _ = try await downloader.download(sample.download(blocks: true), from: locations)
        try sample.expectWhole()
        #expect(servers.map(\.requests.count) == [1, 0])
    }
}
