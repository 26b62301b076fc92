import Blocking
import Names
import Support
import Testing
import Transfer

/// A configuration for plain loopback whose limits a test can wait for.
func quickConfiguration() -> TransferConfiguration {
    var configuration = TransferConfiguration()
    configuration.allowsPlainLoopback = true
    configuration.stallSeconds = 1.5
    configuration.minimumRate = ByteCount(2_000)
    configuration.retry.firstDelay = 0.01
    configuration.retry.longestDelay = 0.05
    return configuration
}

/// Bytes of which no two pages of 4 KiB are alike, the same for the same seed.
func bytes(_ count: Int, seed: Int = 1) -> [UInt8] {
    var state = UInt64(seed) &* 0x9E37_79B9_7F4A_7C15 | 1
    let page: [UInt8] = (0..<4_096).map { _ in
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return UInt8(truncatingIfNeeded: state)
    }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count + page.count)
    while bytes.count < count {
        let number = bytes.count / page.count
        bytes += page
        for index in 0..<4 {
            bytes[number * page.count + index] = UInt8(truncatingIfNeeded: number >> (8 * index))
        }
    }
    bytes.removeLast(bytes.count - count)
    return bytes
}

@Suite("Fetching over HTTP")
struct CurlFetcherTests {
    private let fetcher = CurlFetcher(configuration: quickConfiguration())

    private func fetch(
        _ server: FaultServer,
        maximum: Int = 10_000,
        etag: String? = nil,
        range: Range<UInt64>? = nil
    ) async throws(FetchError) -> FetchOutcome {
        let request = FetchRequest(
            url: server.base + "file",
            maximumLength: ByteCount(maximum),
            ifNoneMatch: etag,
            range: range
        )
        return try await fetcher.fetch(request)
    }

    @Test("a body comes whole, up to the limit", arguments: [0, 1, 10_000])
    func whole(_ count: Int) async throws {
        let content = bytes(count)
        let server = FaultServer { request, _ in .file(content, for: request, etag: "\"a\"") }
        #expect(try await fetch(server) == .bytes(content, etag: "\"a\""))
    }

