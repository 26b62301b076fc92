import Blocking
import Durable
import Glibc
import Manifest
import Names
import Signing
import Support
import Synchronization
import Testing
import Transfer

/// A file to download, its block list, and a place for it.
struct Sample {
    static let blockSize = 64 << 10
    let content: [UInt8]
    let scratch = Scratch()

    init(_ count: Int = 3_000_000) { content = bytes(count, seed: 7) }

    var path: String { scratch.path("partial") }
    var digest: Digest { SHA256.digest(of: content) }
    var blockCount: Int { (content.count + Self.blockSize - 1) / Self.blockSize }

    func block(_ index: Int) -> Range<Int> {
        let start = index * Self.blockSize
        return start..<min(start + Self.blockSize, content.count)
    }

    func download(blocks hasBlocks: Bool, relatives: [String] = []) -> BlobDownload {
        var list: [UInt8] = []
        for index in 0..<blockCount { list += SHA256.digest(of: Array(content[block(index)])).bytes }
        let blocks = try? BlockDigests(MemorySource(list), fileLength: UInt64(content.count))
        return BlobDownload(
            name: "weights.bin",
            digest: digest,
            length: UInt64(content.count),
            blocks: hasBlocks ? blocks : nil,
            path: path,
            relatives: relatives
        )
    }

    /// The content with one bit of `index` changed.
    func flipped(at index: Int) -> [UInt8] {
        var copy = content
        copy[index] ^= 1
        return copy
    }

    func get(
        blocks: Bool,
        from servers: FaultServer...,
        attempts: Int = 4,
        stallSeconds: Double = 1.5,
        progress: @escaping @Sendable (UInt64) -> Void = { _ in }
    ) async throws(FetchError) -> BlobReceipt {
        var configuration = quickConfiguration()
        configuration.retry.attempts = attempts
        configuration.stallSeconds = stallSeconds
        let downloader = BlobDownloader(configuration: configuration)
        let locations = servers.map { RepositoryLocation(base: $0.base) }
        return try await downloader.download(download(blocks: blocks), from: locations, progress: progress)
    }

    func expectWhole() throws {
        #expect(try scratch.read("partial") == content)
    }
}

final class ProgressLog: Sendable {
    private let log = Mutex<[UInt64]>([])
    var values: [UInt64] { log.withLock { $0 } }
    func append(_ value: UInt64) { log.withLock { $0.append(value) } }
}

@Suite("Downloads")
struct BlobDownloaderTests {
    @Test(
        "a file comes whole and proved",
        arguments: [0, 1, 65_535, 65_536, 65_537, 1_048_576, 3_000_000],
        [true, false]
    )
    func whole(_ count: Int, _ blocks: Bool) async throws {
        let sample = Sample(count)
        let server = FaultServer { request, _ in .file(sample.content, for: request) }
        let receipt = try await sample.get(blocks: blocks, from: server)
        #expect(receipt.received == UInt64(count))
        #expect(receipt.length == UInt64(count))
        #expect(receipt.proof == (blocks && count >= Sample.blockSize ? .everyBlock : .wholeDigest))
        #expect(server.requests.count == (count == 0 ? 0 : 1))
        try sample.expectWhole()
    }

