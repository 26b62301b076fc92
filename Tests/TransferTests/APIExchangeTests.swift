import Durable
import Names
import Support
import Testing
import Transfer

@Suite("Sending to the API")
struct APIExchangeTests {
    private let fetcher = CurlFetcher(configuration: quickConfiguration())

    @Test(
        "a body is sent with its length and type, and any status comes back with its body",
        arguments: [200, 409, 500]
    )
    func posts(_ status: Int) async throws {
        let server = FaultServer { _, _ in
            FaultAnswer(
                status: status,
                fields: [("Content-Type", "application/problem+json")],
                body: Array("{}".utf8)
            )
        }
        let body = APIRequest.Body.bytes(Array("hello".utf8), contentType: "application/json")
        let response = try await fetcher.send(APIRequest(.post, server.base + "api", body: body))
        #expect(response.status == status)
        #expect(response.contentType == "application/problem+json")
        #expect(response.body == Array("{}".utf8))
        let request = try #require(server.requests.first)
        #expect(request.method == "POST")
        #expect(request.body == Array("hello".utf8))
        #expect(request.fields["content-type"] == "application/json")
        #expect(request.fields["content-length"] == "5")
        #expect(request.fields["transfer-encoding"] == nil)
    }

    @Test("part of a file is streamed", arguments: [0, 100, 3_000_000])
    func puts(_ length: Int) async throws {
        let scratch = Scratch()
        let content = bytes(3_000_100)
        let source = try FileSource(scratch.write("file", content))
        let server = FaultServer { _, _ in FaultAnswer(status: 201) }
        let body = APIRequest.Body.file(source, offset: 50, length: UInt64(length))
        let response = try await fetcher.send(APIRequest(.put, server.base + "blob", body: body))
        #expect(response.status == 201)
        #expect(server.requests.first?.method == "PUT")
        #expect(server.requests.first?.body == Array(content[50..<50 + length]))
    }

    @Test("a token goes to its own origin and nowhere else")
    func token() async throws {
        let own = FaultServer { _, _ in FaultAnswer() }
        let other = FaultServer { _, _ in FaultAnswer() }
        var configuration = quickConfiguration()
        configuration.credential = Credential(origin: own.base, token: "secret-token")
        let fetcher = CurlFetcher(configuration: configuration)
        _ = try await fetcher.send(APIRequest(.get, own.base + "a"))
        _ = try await fetcher.send(APIRequest(.get, other.base + "a"))
        #expect(own.requests.first?.fields["authorization"] == "Bearer secret-token")
        #expect(other.requests.first?.fields["authorization"] == nil)
        #expect(!"\(configuration)".contains("secret-token"))
    }

    @Test("an answer beyond the limit is refused")
    func longAnswer() async {
        let server = FaultServer { _, _ in FaultAnswer(body: bytes(101)) }
        let request = APIRequest(.get, server.base + "a", maximumLength: ByteCount(100))
        await #expect(throws: FetchError.self) { try await fetcher.send(request) }
    }

    @Test("a redirect is an answer like others and is not followed")
    func redirect() async throws {
        let server = FaultServer { _, _ in FaultAnswer(status: 302, fields: [("Location", "/b")]) }
        #expect(try await fetcher.send(APIRequest(.get, server.base + "a")).status == 302)
        #expect(server.requests.count == 1)
    }
}
