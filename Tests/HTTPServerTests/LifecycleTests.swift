import Blocking
import Glibc
import Testing

@testable import HTTPServer

@Suite("A server's life")
struct LifecycleTests {
    private let service = Answering { request, _ in .text(request.remoteAddress) }

    @Test("draining lets the request in flight end, and nothing new begin")
    func drain() async throws {
        let (started, gate) = (Gate(), Gate())
        let waiting = Answering { request, _ in
            guard request.target.path == "/wait" else { return .text("quick") }
            started.open()
            await gate.wait()
            return .text("done")
        }
        try await withServer(waiting) { server in
            let (busy, idle) = (try Peer(port: server.port), try Peer(port: server.port))
            #expect(try idle.get("/").status == 200)
            try busy.send("GET /wait HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(becomesTrue { started.isOpen })
            server.drain()
            #expect(try idle.receiveAll().isEmpty)
            #expect(becomesTrue { (try? Peer(port: server.port)) == nil })
            gate.open()
            let answer = try busy.answer()
            #expect(answer.text == "done")
            #expect(answer.head.contains("connection: close"))
        }
    }

    @Test("draining ends at its deadline, and cancels what is still in work")
    func drainDeadline() async throws {
        let (started, cancelled) = (Gate(), Gate())
        let endless = Answering { _, _ in
            started.open()
            try? await Blocking.sleep(seconds: 60)
            if Task.isCancelled { cancelled.open() }
            return .text("late")
        }
        let start = MonotonicTime.now
        try await withServer(endless, configured { $0.deadlines.drain = .milliseconds(200) }) { server in
            let peer = try Peer(port: server.port)
            try peer.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(becomesTrue { started.isOpen })
            server.drain()
            #expect(try peer.receiveAll().isEmpty)
            #expect(becomesTrue { cancelled.isOpen })
        }
        #expect(MonotonicTime.now.seconds(since: start) < 10)
    }

    @Test("a server drained before it runs ends at once, and a cancelled one too")
    func earlyDrain() async throws {
        let server = try HTTPServer(configuration: HTTPServerConfiguration(), service: service)
        server.drain()
        try await server.run()
        let other = try HTTPServer(configuration: HTTPServerConfiguration(), service: service)
        let running = Task { try await other.run() }
        running.cancel()
        try await running.value
    }

    @Test("a port in use is an error that names it")
    func portInUse() throws {
        let first = try HTTPServer(configuration: HTTPServerConfiguration(), service: service)
        let port = first.port
        #expect(port > 0)
        #expect(throws: HTTPServerError.addressInUse(address: "127.0.0.1", port: port)) {
            try HTTPServer(configuration: HTTPServerConfiguration(port: port), service: service)
        }
    }

    @Test(
        "an address that is no address of this machine is refused",
        arguments: [("localhost", 0), ("", 0), ("192.0.2.1", 0), ("127.0.0.1", 65_536), ("127.0.0.1", -1)]
    )
    func badAddress(_ address: String, _ port: Int) {
        #expect(throws: HTTPServerError.badAddress(address: address, port: port)) {
            try HTTPServer(
                configuration: HTTPServerConfiguration(address: address, port: port),
                service: service
            )
        }
    }

    @Test("IPv6 is served like IPv4", arguments: ["127.0.0.1", "::1"])
    func families(_ address: String) async throws {
        try await withServer(service, configured { $0.address = address }) { server in
            let answer = try Peer(port: server.port, address: address).get("/")
            #expect(answer.text == address)
        }
    }
}