    @Test("progress is verified bytes, never goes back and ends at the length", arguments: [true, false])
    func progress(_ blocks: Bool) async throws {
        let sample = Sample()
        let log = ProgressLog()
        let server = FaultServer { request, number in
            var answer = FaultAnswer.file(sample.content, for: request)
            if number == 0 { answer.delivery = .cut(after: 1_000_000) }
            return answer
        }
        _ = try await sample.get(blocks: blocks, from: server) { log.append($0) }
        let values = log.values
        #expect(values == values.sorted())
        if !blocks { #expect(values == [3_000_000], "a file without a list is verified at its end") }
        #expect(values.last == 3_000_000)
    }

    @Test("a connection that breaks costs only what was not proved yet", arguments: [true, false])
    func cut(_ blocks: Bool) async throws {
        let sample = Sample()
        let server = FaultServer { request, number in
            var answer = FaultAnswer.file(sample.content, for: request, etag: "\"1\"")
            if number < 5 { answer.delivery = .cut(after: 400_000) }
            return answer
        }
        let receipt = try await sample.get(blocks: blocks, from: server, attempts: 2)
        try sample.expectWhole()
        #expect(receipt.received <= UInt64(3_000_000 + 6 * Sample.blockSize))
        #expect(server.requests.dropFirst().allSatisfy { $0.fields["if-range"] == "\"1\"" })
    }

    @Test("a body that ends early without a length is cut off, not accepted", arguments: [true, false])
    func truncatedWithoutLength(_ blocks: Bool) async throws {
        let sample = Sample()
        let server = FaultServer { request, number in
            var answer = FaultAnswer.file(sample.content, for: request)
            answer.announced = -1
            if number == 0 { answer.body = Array(answer.body.prefix(1_234_567)) }
            return answer
        }
        _ = try await sample.get(blocks: blocks, from: server)
        try sample.expectWhole()
    }

    @Test("a server that stalls is given up and asked again", arguments: [true, false])
    func stall(_ blocks: Bool) async throws {
        let sample = Sample(500_000)
        let server = FaultServer { request, number in
            var answer = FaultAnswer.file(sample.content, for: request)
            if number == 0 { answer.delivery = .stall(after: 200_000) }
            return answer
        }
        _ = try await sample.get(blocks: blocks, from: server)
        try sample.expectWhole()
    }

    @Test("a server that ignores ranges still completes a resumed file", arguments: [true, false])
    func ignoresRange(_ blocks: Bool) async throws {
        let sample = Sample()
        let server = FaultServer { _, number in
            var answer = FaultAnswer(body: sample.content)
            if number == 0 { answer.delivery = .cut(after: 1_500_000) }
            return answer
        }
        _ = try await sample.get(blocks: blocks, from: server)
        try sample.expectWhole()
        #expect(server.requests[1].fields["range"] != nil)
    }

    @Test(
        "outages end the download after the last attempt, and what was proved stays",
        arguments: [true, false]
    )
    func outage(_ blocks: Bool) async throws {
        let sample = Sample()
        let server = FaultServer { request, number in
            var answer = FaultAnswer.file(sample.content, for: request)
            answer.delivery = .cut(after: 1_500_000)
            return number == 0 ? answer : FaultAnswer(status: 503)
        }
        let error = await #expect(throws: FetchError.self) {
            try await sample.get(blocks: blocks, from: server)
        }
        #expect(
            error
                == .outage(
                    .status(503, retryAfter: nil),
                    url: RepositoryLocation(base: server.base).blob(sample.digest)
                )
        )
        #expect(server.requests.count == 4)
        server.change { request, _ in .file(sample.content, for: request) }
        let receipt = try await sample.get(blocks: blocks, from: server)
        #expect(receipt.resumed >= UInt64(1_500_000 - Sample.blockSize))
        #expect(receipt.received + receipt.resumed == 3_000_000)
        try sample.expectWhole()
    }

    @Test("attempts are counted anew after progress")
    func refilledBudget() async throws {
        let sample = Sample()
        let server = FaultServer { request, _ in
            var answer = FaultAnswer.file(sample.content, for: request)
            answer.delivery = .cut(after: 150_000)
            return answer
        }
        _ = try await sample.get(blocks: true, from: server, attempts: 2)
        #expect(server.requests.count > 10)
        try sample.expectWhole()
    }

    @Test("absent everywhere is an outage that says so", arguments: [true, false])
    func absent(_ blocks: Bool) async {
        let sample = Sample(1_000)
        let server = FaultServer { _, _ in FaultAnswer(status: 404) }
        let error = await #expect(throws: FetchError.self) {
            try await sample.get(blocks: blocks, from: server)
        }
        #expect(error == .outage(.absent, url: RepositoryLocation(base: server.base).blob(sample.digest)))
        #expect(server.requests.count == 1)
    }

    @Test("cancelling stops at once and keeps what was proved")
    func cancelled() async throws {
        let sample = Sample()
        let server = FaultServer { request, _ in
            var answer = FaultAnswer.file(sample.content, for: request)
            answer.delivery = .stall(after: 2_000_000)
            return answer
        }
        let log = ProgressLog()
        let task = Task {
            try await sample.get(blocks: true, from: server, stallSeconds: 600) { log.append($0) }
        }
        while log.values.isEmpty { try await Blocking.sleep(seconds: 0.01) }
        task.cancel()
        await #expect(throws: FetchError.cancelled) { try await task.value }
        server.change { request, _ in .file(sample.content, for: request) }
        #expect(try await sample.get(blocks: true, from: server).resumed > 1_000_000)
    }

    @Test("two downloads into one file do not meet")
    func locked() async throws {
        let sample = Sample()
        let server = FaultServer { request, _ in
            var answer = FaultAnswer.file(sample.content, for: request)
            answer.delivery = .stall(after: 2_000_000)
            return answer
        }
        let task = Task { try await sample.get(blocks: true, from: server, stallSeconds: 600) }
        while server.requests.isEmpty { try await Blocking.sleep(seconds: 0.01) }
        let error = await #expect(throws: FetchError.self) {
            try await sample.get(blocks: true, from: server)
        }
        #expect(error == .storage(.locked(path: sample.path, holder: "another download")))
        task.cancel()
        _ = await task.result
    }

    @Test(
        "what stands in the place of the file and is not its own is replaced, and never written through",
        arguments: ["link", "hard link", "read-only hard link", "directory", "pipe"]
    )
    func notItsOwn(_ kind: String) async throws {
        let sample = Sample(1_000)
        try sample.scratch.write("victim", [1])
        let victim = sample.scratch.path("victim")
        switch kind {
        case "link": try Durable.replaceLink(sample.path, destination: "victim")
        case "directory": try Durable.makeDirectory(sample.path + "/below")
        case "pipe": #expect(mkfifo(sample.path, 0o600) == 0)
        default:
            if kind.hasPrefix("read-only") { chmod(victim, 0o444) }
            #expect(Glibc.link(victim, sample.path) == 0)
        }
        let server = FaultServer { request, _ in .file(sample.content, for: request) }
        _ = try await sample.get(blocks: true, from: server)
        try sample.expectWhole()
        #expect(try sample.scratch.read("victim") == [1])
    }

    @Test("a process killed while it downloads continues where it was", arguments: [true, false])
    func killed(_ blocks: Bool) async throws {
        let sample = Sample()
        let server = FaultServer { request, _ in .file(sample.content, for: request) }
        // What a killed process leaves: bytes in order up to some point, the last block torn.
        try sample.scratch.write("partial", Array(sample.content[..<2_000_001]))
        let receipt = try await sample.get(blocks: blocks, from: server)
        #expect(receipt.resumed >= UInt64(2_000_001 - Sample.blockSize))
        #expect(receipt.received + receipt.resumed == 3_000_000)
        try sample.expectWhole()
    }

    @Test("a process killed when all bytes are there asks for none again")
    func killedAtEnd() async throws {
        let sample = Sample()
        let server = FaultServer { request, _ in .file(sample.content, for: request) }
        let (base, path, content) = (server.base, sample.path, sample.content)
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [base = base as String, path = path as String, content = content as [UInt8]] in
            setenv("SEALIFT_CRASH_AT", "download.complete", 1)
            let download = BlobDownload(
                name: "weights.bin",
                digest: SHA256.digest(of: content),
                length: UInt64(content.count),
                blocks: nil,
                path: path
            )
            let downloader = BlobDownloader(configuration: quickConfiguration())
            _ = try await downloader.download(download, from: [RepositoryLocation(base: base)])
        }
        let receipt = try await sample.get(blocks: true, from: server)
        #expect(receipt.received == 0)
        #expect(receipt.resumed == 3_000_000)
        #expect(server.requests.count == 1)
    }

    @Test("a full disk keeps what was proved and says that space is missing")
    func fullDisk() async throws {
        let sample = Sample()
        let server = FaultServer { request, _ in .file(sample.content, for: request) }
        let (base, path, content) = (server.base, sample.path, sample.content)
        await #expect(processExitsWith: .success) {
            [base = base as String, path = path as String, content = content as [UInt8]] in
            setFault("download.block")
            let downloader = BlobDownloader(configuration: quickConfiguration())
            let download = BlobDownload(
                name: "weights.bin",
                digest: SHA256.digest(of: content),
                length: UInt64(content.count),
                blocks: nil,
                path: path
            )
            let error = await #expect(throws: FetchError.self) {
                try await downloader.download(download, from: [RepositoryLocation(base: base)])
            }
            guard case .storage(let storage) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(storage.isOutOfSpace)
        }
    }
}
