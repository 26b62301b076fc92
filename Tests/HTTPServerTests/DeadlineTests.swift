import Blocking
import Glibc
import Names
import Testing

@testable import HTTPServer

@Suite("Slow and many peers")
struct DeadlineTests {
    private let service = Answering { request, body in
        if request.target.path == "/big" {
            return HTTPResponse(status: 200, body: .bytes([UInt8](repeating: 1, count: 64 << 20)))
        }
        do {
            return .text("\(try await body.collect(upTo: .mebibytes(1)).count)")
        } catch {
            return .text("\(error)", status: 400)
        }
    }

    /// Sends a byte every 20 ms until the server has closed.
    ///
    /// - Returns: what the server said, and the seconds that it took.
    private static func drip(_ peer: Peer, _ bytes: [UInt8]) throws -> (String, Double) {
        let start = MonotonicTime.now
        for byte in bytes {
            var readable = pollfd(fd: peer.descriptor, events: Int16(POLLIN), revents: 0)
            if poll(&readable, 1, 20) == 1 { break }
            try peer.send([byte])
        }
        let said = try peer.receiveAll()
        return (String(decoding: said, as: UTF8.self), MonotonicTime.now.seconds(since: start))
    }

    @Test("a dripping head is cut off at the deadline, however steadily it drips")
    func headDrip() async throws {
        try await withServer(service, configured { $0.deadlines.head = .milliseconds(250) }) { server in
            let peer = try Peer(port: server.port)
            let head = "GET / HTTP/1.1\r\nHost: a\r\nX: " + String(repeating: "x", count: 400)
            let (said, seconds) = try Self.drip(peer, Array(head.utf8))
            #expect(said.hasPrefix("HTTP/1.1 408 "))
            #expect(seconds >= 0.2 && seconds < 8)
        }
    }

    @Test("a peer that says nothing is closed without a word, at first and between requests")
    func silence() async throws {
        let configuration = configured {
            $0.deadlines.head = .milliseconds(200)
            $0.deadlines.idle = .milliseconds(200)
        }
        try await withServer(service, configuration) { server in
            let silent = try Peer(port: server.port)
            let idle = try Peer(port: server.port)
            #expect(try idle.get("/").status == 200)
            #expect(try silent.receiveAll().isEmpty)
            #expect(try idle.receiveAll().isEmpty)
            #expect(becomesTrue { server.openConnections == 0 })
        }
    }

    @Test(
        "a body below the minimum rate is cut off, and the service told",
        arguments: ["", "Expect: 100-continue\r\n"]
    )
    func bodyDrip(_ field: String) async throws {
        let told = Gate()
        let reading = Answering { _, body in
            do {
                _ = try await body.collect(upTo: .mebibytes(1))
            } catch {
                if error as? HTTPBodyError == .disconnected { told.open() }
            }
            return .text("late")
        }
        try await withServer(reading, configured { $0.deadlines.rateWindow = .milliseconds(250) }) { server in
            let peer = try Peer(port: server.port)
            try peer.send("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\(field)\r\nfirst")
            let (said, seconds) = try Self.drip(peer, [UInt8](repeating: 0, count: 400))
            #expect(said.isEmpty || said == "HTTP/1.1 100 Continue\r\n\r\n")
            #expect(seconds >= 0.2 && seconds < 8)
            #expect(becomesTrue { told.isOpen })
        }
    }

    @Test("a reader below the minimum rate is cut off")
    func slowReader() async throws {
        try await withServer(service, configured { $0.deadlines.rateWindow = .milliseconds(250) }) { server in
            let peer = try Peer(port: server.port, receiveBuffer: 8_192)
            try peer.send("GET /big HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try !peer.receive(upTo: 16).isEmpty)
            #expect(server.openConnections == 1)
            #expect(becomesTrue { server.openConnections == 0 })
            #expect(try peer.receiveAll().count < 64 << 20)
        }
    }

    @Test("a service that takes its time is not the peer's fault")
    func slowService() async throws {
        let slow = Answering { _, body in
            try? await Blocking.sleep(seconds: 0.6)
            return .text("\((try? await body.collect(upTo: .mebibytes(2)).count) ?? -1)")
        }
        let configuration = configured {
            $0.deadlines.rateWindow = .milliseconds(150)
            $0.deadlines.head = .milliseconds(150)
            $0.deadlines.idle = .milliseconds(150)
        }
        try await withServer(slow, configuration) { server in
            let peer = try Peer(port: server.port)
            try peer.send("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: \(1 << 20)\r\n\r\n")
            try peer.send([UInt8](repeating: 0, count: 1 << 20))
            #expect(try peer.answer().text == "\(1 << 20)")
        }
    }

    @Test("the peer's leaving is told to the service")
    func leaving() async throws {
        let (started, told) = (Gate(), Gate())
        let reading = Answering { _, body in
            started.open()
            do {
                _ = try await body.next()
                _ = try await body.next()
            } catch {
                told.open()
            }
            return .text("")
        }
        try await withServer(reading) { server in
            do {
                let peer = try Peer(port: server.port)
                try peer.send("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nx")
                #expect(becomesTrue { started.isOpen })
            }
            #expect(becomesTrue { told.isOpen && server.openConnections == 0 })
        }
    }

    @Test("no more connections are held than the caps allow", arguments: [true, false])
    func caps(perAddress: Bool) async throws {
        let configuration = configured {
            if perAddress { $0.limits.connectionsPerAddress = 2 } else { $0.limits.connections = 2 }
        }
        try await withServer(service, configuration) { server in
            var peers = [try Peer(port: server.port), try Peer(port: server.port)]
            for peer in peers { #expect(try peer.get("/").status == 200) }
            #expect(try Peer(port: server.port).receiveAll().isEmpty)
            #expect(try peers[0].get("/").status == 200)
            peers.removeLast()
            #expect(becomesTrue { server.openConnections == 1 })
            #expect(try Peer(port: server.port).get("/").status == 200)
        }
    }
}
