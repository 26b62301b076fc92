import Blobs
import CanonicalJSON
import Durable
import HTTPServer
import Manifest
import Names
import Registry
import RegistryAPI
import RegistryHTTP
import Support
import Testing
import Trust

@Suite("Routes for operators, and all that is no route")
struct OperatorRouteTests {
    @Test(
        "what is nowhere is 404 in the form of a problem",
        arguments: [
            "/nothing", "/api/v2/commit", "/metadata", "/metadata/a/b", "/blobs/sha256/00", "/api/v1",
        ]
    )
    func notFound(path: String) async throws {
        let service = try await TestService()
        let answer = await service.ask(.get, path)
        #expect(answer.status == 404)
        #expect(try answer.problem.code == .notFound)
    }

    @Test(
        "a method that does not apply is 405 and names those that do",
        arguments: [
            (HTTPMethod.get, "/api/v1/commit", "POST"), (.delete, "/metadata/timestamp.json", "GET, HEAD"),
            (.post, "/", "GET, HEAD"), (.post, "/api/v1/blobs/sha256/00", "PUT"),
        ]
    )
    func method(method: HTTPMethod, path: String, allowed: String) async throws {
        let service = try await TestService()
        let answer = await service.ask(method, path)
        #expect(answer.status == 405)
        #expect(answer.fields.text("allow") == allowed)
        #expect(try answer.problem.code == .methodNotAllowed)
    }

    @Test("HEAD is answered as GET", arguments: ["/", "/healthz", "/metadata/timestamp.json"])
    func head(path: String) async throws {
        let service = try await TestService()
        let answer = await service.ask(.head, path)
        #expect(answer.status == 200)
    }

    @Test("ready means that timestamp, database and blobs can be had")
    func readiness() async throws {
        let service = try await TestService()
        #expect(await service.ask(.get, "/healthz").status == 200)
        #expect(await service.ask(.get, "/readyz").status == 200)
        let digest = try await service.test.upload(Array("weights".utf8))
        #expect(await service.ask(.get, "/readyz").status == 200)
        try service.test.blobs.remove(digest)
        #expect(await service.ask(.get, "/readyz").status != 200)
        #expect(await service.ask(.get, "/healthz").status == 200)
    }

    @Test("a full disk is not ready")
    func fullDisk() async throws {
        let service = try await TestService()
        let registry = service.test.registry
        try registry.checkReadiness(now: TestRegistry.start)
        let error = #expect(throws: RegistryError.self) {
            try registry.checkReadiness(now: TestRegistry.start, leaving: ByteCount(rawValue: .max))
        }
        #expect(error?.isOutage == true && error?.description.contains("free") == true)
    }

    @Test("a database that was deleted under the registry is not ready, and takes nothing more")
    func deleted() async throws {
        let service = try await TestService()
        try await service.test.publishFirst()
        try Durable.removeFile(service.test.scratch.path("registry.sqlite"))
        #expect(await service.ask(.get, "/readyz").status == 503)
        let token = service.test.token
        let error = await #expect(throws: RegistryError.self) {
            try await service.test.registry.issueToken(token, now: TestRegistry.start)
        }
        #expect(error?.isOutage == true && error?.description.contains("deleted") == true)
    }

    @Test("an expired timestamp is not ready")
    func expired() async throws {
        let service = try await TestService()
        service.clock.advance(seconds: OnlineLifetime.timestamp)
        #expect(await service.ask(.get, "/readyz").status == 503)
    }

    @Test("metrics count answers and show sizes and remaining lives")
    func metrics() async throws {
        let service = try await TestService()
        try await service.test.publishFirst()
        _ = await service.ask(.get, "/nothing")
        let text = await service.ask(.get, "/metrics").text
        #expect(text.contains("sealift_http_requests_total{route=\"none\",status=\"404\"} 1\n"))
        #expect(text.contains("sealift_versions 1\n"))
        #expect(text.contains("sealift_log_entries 9\n"))
        #expect(text.contains("sealift_role_remaining_seconds{role=\"timestamp\"} 259200\n"))
        #expect(text.contains("sealift_role_remaining_seconds{role=\"vision\"} 63072000\n"))
        #expect(!text.contains("vision~detector"))
    }

    @Test("the page shows models as the operator's view, and text from outside stays text")
    func page() async throws {
        let service = try await TestService()
        let first = try await service.test.publishFirst()
        let role = SealiftRole.live(TestRegistry.model)
        var posting = Posting(key: service.test.publisher)
        posting.roles[role] = first.roles[role]
        posting.roles[role]?.version = 2
        let path = LiveDocument.targetPath(model: TestRegistry.model)
        let live = try LiveDocument(canonical: first.contents[path] ?? [])
        let reason = "<script>alert('x')</script> & \"more\""
        let state = VersionState(kind: .yanked, reason: reason, time: TestRegistry.start)
        posting.list(path, live.withdrawing(version("1.0.0"), state).canonical, in: role)
        _ = try await service.test.commit(posting)

        let answer = await service.ask(.get, "/")
        #expect(answer.status == 200)
        #expect(answer.fields.text("content-type") == "text/html; charset=utf-8")
        #expect(answer.fields.text("content-security-policy")?.hasPrefix("default-src 'none'") == true)
        #expect(answer.fields.text("x-content-type-options") == "nosniff")
        #expect(answer.text.contains("operator's view, not evidence"))
        #expect(answer.text.contains("vision/detector"))
        #expect(answer.text.contains("1.0.0"))
        #expect(!answer.text.contains("<script>"))
        #expect(
            answer.text.contains("&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt; &amp; &quot;more&quot;")
        )
    }

    @Test("the description has every route, and no other")
    func description() async throws {
        let service = try await TestService()
        let answer = await service.ask(.get, "/api/v1/openapi.json")
        #expect(answer.status == 200)
        let document = try JSONParser.parse(answer.content, maximumLength: 1 << 20)
        #expect(document["openapi"]?.string == "3.1.0")
        var described: Set<String> = []
        for path in document["paths"]?.object?.members ?? [] {
            for method in path.value.object?.keys ?? [] { described.insert("\(method) \(path.key.string)") }
        }
        #expect(described == Set(RegistryService.routeNames))
    }

    @Test("the description declares each parameter of a path and each schema that it names")
    func parameters() async throws {
        let service = try await TestService()
        let text = await service.ask(.get, "/api/v1/openapi.json").text
        let document = try JSONParser.parse(Array(text.utf8), maximumLength: 1 << 20)
        let schemas = Set(document["components"]?["schemas"]?.object?.keys ?? [])
        for path in document["paths"]?.object?.members ?? [] {
            let wanted = path.key.string.split(separator: "/").filter { $0.hasPrefix("{") }
                .map { String($0.dropFirst().dropLast()) }
            for operation in path.value.object?.members ?? [] {
                let found = operation.value["parameters"]?.array?.compactMap { $0["name"]?.string } ?? []
                #expect(found == wanted)
            }
        }
        let named = text.split(separator: "#/components/schemas/").dropFirst().map {
            $0.prefix { $0 != "\"" }
        }
        #expect(!named.isEmpty)
        #expect(named.allSatisfy { schemas.contains(String($0)) })
    }

    @Test("a problem reads back as it was written", arguments: Problem.Code.allCases)
    func problems(code: Problem.Code) throws {
        let problem = Problem(code, detail: "what happened", expected: "that", current: ["vision": 3])
        #expect(try Problem(bytes: problem.bytes) == problem)
        #expect((400...599).contains(code.status))
        #expect(!code.title.isEmpty)
    }
}
