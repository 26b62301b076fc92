import Durable
import Glibc
import Names
import Support
import Testing
import Transfer

@Suite("Bytes the device has already")
struct ReuseTests {
    private let sample = Sample()

    private func get(_ relatives: [String], from server: FaultServer) async throws -> BlobReceipt {
        let download = sample.download(blocks: true, relatives: relatives)
        let downloader = BlobDownloader(configuration: quickConfiguration())
        return try await downloader.download(download, from: [RepositoryLocation(base: server.base)])
    }

    @Test("only the blocks that differ from an older file are fetched, each once")
    func changedBlocks() async throws {
        var old = sample.content
        let changed = [0, 17, 18, sample.blockCount - 1]
        for index in changed { old[sample.block(index).lowerBound] ^= 1 }
        try sample.scratch.write("old", old, mode: 0o444)
        let server = FaultServer { request, _ in .file(sample.content, for: request) }
        let receipt = try await get([sample.scratch.path("old")], from: server)
        try sample.expectWhole()
        let expected = changed.reduce(0) { $0 + sample.block($1).count }
        #expect(receipt.received == UInt64(expected))
        #expect(receipt.reused == UInt64(sample.content.count - expected))
        #expect(server.requests.count == 3, "neighbours come together")
        #expect(try sample.scratch.read("old") == old, "the older file is only read")
    }

    @Test("an older file of another length gives what it has", arguments: [100_000, 2_999_999, 3_500_000])
    func otherLength(_ length: Int) async throws {
        let old = Array(sample.content.prefix(length)) + bytes(max(0, length - 3_000_000), seed: 3)
        try sample.scratch.write("old", old)
        let server = FaultServer { request, _ in .file(sample.content, for: request) }
        let receipt = try await get([sample.scratch.path("old")], from: server)
        try sample.expectWhole()
        #expect(receipt.received + receipt.reused == 3_000_000)
        #expect(receipt.received < UInt64(3_000_000 - min(length, 3_000_000) + Sample.blockSize))
    }

    @Test("with every block there already nothing is asked")
    func nothingMissing() async throws {
        try sample.scratch.write("old", sample.content)
        let server = FaultServer { _, _ in FaultAnswer(status: 500) }
        let receipt = try await get([sample.scratch.path("old")], from: server)
        try sample.expectWhole()
        #expect(receipt.reused == 3_000_000 && server.requests.isEmpty)
    }

    @Test("what an earlier attempt left comes first, and a second relative fills what the first lacks")
    func several() async throws {
        try sample.scratch.write("partial", Array(sample.content[..<1_000_000]))
        var first = bytes(3_000_000, seed: 5)
        first.replaceSubrange(sample.block(20), with: sample.content[sample.block(20)])
        try sample.scratch.write("first", first)
        try sample.scratch.write("second", sample.flipped(at: sample.block(30).lowerBound))
        let server = FaultServer { request, _ in .file(sample.content, for: request) }
        let paths = ["first", "missing", "second"].map { sample.scratch.path($0) }
        let receipt = try await get(paths, from: server)
        try sample.expectWhole()
        #expect(receipt.received == UInt64(Sample.blockSize))
        #expect(receipt.resumed >= UInt64(1_000_000 - Sample.blockSize))
    }

    @Test("a relative that is a link, a folder or nothing is passed over")
    func useless() async throws {
        try Durable.makeDirectory(sample.scratch.path("folder"))
        try Durable.replaceLink(sample.scratch.path("link"), destination: "/dev/zero")
        let server = FaultServer { request, _ in .file(sample.content, for: request) }
        let paths = ["folder", "link", "missing"].map { sample.scratch.path($0) }
        #expect(try await get(paths, from: server).received == 3_000_000)
        try sample.expectWhole()
    }
}
