import Names
import Testing

@testable import HTTPServer

@Suite("Requests on a live connection")
struct ExchangeTests {
    /// Answers with the path, or with the length of a body that `/read` is sent.
    private let service = Answering { request, body in
        switch request.target.path {
        case "/read":
            do {
                var length = 0
                var longest = 0
                while let bytes = try await body.next() {
                    length += bytes.count
                    longest = max(longest, bytes.count)
                }
                return .text("\(length) \(longest)")
            } catch {
                return .text("\(error)", status: 400)
            }
        case "/bad-field": return HTTPResponse(status: 200, fields: ["X": "a\r\nSet-Cookie: b"])
        case "/none": return HTTPResponse(status: 204, body: .bytes([1]))
        case "/close":
            var response = HTTPResponse.text("bye")
            response.closesConnection = true
            return response
        default: return .text(request.target.path)
        }
    }

    @Test("requests follow one another on one connection")
    func keepAlive() async throws {
        try await withServer(service) { server in
            let peer = try Peer(port: server.port)
            for path in ["/a", "/b", "/none", "/c"] {
                let answer = try peer.get(path)
                #expect(answer.status == (path == "/none" ? 204 : 200))
                #expect(answer.text == (path == "/none" ? "" : path))
                #expect(!answer.head.contains("connection:"))
            }
            #expect(server.openConnections == 1)
        }
    }

    @Test("HEAD is answered as GET, without the body")
    func head() async throws {
        try await withServer(service) { server in
            let peer = try Peer(port: server.port)
            try peer.send("HEAD /abc HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try peer.answer(toHead: true).head.contains("content-length: 4\r\n"))
            #expect(try peer.get("/next").text == "/next")
        }
    }

    @Test("pipelined requests are answered in order, each with its own body")
    func pipelined() async throws {
        try await withServer(service) { server in
            let peer = try Peer(port: server.port)
            try peer.send(
                "GET /1 HTTP/1.1\r\nHost: a\r\n\r\nPUT /read HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc"
                    + "POST /unread HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nGET GET /4 HTTP/1.1\r\nHost: a\r\n\r\n"
            )
            let answers = try (0..<4).map { _ in try peer.answer().text }
            #expect(answers == ["/1", "3 3", "/unread", "/4"])
        }
    }

    @Test(
        "after a bad head comes its refusal and the end, and nothing behind it is read",
        arguments: [
            (
                "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
                400
            ),
            ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 411),
            ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nContent-Length: 40\r\n\r\n", 400),
            ("GET / HTTP/1.1\nHost: a\n\n", 400), ("\u{16}\u{3}\u{1}\u{2}", 400),
        ]
    )
    func refusal(_ bad: String, _ status: Int) async throws {
        try await withServer(service) { server in
            let peer = try Peer(port: server.port)
            try peer.send(
                "GET /good HTTP/1.1\r\nHost: a\r\n\r\n" + bad + "GET /hidden HTTP/1.1\r\nHost: a\r\n\r\n"
            )
            #expect(try peer.answer().text == "/good")
            let refusal = try peer.answer()
            #expect(refusal.status == status)
            #expect(refusal.head.contains("connection: close"))
            #expect(try peer.receiveAll().isEmpty)
        }
    }

    @Test("a service cannot write a line end into the head")
    func responseSplitting() async throws {
        try await withServer(service) { server in
            let answer = try Peer(port: server.port).get("/bad-field")
            #expect(answer.status == 500)
            #expect(!answer.head.contains("Set-Cookie"))
        }
    }

    @Test(
        "the connection ends when either side or the version asks",
        arguments: [
            "GET /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", "GET /x HTTP/1.0\r\n\r\n",
            "GET /close HTTP/1.1\r\nHost: a\r\n\r\n",
        ]
    )
    func closes(_ request: String) async throws {
        try await withServer(service) { server in
            let peer = try Peer(port: server.port)
            try peer.send(request)
            #expect(try peer.answer().head.contains("connection: close"))
            #expect(try peer.receiveAll().isEmpty)
        }
    }

    @Test("a long upload reaches the service in bounded pieces")
    func upload() async throws {
        try await withServer(service) { server in
            let peer = try Peer(port: server.port)
            let piece = [UInt8](repeating: 7, count: 1 << 20)
            try peer.send("PUT /read HTTP/1.1\r\nHost: a\r\nContent-Length: \(48 << 20)\r\n\r\n")
            for _ in 0..<48 { try peer.send(piece) }
            let numbers = try peer.answer().text.split(separator: " ").compactMap { Int($0) }
            #expect(numbers.first == 48 << 20)
            #expect(try #require(numbers.last) <= 256 << 10 + 128 << 10)
            #expect(try peer.get("/after").text == "/after")
        }
    }

    @Test("an upload waits in the peer while the service does not read")
    func backPressure() async throws {
        let gate = Gate()
        let stalling = Answering { _, body in
            await gate.wait()
            return .text(
                (try? await body.collect(upTo: ByteCount(64 << 20)).count).map(String.init) ?? "failed"
            )
        }
        try await withServer(stalling) { server in
            let peer = try Peer(port: server.port)
            try peer.send("PUT /x HTTP/1.1\r\nHost: a\r\nContent-Length: \(32 << 20)\r\n\r\n")
            let sent = try peer.sendUntilBlocked(most: 32 << 20)
            #expect(sent < 32 << 20, "the server took an upload that nobody read")
            gate.open()
            try peer.send([UInt8](repeating: 0, count: 32 << 20 - sent))
            #expect(try peer.answer().text == "\(32 << 20)")
        }
    }

    @Test("100 Continue is sent once the service reads, and not when it refuses")
    func expectation() async throws {
        try await withServer(service) { server in
            let peer = try Peer(port: server.port)
            let fields = "Host: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n"
            try peer.send("PUT /read HTTP/1.1\r\n" + fields)
            #expect(try peer.answer().head == "HTTP/1.1 100 Continue\r\n\r\n")
            try peer.send("hello")
            #expect(try peer.answer().text == "5 5")
            try peer.send("PUT /unread HTTP/1.1\r\n" + fields)
            let refusal = try peer.answer()
            #expect(refusal.status == 200)
            #expect(refusal.head.contains("connection: close"))
            #expect(try peer.receiveAll().isEmpty)
        }
    }

    @Test("a long body that nobody reads ends the connection, after the answer")
    func unreadBody() async throws {
        try await withServer(service) { server in
            let peer = try Peer(port: server.port)
            try peer.send("PUT /unread HTTP/1.1\r\nHost: a\r\nContent-Length: \(1 << 30)\r\n\r\n")
            let answer = try peer.answer()
            #expect(answer.text == "/unread")
            #expect(answer.head.contains("connection: close"))
            #expect(try peer.receiveAll().isEmpty)
        }
    }

    @Test("a declared length past the limit is refused before the service is asked")
    func tooLong() async throws {
        try await withServer(service, configured { $0.limits.body = ByteCount(10) }) { server in
            let peer = try Peer(port: server.port)
            try peer.send("PUT /read HTTP/1.1\r\nHost: a\r\nContent-Length: 11\r\n\r\n")
            #expect(try peer.answer().status == 413)
        }
    }
}
