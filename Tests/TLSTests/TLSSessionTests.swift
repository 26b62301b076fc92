import Names
import Support
import TLS
import Testing

@Suite("TLS sessions")
struct TLSSessionTests {
    private let scratch = Scratch()
    private let now = UnixTime(rawValue: 1_796_005_603)
    private let ca: DevelopmentCA
    private let server: ServerTLS

    init() throws {
        ca = try DevelopmentCA.create(commonName: "Test authority", now: now)
        let pair = try ca.issueServer(
            hosts: ["registry.example", "*.wild.example", "127.0.0.1", "::1"],
            now: now,
            days: 90
        )
        server = try ServerTLS(
            certificateChainPEMFile: try scratch.write("server.pem", pair.certificatePEM),
            keyFile: try scratch.write("server.key", pair.keyPEM, mode: 0o600)
        )
    }

    private func trusting(_ ca: DevelopmentCA, at time: UnixTime? = nil) throws -> ClientTLS {
        try ClientTLS(authoritiesPEM: ca.authority.certificatePEM, now: time ?? now)
    }

    @Test(
        "a client reaches the server by each of its names",
        arguments: ["registry.example", "REGISTRY.example", "a.wild.example", "127.0.0.1", "::1"]
    )
    func conversation(host: String) throws {
        let sockets = Duplex()
        var client = try TLSSession(connecting: trusting(ca), socket: sockets.client, host: host)
        var server = try TLSSession(accepting: server, socket: sockets.server)
        let ends = shakeHands(&client, &server)
        #expect(ends == (.done, .done))
        let version = client.version
        #expect(version == "TLSv1.3")

        let question = client.send([1, 2, 3])
        #expect(question == .bytes(3))
        let heard = server.readSome()
        #expect(heard.bytes == [1, 2, 3])
        let silence = server.readSome()
        #expect(silence.progress == .wantsRead)
        let answer = server.send([4])
        #expect(answer == .bytes(1))
        let answered = client.readSome()
        #expect(answered.bytes == [4])

        let farewell = server.close()
        #expect(farewell == .done)
        let end = client.readSome()
        #expect(end.progress == .closed)
    }

    @Test(
        "a client refuses a server that is not the one it asked for",
        arguments: ["other.example", "a.b.wild.example", "127.0.0.2", "::2", "registry.example.evil"]
    )
    func otherHost(host: String) throws {
        let refusal = try refusal(by: try trusting(ca), host: host)
        #expect(refusal.contains("mismatch"), "\(refusal)")
    }

    @Test("a client refuses another authority, even one of the same name")
    func otherAuthority() throws {
        let other = try DevelopmentCA.create(commonName: "Test authority", now: now)
        let refusal = try refusal(by: try trusting(other), host: "registry.example")
        #expect(refusal.hasPrefix("certificate refused: "), "\(refusal)")
    }

    @Test("a client refuses a certificate after its end and before its beginning", arguments: [91, -1])
    func outOfTime(days: Int64) throws {
        let time = now.adding(seconds: days * 86_400)
        let refusal = try refusal(by: try trusting(ca, at: time), host: "registry.example")
        #expect(refusal.hasPrefix("certificate refused: certificate "), "\(refusal)")
    }

    private func refusal(by context: ClientTLS, host: String) throws -> String {
        let sockets = Duplex()
        var client = try TLSSession(connecting: context, socket: sockets.client, host: host)
        var server = try TLSSession(accepting: server, socket: sockets.server)
        let ends = shakeHands(&client, &server)
        guard case .failed(let reason) = ends.client else {
            Issue.record("the client said \(ends.client)")
            return ""
        }
        guard case .failed = ends.server else {
            Issue.record("the server said \(ends.server)")
            return ""
        }
        return reason
    }

    @Test("a write that has to wait goes on from another buffer, and nothing is lost")
    func backPressure() throws {
        let sockets = Duplex()
        var client = try TLSSession(connecting: trusting(ca), socket: sockets.client, host: "127.0.0.1")
        var server = try TLSSession(accepting: server, socket: sockets.server)
        try #require(shakeHands(&client, &server) == (.done, .done))
        let content = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        var sent = 0
        var waits = 0
        var received: [UInt8] = []
        while received.count < content.count {
            if sent < content.count {
                let copy = Array(content[sent...])
                switch server.send(copy) {
                case .bytes(let count): sent += count
                case .wantsWrite: waits += 1
                case let other: Issue.record("writing said \(other)")
                }
            }
            let some = client.readSome()
            received += some.bytes
            guard some.progress.isWaiting || !some.bytes.isEmpty else {
                Issue.record("reading said \(some.progress)")
                break
            }
            if waits == 0 { received.reserveCapacity(content.count) }
        }
        #expect(received == content)
    }

    @Test("a server that writes nothing read is told to wait")
    func wantsWrite() throws {
        let sockets = Duplex()
        var client = try TLSSession(connecting: trusting(ca), socket: sockets.client, host: "127.0.0.1")
        var server = try TLSSession(accepting: server, socket: sockets.server)
        try #require(shakeHands(&client, &server) == (.done, .done))
        let block = [UInt8](repeating: 0, count: 100_000)
        var last = TLSProgress.bytes(0)
        for _ in 0..<1_000 where last != .wantsWrite { last = server.send(block) }
        #expect(last == .wantsWrite)
    }

    @Test("a peer that has gone is a failure to write to, never a signal")
    func gone() throws {
        let sockets = Duplex()
        var client = try TLSSession(connecting: trusting(ca), socket: sockets.client, host: "127.0.0.1")
        var server = try TLSSession(accepting: server, socket: sockets.server)
        try #require(shakeHands(&client, &server) == (.done, .done))
        sockets.dropClient()
        let progress = server.send([1])
        #expect(progress == .failed(reason: "Broken pipe"))
        let farewell = server.close()
        #expect(farewell == .done)
    }

    @Test("an end without farewell is a failure and not an end, so that nobody can cut an answer short")
    func truncation() throws {
        let sockets = Duplex()
        var client = try TLSSession(connecting: trusting(ca), socket: sockets.client, host: "127.0.0.1")
        var server = try TLSSession(accepting: server, socket: sockets.server)
        try #require(shakeHands(&client, &server) == (.done, .done))
        sockets.dropClient()
        let end = server.readSome()
        guard case .failed = end.progress else {
            Issue.record("reading said \(end.progress)")
            return
        }
    }

    @Test("a peer that speaks no TLS fails the handshake")
    func plainText() throws {
        let sockets = Duplex()
        var server = try TLSSession(accepting: server, socket: sockets.server)
        sockets.sendPlain("GET / HTTP/1.1\r\n\r\n")
        let progress = server.handshake()
        #expect(progress == .failed(reason: "http request"))
    }
}
