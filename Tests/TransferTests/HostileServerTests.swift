import Durable
import Glibc
import Names
import Signing
import Support
import Testing
import Transfer

func setFault(_ point: String) { setenv("SEALIFT_FAULT_AT", point, 1) }

@Suite("Downloads from hostile or broken servers")
struct HostileServerTests {
    @Test("one flipped bit costs one block", arguments: [0, 1_500_000, 2_999_999])
    func flippedBit(_ place: Int) async throws {
        let sample = Sample()
        let server = FaultServer { request, number in
            .file(number == 0 ? sample.flipped(at: place) : sample.content, for: request)
        }
        let receipt = try await sample.get(blocks: true, from: server)
        try sample.expectWhole()
        let block = sample.block(place / Sample.blockSize)
        #expect(server.requests.count == 2)
        #expect(server.requests[1].fields["range"] == "bytes=\(block.lowerBound)-\(block.upperBound - 1)")
        #expect(receipt.received == UInt64(3_000_000 + block.count))
    }

    @Test("a block that stays wrong is refused, with its file, number and digests, and never written")
    func persistentBlock() async throws {
        let sample = Sample()
        let bad = sample.flipped(at: 20 * Sample.blockSize + 5)
        let server = FaultServer { request, _ in .file(bad, for: request) }
        let error = await #expect(throws: FetchError.self) {
            try await sample.get(blocks: true, from: server)
        }
        guard case .refused(.block(let file, let index, _, let found), _) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(file == "weights.bin")
        #expect(index == 20)
        #expect(found == SHA256.digest(of: Array(bad[sample.block(20)])))
        #expect(error?.description.contains("block 20 of weights.bin") == true)
        #expect(try !sample.scratch.read("partial")[sample.block(20)].elementsEqual(bad[sample.block(20)]))
        #expect(server.requests.count == 2)
    }

    @Test("a file that stays wrong is refused after one more try, whole")
    func persistentFile() async throws {
        let sample = Sample(500_000)
        let bad = sample.flipped(at: 77)
        let server = FaultServer { request, _ in .file(bad, for: request) }
        let error = await #expect(throws: FetchError.self) {
            try await sample.get(blocks: false, from: server)
        }
        let url = RepositoryLocation(base: server.base).blob(sample.digest)
        #expect(error == .refused(.digest(expected: sample.digest, found: SHA256.digest(of: bad)), url: url))
        #expect(server.requests.count == 2)
    }

    @Test("a server full of other bytes is left after a few blocks")
    func garbage() async throws {
        let sample = Sample(20_000_000)
        let other = bytes(20_000_000, seed: 99)
        let server = FaultServer { request, _ in .file(other, for: request) }
        await #expect(throws: FetchError.self) { try await sample.get(blocks: true, from: server) }
        #expect(server.bytesSent < 40_000_000)
    }

    @Test("a bad mirror is no harm when another is good", arguments: [true, false])
    func badMirror(_ blocks: Bool) async throws {
        let sample = Sample(700_000)
        let bad = FaultServer { request, _ in .file(sample.flipped(at: 3), for: request) }
        let good = FaultServer { request, _ in .file(sample.content, for: request) }
        _ = try await sample.get(blocks: blocks, from: bad, good)
        try sample.expectWhole()
    }

    @Test(
        "a mirror that refuses, lacks the file or is down is passed over at once",
        arguments: [404, 403, 302, 401, 416, 503],
        [true, false]
    )
    func uselessMirror(_ status: Int, _ blocks: Bool) async throws {
        let sample = Sample(300_000)
        let useless = FaultServer { _, _ in FaultAnswer(status: status, fields: [("Location", "http://x/")]) }
        let good = FaultServer { request, _ in .file(sample.content, for: request) }
        let receipt = try await sample.get(blocks: blocks, from: useless, good)
        try sample.expectWhole()
        #expect(receipt.received == 300_000)
    }

    @Test(
        "a length that is not the signed one is refused before a byte is taken",
        arguments: [0, 2_999_999, 3_000_001, 1 << 50],
        [true, false]
    )
    func wrongAnnouncement(_ announced: Int, _ blocks: Bool) async {
        let sample = Sample()
        let server = FaultServer { request, _ in
            var answer = FaultAnswer.file(sample.content, for: request)
            answer.announced = announced
            return answer
        }
        let error = await #expect(throws: FetchError.self) {
            try await sample.get(blocks: blocks, from: server)
        }
        #expect(error?.isOutage == false)
    }

    @Test("a body without end stops at the signed length", arguments: [true, false])
    func endless(_ blocks: Bool) async throws {
        let sample = Sample(100_000)
        let server = FaultServer { _, _ in
            var answer = FaultAnswer(body: sample.content + bytes(30_000_000))
            answer.announced = -1
            return answer
        }
        // The first bytes are right, so the file may be accepted; more must never be on the disk.
        _ = try? await sample.get(blocks: blocks, from: server)
        #expect(try sample.scratch.read("partial").count <= 100_000)
    }

    @Test("an empty body with status 200 is never a file", arguments: [true, false])
    func emptyBody(_ blocks: Bool) async {
        let sample = Sample(100_000)
        let server = FaultServer { _, _ in
            var answer = FaultAnswer()
            answer.announced = -1
            return answer
        }
        let error = await #expect(throws: FetchError.self) {
            try await sample.get(blocks: blocks, from: server)
        }
        #expect(error?.isOutage == true)
    }

    @Test(
        "a part that is not the one asked for is refused",
        arguments: ["bytes 0-999/3000000", "bytes 65536-2999999/4000000", "nonsense", ""]
    )
    func wrongPart(_ field: String) async throws {
        let sample = Sample()
        try sample.scratch.write("partial", Array(sample.content[..<65_536]))
        let server = FaultServer { _, _ in
            FaultAnswer(status: 206, fields: [("Content-Range", field)], body: bytes(1_000))
        }
        let error = await #expect(throws: FetchError.self) {
            try await sample.get(blocks: true, from: server)
        }
        guard case .refused(.malformedAnswer, _) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test("a stale partial file heals", arguments: [true, false], [1_000_000, 3_000_000, 4_000_000])
    func stalePartial(_ blocks: Bool, _ length: Int) async throws {
        let sample = Sample()
        try sample.scratch.write("partial", bytes(length, seed: 42))
        let server = FaultServer { request, _ in .file(sample.content, for: request) }
        _ = try await sample.get(blocks: blocks, from: server)
        try sample.expectWhole()
    }

    @Test("a byte that changed on the disk between two runs costs one block")
    func damagedPartial() async throws {
        let sample = Sample()
        try sample.scratch.write("partial", sample.flipped(at: 1_000_000))
        let server = FaultServer { request, _ in .file(sample.content, for: request) }
        let receipt = try await sample.get(blocks: true, from: server)
        #expect(receipt.received == UInt64(Sample.blockSize))
        try sample.expectWhole()
    }

    @Test("a server that answers every range with 416 is asked for the whole file", arguments: [true, false])
    func neverSatisfiable(_ blocks: Bool) async throws {
        let sample = Sample()
        try sample.scratch.write("partial", Array(sample.content[..<1_000_000]))
        let server = FaultServer { request, _ in
            request.fields["range"] == nil ? .file(sample.content, for: request) : FaultAnswer(status: 416)
        }
        let receipt = try await sample.get(blocks: blocks, from: server)
        try sample.expectWhole()
        #expect(receipt.resumed > 0 && server.requests.count == 2)
    }

    @Test("416 for a partial file without a list makes the download start again, once")
    func unsatisfiable() async throws {
        let sample = Sample()
        try sample.scratch.write("partial", Array(sample.content[..<1_000_000]))
        let server = FaultServer { request, number in
            number == 0 ? FaultAnswer(status: 416) : .file(sample.content, for: request)
        }
        _ = try await sample.get(blocks: false, from: server)
        try sample.expectWhole()
        #expect(server.requests.count == 2)
        #expect(server.requests[1].fields["range"] == nil)
    }

    @Test("parts too small to hold a block end the download", arguments: [1, 65_535])
    func tinyParts(_ count: Int) async {
        let sample = Sample(300_000)
        let server = FaultServer { request, _ in
            let first = request.range(of: 300_000)?.lowerBound ?? 0
            let field = "bytes \(first)-\(first + count - 1)/300000"
            let part = Array(sample.content[first..<first + count])
            return FaultAnswer(status: 206, fields: [("Content-Range", field)], body: part)
        }
        let error = await #expect(throws: FetchError.self) {
            try await sample.get(blocks: true, from: server)
        }
        #expect(error?.isOutage == true)
        #expect(server.requests.count == 4)
    }

    @Test("a server that alternates bytes and 416 does not keep a client for ever")
    func alternating() async {
        let sample = Sample(300_000)
        let server = FaultServer { request, _ in
            guard request.fields["range"] == nil else { return FaultAnswer(status: 416) }
            var answer = FaultAnswer.file(sample.content, for: request)
            answer.delivery = .cut(after: 100_000)
            return answer
        }
        await #expect(throws: FetchError.self) { try await sample.get(blocks: false, from: server) }
        #expect(server.requests.count < 10)
    }

    @Test("back-off doubles up to its bound, with jitter below")
    func backOff() {
        let policy = RetryPolicy()
        #expect(policy.delay(afterFailures: 1, jitter: 1) == 0.5)
        #expect(policy.delay(afterFailures: 3, jitter: 1) == 2)
        #expect(policy.delay(afterFailures: 3, jitter: 0) == 1)
        #expect(policy.delay(afterFailures: 1_000, jitter: 1) == 30)
    }
}
