import Glibc
import HTTPServer
import Names
import Support
import TLS
import Testing
import Transfer

private struct Greeting: HTTPService {
    func respond(to request: HTTPRequest, body: RequestBody) async -> HTTPResponse { .text("hello") }
}

/// A server with a certificate of a development authority, for one test.
private struct SecureServer {
    let scratch = Scratch()
    let server: HTTPServer

    var authorityFile: String { scratch.path("ca.pem") }

    init(hosts: [String], now: UnixTime, days: Int64) throws {
        let authority = try DevelopmentCA.create(commonName: "test", now: now)
        let certificate = try authority.issueServer(hosts: hosts, now: now, days: days)
        try scratch.write("ca.pem", authority.authority.certificatePEM)
        let chain = try scratch.write("server.pem", certificate.certificatePEM)
        let key = try scratch.write("server.key", certificate.keyPEM, mode: 0o600)
        let tls = try ServerTLS(certificateChainPEMFile: chain, keyFile: key)
        server = try HTTPServer(configuration: HTTPServerConfiguration(tls: tls), service: Greeting())
    }

    func whileRunning(_ body: () async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await server.run() }
            do {
                try await body()
            } catch {
                server.drain()
                throw error
            }
            server.drain()
            try await group.waitForAll()
        }
    }
}

@Suite("Fetching over TLS")
struct SecureFetchTests {
    private func fetch(
        _ url: String,
        authority: String?,
        connectSeconds: Double = 60
    ) async throws(FetchError) -> FetchOutcome {
        var configuration = TransferConfiguration()
        configuration.certificateAuthority = authority
        configuration.connectSeconds = connectSeconds
        configuration.stallSeconds = 60
        let fetcher = CurlFetcher(configuration: configuration)
        return try await fetcher.fetch(FetchRequest(url: url, maximumLength: ByteCount(100)))
    }

    private func expectCertificateRefusal(_ error: FetchError?) {
        guard case .refused(.certificate, _) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test("a server of the named authority is accepted, by address and by name")
    func accepted() async throws {
        let server = try SecureServer(hosts: ["127.0.0.1", "localhost"], now: today, days: 30)
        try await server.whileRunning {
            for host in ["127.0.0.1", "localhost"] {
                let url = "https://\(host):\(server.server.port)/"
                let outcome = try await fetch(url, authority: server.authorityFile)
                guard case .bytes(let bytes, _) = outcome else {
                    Issue.record("\(outcome)")
                    return
                }
                #expect(String(decoding: bytes, as: UTF8.self).hasPrefix("hello"))
            }
        }
    }

    @Test("an unknown authority, another name and an expired certificate are refusals, not outages")
    func refused() async throws {
        let server = try SecureServer(hosts: ["127.0.0.1"], now: today, days: 30)
        let other = try SecureServer(hosts: ["127.0.0.1"], now: today, days: 30)
        let past = try SecureServer(hosts: ["127.0.0.1"], now: today.adding(seconds: -3 * 86_400), days: 1)
        try await server.whileRunning {
            let (port, url) = (server.server.port, "https://127.0.0.1:\(server.server.port)/")
            for authority in [nil, other.authorityFile] {
                let error = await #expect(throws: FetchError.self) {
                    try await fetch(url, authority: authority)
                }
                expectCertificateRefusal(error)
                #expect(error?.description.contains("CA") == true)
            }
            let named = await #expect(throws: FetchError.self) {
                try await fetch("https://localhost:\(port)/", authority: server.authorityFile)
            }
            expectCertificateRefusal(named)
        }
        try await past.whileRunning {
            let url = "https://127.0.0.1:\(past.server.port)/"
            let error = await #expect(throws: FetchError.self) {
                try await fetch(url, authority: past.authorityFile)
            }
            expectCertificateRefusal(error)
        }
    }

    @Test("a CA file that is missing or no certificate is named")
    func badAuthorityFile() async throws {
        let scratch = Scratch()
        for path in [
            scratch.path("none"), try scratch.write("empty", []), try scratch.write("text", Array("x".utf8)),
        ] {
            let error = await #expect(throws: FetchError.self) {
                try await fetch("https://127.0.0.1:1/", authority: path)
            }
            // An unusable file is found when it is read, which may be after the connection was refused.
            #expect(error?.description.contains(path == scratch.path("none") ? path : "127.0.0.1") == true)
        }
    }

    @Test(
        "a body that is refused before it is sent is an answer, not an outage",
        arguments: [600_000, 5_000_000]
    )
    func refusedUpload(_ count: Int) async throws {
        var configuration = HTTPServerConfiguration()
        configuration.limits.body = ByteCount(100_000)
        let server = try HTTPServer(configuration: configuration, service: Greeting())
        async let running: Void = server.run()
        let fetcher = CurlFetcher(configuration: quickConfiguration())
        let body = APIRequest.Body.bytes(bytes(count), contentType: "application/octet-stream")
        let response = try await fetcher.send(
            APIRequest(.put, "http://127.0.0.1:\(server.port)/", body: body)
        )
        #expect(response.status == 413)
        server.drain()
        try await running
    }

    @Test("a server that answers without TLS is refused")
    func plainServer() async throws {
        let server = try HTTPServer(configuration: HTTPServerConfiguration(), service: Greeting())
        async let running: Void = server.run()
        let error = await #expect(throws: FetchError.self) {
            try await fetch("https://127.0.0.1:\(server.port)/", authority: nil)
        }
        server.drain()
        try await running
        guard case .refused(.tls, _) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test("a server that never finishes the handshake is an outage")
    func silentServer() async throws {
        let server = FaultServer { _, _ in FaultAnswer() }
        let error = await #expect(throws: FetchError.self) {
            try await fetch("https://127.0.0.1:\(server.port)/", authority: nil, connectSeconds: 1)
        }
        guard case .outage(.notConnected, _) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    /// libcurl judges certificates by the real date, so these tests cannot choose theirs.
    private var today: UnixTime { UnixTime(rawValue: Int64(time(nil))) }
}