    @Test(
        "a longer body is refused by its announcement before a byte is taken, and else as it arrives",
        arguments: [false, true]
    )
    func tooLong(_ hidesLength: Bool) async {
        let server = FaultServer { _, _ in
            var answer = FaultAnswer(body: bytes(10_001))
            if hidesLength { answer.announced = -1 }
            return answer
        }
        let announced: UInt64? = hidesLength ? nil : 10_001
        let refusal = FetchRefusal.tooLong(limit: ByteCount(10_000), announced: announced)
        await #expect(throws: FetchError.refused(refusal, url: server.base + "file")) {
            try await fetch(server)
        }
    }

    @Test("a matching entity tag is not modified, and is sent as it came")
    func conditional() async throws {
        let server = FaultServer { request, _ in .file([1], for: request, etag: "\"x y\"") }
        #expect(try await fetch(server, etag: "\"x y\"") == .notModified)
        #expect(try await fetch(server, etag: "\"other\"") == .bytes([1], etag: "\"x y\""))
    }

    @Test("304 to an unconditional request is refused")
    func unaskedNotModified() async {
        let server = FaultServer { _, _ in FaultAnswer(status: 304) }
        await #expect(throws: FetchError.self) { try await fetch(server) }
    }

    @Test("404, 403 and 410 are absent", arguments: [404, 403, 410])
    func absent(_ status: Int) async throws {
        let server = FaultServer { _, _ in FaultAnswer(status: status, body: bytes(100)) }
        #expect(try await fetch(server) == .absent)
    }

    @Test(
        "statuses are refusals or outages",
        arguments: [
            (400, false), (401, false), (416, false), (429, true), (500, true), (503, true), (204, false),
        ]
    )
    func statuses(_ status: Int, _ isOutage: Bool) async {
        let server = FaultServer { _, _ in FaultAnswer(status: status, fields: [("Retry-After", "7")]) }
        let error = await #expect(throws: FetchError.self) { try await fetch(server) }
        #expect(error?.isOutage == isOutage)
        guard status == 429 else { return }
        #expect(error == .outage(.status(429, retryAfter: 7), url: server.base + "file"))
    }

    @Test(
        "a server may ask for a wait in seconds, however many, or by a date in each form of HTTP",
        arguments: [
            ("120", 120), ("99999999999", 3_600), ("99999999999999999999999", 3_600), ("0", 0),
            ("Sun, 06 Nov 1994 08:51:37 GMT", 120), ("Sunday, 06-Nov-94 08:51:37 GMT", 120),
            ("Sun Nov  6 08:51:37 1994", 120), ("Fri, 31 Dec 2199 23:59:59 GMT", 3_600),
            ("Sun, 06 Nov 1994 08:00:00 GMT", 0), ("soon", nil), ("-1", nil), ("", nil),
            ("Sun, 31 Feb 1994 08:51:37 GMT", nil), ("Sun, 06 Nov 1994 08:51:37 CET", nil),
        ] as [(String, Double?)]
    )
    func retryAfter(_ text: String, _ seconds: Double?) async {
        let date = "Sun, 06 Nov 1994 08:49:37 GMT"
        let server = FaultServer { _, _ in
            FaultAnswer(status: 503, fields: [("Date", date), ("Retry-After", text)])
        }
        let error = await #expect(throws: FetchError.self) { try await fetch(server) }
        #expect(error == .outage(.status(503, retryAfter: seconds), url: server.base + "file"))
    }

    @Test("a redirect is refused and names its target", arguments: [301, 302, 307, 308])
    func redirect(_ status: Int) async {
        let server = FaultServer { _, _ in
            FaultAnswer(status: status, fields: [("Location", "http://elsewhere/x")])
        }
        let refusal = FetchRefusal.redirected(to: "http://elsewhere/x")
        await #expect(throws: FetchError.refused(refusal, url: server.base + "file")) {
            try await fetch(server)
        }
        #expect(server.requests.count == 1)
    }

    @Test("an answer that is cut off is an outage")
    func cutOff() async {
        let server = FaultServer { request, _ in
            var answer = FaultAnswer.file(bytes(5_000), for: request)
            answer.delivery = .cut(after: 1_000)
            return answer
        }
        let error = await #expect(throws: FetchError.self) { try await fetch(server) }
        #expect(error == .outage(.cutOff(received: 1_000, expected: 5_000), url: server.base + "file"))
    }

    @Test(
        "an answer that stalls or drips is an outage",
        arguments: [FaultAnswer.Delivery.stall(after: 1_000), .drip(1)]
    )
    func stalled(_ delivery: FaultAnswer.Delivery) async {
        let server = FaultServer { request, _ in
            var answer = FaultAnswer.file(bytes(8_000), for: request)
            answer.delivery = delivery
            return answer
        }
        let error = await #expect(throws: FetchError.self) { try await fetch(server) }
        guard case .outage(.stalled, _) = error else {
            Issue.record("not a stall: \(String(describing: error))")
            return
        }
    }

    @Test("the deadline holds though bytes keep coming")
    func deadline() async {
        let server = FaultServer { request, _ in
            var answer = FaultAnswer.file(bytes(9_000), for: request)
            answer.delivery = .drip(30)
            return answer
        }
        var request = FetchRequest(url: server.base + "file", maximumLength: ByteCount(10_000))
        request.deadline = 1
        await #expect(throws: FetchError.outage(.timedOut(seconds: 1), url: request.url)) {
            try await fetcher.fetch(request)
        }
    }

    @Test("cancelling the task aborts the transfer")
    func cancelled() async throws {
        let server = FaultServer { request, _ in
            var answer = FaultAnswer.file(bytes(9_000), for: request)
            answer.delivery = .stall(after: 10)
            return answer
        }
        var configuration = quickConfiguration()
        configuration.stallSeconds = 60
        let patient = CurlFetcher(configuration: configuration)
        let url = server.base + "file"
        let task = Task {
            try await patient.fetch(FetchRequest(url: url, maximumLength: ByteCount(10_000)))
        }
        while server.requests.isEmpty { try await Blocking.sleep(seconds: 0.01) }
        let start = MonotonicTime.now
        task.cancel()
        await #expect(throws: FetchError.cancelled) { try await task.value }
        #expect(MonotonicTime.now.seconds(since: start) < 10)
    }

    @Test("nobody listening is an outage, a name that is not there another")
    func unreachable() async {
        let port = FaultServer { _, _ in FaultAnswer() }.port
        let gone = FetchRequest(url: "http://127.0.0.1:\(port)/", maximumLength: ByteCount(10))
        var error = await #expect(throws: FetchError.self) { try await fetcher.fetch(gone) }
        guard case .outage(.notConnected, _) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        let nameless = FetchRequest(url: "https://name.invalid/", maximumLength: ByteCount(10))
        error = await #expect(throws: FetchError.self) { try await fetcher.fetch(nameless) }
        guard case .outage(.nameNotResolved, _) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test(
        "addresses that are not https, or http to this machine by permission, are refused before any connection",
        arguments: [
            "http://models.example/", "http://127.0.0.1.evil.example/", "http://128.0.0.1/",
            "ftp://127.0.0.1/",
            "file:///etc/passwd", "https://user:secret@models.example/", "", "no url", "http://[::2]/",
            "http://localhost.evil.example/",
        ]
    )
    func refusedAddresses(_ url: String) async {
        let request = FetchRequest(url: url, maximumLength: ByteCount(10))
        let error = await #expect(throws: FetchError.self) { try await fetcher.fetch(request) }
        switch error {
        case .refused(.plainHTTP, _), .refused(.malformedURL, _): break
        default: Issue.record("\(String(describing: error))")
        }
        #expect(error?.description.contains("secret") == false)
    }

    @Test("plain http to this machine needs permission")
    func plainNeedsPermission() async {
        let server = FaultServer { _, _ in FaultAnswer() }
        let strict = CurlFetcher()
        let request = FetchRequest(url: server.base, maximumLength: ByteCount(10))
        await #expect(throws: FetchError.refused(.plainHTTP, url: server.base)) {
            try await strict.fetch(request)
        }
        #expect(server.requests.isEmpty)
    }

    @Test("a range is the same whether the server honours it or sends all", arguments: [true, false])
    func ranges(_ isHonoured: Bool) async throws {
        let content = bytes(5_000)
        let server = FaultServer { request, _ in
            isHonoured ? .file(content, for: request) : FaultAnswer(body: content)
        }
        let outcome = try await fetch(server, range: 1_000..<1_500)
        #expect(outcome == .bytes(Array(content[1_000..<1_500]), etag: nil))
    }

    @Test(
        "a part that is not the one asked for is refused",
        arguments: ["bytes 0-499/5000", "bytes 1000-1600/5000", "items 1000-1499/5000", ""]
    )
    func wrongRange(_ field: String) async {
        let server = FaultServer { _, _ in
            FaultAnswer(status: 206, fields: [("Content-Range", field)], body: bytes(500))
        }
        let error = await #expect(throws: FetchError.self) { try await fetch(server, range: 1_000..<1_500) }
        guard case .refused(.malformedAnswer, _) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test("a head without end is refused")
    func hugeHead() async {
        let server = FaultServer { _, _ in
            let fields = (0..<400).map { (name: "X-\($0)", value: String(repeating: "a", count: 100)) }
            return FaultAnswer(fields: fields, body: [1])
        }
        let error = await #expect(throws: FetchError.self) { try await fetch(server) }
        guard case .refused(.malformedAnswer, _) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test("one connection serves many requests, absent answers too")
    func reuse() async throws {
        let server = FaultServer { request, number in
            number % 2 == 0 ? .file([1, 2], for: request) : FaultAnswer(status: 404, body: bytes(500))
        }
        for _ in 0..<10 { _ = try await fetch(server) }
        #expect(server.connections == 1)
    }
}
