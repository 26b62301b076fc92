import Glibc
import Names
import Support
import TLS
import Testing

@testable import HTTPServer

@Suite("Connections with TLS")
struct SecureTests {
    /// A certificate for the loopback, and who trusts it.
    private struct Identity: Sendable {
        let server: ServerTLS
        let client: ClientTLS

        init(in scratch: Scratch, name: String) throws {
            let now = UnixTime(rawValue: Int64(time(nil)))
            let authority = try DevelopmentCA.create(commonName: name, now: now)
            let pair = try authority.issueServer(hosts: ["127.0.0.1"], now: now, days: 2)
            server = try ServerTLS(
                certificateChainPEMFile: try scratch.write("\(name).pem", pair.certificatePEM),
                keyFile: try scratch.write("\(name).key", pair.keyPEM, mode: 0o600)
            )
            client = try ClientTLS(authoritiesPEM: authority.authority.certificatePEM)
        }
    }

    private static let closing = "Host: a\r\nConnection: close\r\n\r\n"

    @Test("bytes and files are the same with TLS")
    func roundTrip() async throws {
        let scratch = Scratch()
        let identity = try Identity(in: scratch, name: "server")
        let path = try scratch.write("blob", FileTests.content)
        let files = FileTests.service(path: path)
        let service = Answering { request, body in
            if request.target.path == "/file" { return await files.respond(to: request, body: body) }
            guard let bytes = try? await body.collect(upTo: .mebibytes(8)) else {
                return .text("", status: 400)
            }
            return HTTPResponse(status: request.isSecure ? 200 : 500, body: .bytes(bytes))
        }
        try await withServer(service, configured { $0.tls = identity.server }) { server in
            let echo = try SecurePeer(port: server.port, trusting: identity.client)
            #expect(try echo.handshake() == "TLSv1.3")
            let head = "PUT /echo HTTP/1.1\r\nContent-Length: \(FileTests.content.count)\r\n" + Self.closing
            try echo.send(Array(head.utf8) + FileTests.content)
            #expect(try echo.receiveAll().suffix(FileTests.content.count) == FileTests.content[...])

            let reader = try SecurePeer(port: server.port, trusting: identity.client)
            try reader.send(
                Array(("GET /file HTTP/1.1\r\nHost: a\r\n\r\nGET /file HTTP/1.1\r\n" + Self.closing).utf8)
            )
            let all = try reader.receiveAll()
            #expect(all.suffix(FileTests.content.count) == FileTests.content[...])
            #expect(all.count > 2 * FileTests.content.count)
        }
    }

    @Test("a plain request to a TLS port is dropped, and so is a handshake that never ends")
    func notTLS() async throws {
        let identity = try Identity(in: Scratch(), name: "server")
        let configuration = configured {
            $0.tls = identity.server
            $0.deadlines.head = .milliseconds(250)
        }
        try await withServer(Answering { _, _ in .text("") }, configuration) { server in
            let plain = try Peer(port: server.port)
            try plain.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try !plain.receiveAll().starts(with: "HTTP".utf8))
            let silent = try Peer(port: server.port)
            #expect(try silent.receiveAll().isEmpty)
            let stuck = try Peer(port: server.port)
            try stuck.send([0x16, 3, 1, 2, 0])
            #expect(try stuck.receiveAll().isEmpty)
            #expect(becomesTrue { server.openConnections == 0 })
        }
    }

    @Test("a new certificate holds for new connections")
    func reload() async throws {
        let scratch = Scratch()
        let (old, new) = (try Identity(in: scratch, name: "old"), try Identity(in: scratch, name: "new"))
        let service = Answering { _, _ in .text("ok") }
        try await withServer(service, configured { $0.tls = old.server }) { server in
            let running = try SecurePeer(port: server.port, trusting: old.client)
            _ = try running.handshake()
            server.reload(tls: new.server)
            let request = Array(("GET / HTTP/1.1\r\n" + Self.closing).utf8)
            let later = try SecurePeer(port: server.port, trusting: new.client)
            try later.send(request)
            #expect(try later.receiveAll().suffix(2).elementsEqual("ok".utf8))
            try running.send(request)
            #expect(try running.receiveAll().suffix(2).elementsEqual("ok".utf8))
            let distrustful = try SecurePeer(port: server.port, trusting: old.client)
            #expect(throws: Peer.Failure.self) { try distrustful.handshake() }
        }
    }
}
