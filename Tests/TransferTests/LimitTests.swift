import Blocking
import Names
import Support
import Synchronization
import Testing
import Transfer

/// Allows so many bytes and then says why no more.
final class Allowance: TransferPermission {
    private let left: Mutex<UInt64>
    init(_ bytes: UInt64) { left = Mutex(bytes) }

    func remaining(atLeast least: UInt64) throws(FetchPause) -> UInt64? {
        let left = left.withLock { $0 }
        guard left >= max(1, least) else { throw FetchPause("enough") }
        return left
    }

    func spend(_ bytes: UInt64) throws(FetchPause) {
        let isOver = left.withLock { left in
            defer { left -= min(left, bytes) }
            return bytes > left
        }
        if isOver { throw FetchPause("too much") }
    }

    func settle() {}
}

@Suite("Limits on transfers")
struct LimitTests {
    @Test(
        "a cap divides one line among all transfers, to the byte",
        arguments: [4_096, 2_000_000, 50_000_000]
    )
    func cap(_ rate: Int) {
        let cap = RateCap(bytesPerSecond: ByteCount(rate))
        let start = MonotonicTime.now
        var now = start
        var sum = 0
        var random = SeededRandom(seed: UInt64(rate))
        while now.seconds(since: start) < 60 {
            // Pieces of two transfers in turn, waits that last a little longer than asked for.
            let piece = Int.random(in: 1...32_768, using: &random)
            let wait = cap.seconds(after: piece, now: now)
            sum += piece
            now = now.adding(
                seconds: wait > 0 ? wait + Double.random(in: 0...0.002, using: &random) : 0.000_01
            )
        }
        let measured = Double(sum) / now.seconds(since: start)
        #expect(abs(measured / Double(rate) - 1) < 0.05, "\(measured) instead of \(rate)")
    }

    @Test("a pause on the line is not saved up")
    func pause() {
        let cap = RateCap(bytesPerSecond: ByteCount(1_000_000))
        let start = MonotonicTime.now
        #expect(cap.seconds(after: 1_000_000, now: start.adding(seconds: 100)) > 0.9)
        #expect(cap.seconds(after: 500_000, now: start.adding(seconds: 100)) > 1.4)
    }

    @Test("downloads under a cap come whole, and keep to it together")
    func capped() async throws {
        let samples = [Sample(1_000_000), Sample(1_500_000)]
        let server = FaultServer { request, _ in
            let sample = samples.first { request.path.hasSuffix($0.digest.hex) }
            return .file(sample?.content ?? [], for: request)
        }
        var configuration = quickConfiguration()
        configuration.rateCap = RateCap(bytesPerSecond: ByteCount(1_000_000))
        let downloader = BlobDownloader(configuration: configuration)
        let start = MonotonicTime.now
        try await withThrowingTaskGroup(of: Void.self) { group in
            for sample in samples {
                group.addTask {
                    let locations = [RepositoryLocation(base: server.base)]
                    _ = try await downloader.download(sample.download(blocks: true), from: locations)
                }
            }
            try await group.waitForAll()
        }
        for sample in samples { try sample.expectWhole() }
        #expect(MonotonicTime.now.seconds(since: start) > 2.5 * 0.95 - 0.05)
    }

    @Test("a limit in the middle of a file asks for no more than is allowed, and keeps it")
    func allowance() async throws {
        let sample = Sample()
        let server = FaultServer { request, _ in .file(sample.content, for: request) }
        var configuration = quickConfiguration()
        configuration.permission = Allowance(1_000_000)
        let downloader = BlobDownloader(configuration: configuration)
        let locations = [RepositoryLocation(base: server.base)]
        await #expect(throws: FetchError.paused(FetchPause("enough"))) {
            try await downloader.download(sample.download(blocks: true), from: locations)
        }
        #expect(server.bytesSent == 15 * Sample.blockSize)
        let receipt = try await sample.get(blocks: true, from: server)
        #expect(receipt.resumed == UInt64(15 * Sample.blockSize))
        try sample.expectWhole()
    }

    @Test("a server that sends all instead of a part is cut off at the limit")
    func unasked() async throws {
        let sample = Sample()
        let server = FaultServer { _, _ in FaultAnswer(body: sample.content) }
        var configuration = quickConfiguration()
        configuration.permission = Allowance(1_000_000)
        let downloader = BlobDownloader(configuration: configuration)
        let locations = [RepositoryLocation(base: server.base)]
        await #expect(throws: FetchError.paused(FetchPause("too much"))) {
            try await downloader.download(sample.download(blocks: true), from: locations)
        }
        #expect(try await sample.get(blocks: true, from: server).resumed >= 900_000)
    }

    @Test("with nothing allowed nothing is asked, and a limit is not an outage of the mirror")
    func nothing() async {
        let sample = Sample()
        let server = FaultServer { request, _ in .file(sample.content, for: request) }
        var configuration = quickConfiguration()
        configuration.permission = Allowance(1_000)
        let downloader = BlobDownloader(configuration: configuration)
        let locations = [RepositoryLocation(base: server.base)]
        let error = await #expect(throws: FetchError.self) {
            try await downloader.download(sample.download(blocks: true), from: locations)
        }
        #expect(error?.isOutage == true)
        #expect(server.requests.isEmpty)
    }
}
