import CanonicalJSON
import HTTPServer
import Names
import Registry
import RegistryAPI
import RegistryHTTP
import Signing
import Support
import Testing
import Trust

@Suite("Routes that publishers write")
struct WriteRouteTests {
    private let bytes = Array("weights of 1.0.0".utf8)

    @Test("publishing goes: have, upload, commit")
    func publish() async throws {
        let service = try await TestService()
        let digest = SHA256.digest(of: bytes)
        let have = HaveRequest(digests: [digest]).bytes
        let before = await service.write(.post, "/api/v1/blobs/have", body: have)
        #expect(before.status == 200)
        #expect(try HaveResponse(bytes: before.content).missing == [digest])

        let upload = await service.write(.put, "/api/v1/blobs/sha256/\(digest)", body: bytes)
        #expect(upload.status == 201)
        #expect(try BlobResponse(bytes: upload.content) == BlobResponse(digest: digest, length: 16))
        let again = await service.write(.put, "/api/v1/blobs/sha256/\(digest)", body: bytes)
        #expect(again.status == 200)
        let after = await service.write(.post, "/api/v1/blobs/have", body: have)
        #expect(try HaveResponse(bytes: after.content).missing.isEmpty)

        let request = try service.test.firstPosting(try TestVersion("1.0.0", bytes: bytes)).request
        let commit = await service.write(.post, "/api/v1/commit", body: request.bytes)
        #expect(commit.status == 200)
        let answer = try CommitResponse(bytes: commit.content)
        #expect(answer == CommitResponse(snapshot: 2, timestamp: 2, state: .published))
        let role = await service.ask(.get, "/metadata/1.vision~detector.json")
        #expect(role.status == 200)
    }

    @Test(
        "writing needs a token that is valid now",
        arguments: [
            "/api/v1/blobs/have", "/api/v1/commit",
            "/api/v1/blobs/sha256/\(String(repeating: "0", count: 64))",
        ]
    )
    func unauthorized(path: String) async throws {
        let service = try await TestService()
        let method: HTTPMethod = path.contains("sha256") ? .put : .post
        for field in ["", "Basic eA==", "Bearer", "Bearer sealift_\(String(repeating: "0", count: 64))"] {
            let answer = await service.ask(method, path, ["Authorization": field], body: [0x7B, 0x7D])
            #expect(answer.status == 401)
            #expect(answer.fields.text("www-authenticate") == "Bearer realm=\"sealift\"")
            #expect(try answer.problem.code == .unauthorized)
        }
        service.clock.advance(seconds: 30 * 86_400)
        let expired = await service.write(method, path, body: [0x7B, 0x7D])
        #expect(expired.status == 401)
    }

    @Test("a token for one namespace commits to no other")
    func forbidden() async throws {
        let service = try await TestService()
        let request = CommitRequest(roles: [CommitRequest.Role(role: "audio", metadata: [1])], targets: [])
        let answer = await service.write(.post, "/api/v1/commit", body: request.bytes)
        #expect(answer.status == 403)
        #expect(try answer.problem.code == .forbidden)
    }

    @Test("an owner is kept with the delegation, told to those with a token, and refused for other roles")
    func owners() async throws {
        let service = try await TestService()
        let bytes = Array("weights of 1.0.0".utf8)
        _ = try await service.test.upload(bytes)
        var request = try service.test.firstPosting(try TestVersion("1.0.0", bytes: bytes)).request
        let name = try #require(OwnerName("Detection"))
        request.owners = ["vision~detector": name, "audio": name]
        let foreign = await service.write(.post, "/api/v1/commit", body: request.bytes)
        #expect(foreign.status == 422)
        request.owners["audio"] = nil
        #expect(try CommitRequest(bytes: request.bytes) == request)
        let taken = await service.write(.post, "/api/v1/commit", body: request.bytes)
        #expect(taken.status == 200, "\(taken.text)")
        let list = try OwnerList(bytes: await service.write(.get, "/api/v1/owners", body: []).content)
        #expect(list.owners == ["vision": try #require(OwnerName("Vision team")), "vision~detector": name])
        let unknown = await service.ask(.get, "/api/v1/owners")
        #expect(unknown.status == 401)
    }

    @Test("who was overtaken gets 409 with the versions that count now")
    func conflict() async throws {
        let service = try await TestService()
        let first = try await service.test.publishFirst()
        let later = Array("weights of 1.1.0".utf8)
        _ = try await service.test.upload(later)
        var stale = try service.test.nextPosting(after: first, try TestVersion("1.1.0", bytes: later))
        for role in stale.roles.keys { stale.roles[role]?.version = 1 }
        let answer = await service.write(.post, "/api/v1/commit", body: try stale.request.bytes)
        #expect(answer.status == 409)
        #expect(answer.fields.text("content-type") == "application/problem+json")
        let value = try JSONParser.parse(answer.content, maximumLength: 10_000)
        #expect(value["type"]?.string == "urn:sealift:problem:conflict")
        #expect(value["current"]?["vision~detector"]?.integer == 1)
        #expect(value["expected"]?.string == "vision~detector~live version 2")
    }

    @Test(
        "bytes that are not those of the digest are refused",
        arguments: ["", "weights of 1.0.1", "longer than said"]
    )
    func mismatch(sent: String) async throws {
        let service = try await TestService()
        let digest = SHA256.digest(of: bytes)
        let answer = await service.write(.put, "/api/v1/blobs/sha256/\(digest)", body: Array(sent.utf8))
        #expect(answer.status == 422)
        #expect(try answer.problem.code == .digestMismatch)
        #expect(try service.test.store.blobLength(digest) == nil)
    }

    @Test(
        "a body that is not the document is malformed",
        arguments: ["", "[]", "{}", #"{"roles":1,"targets":[]}"#]
    )
    func malformed(body: String) async throws {
        let service = try await TestService()
        for path in ["/api/v1/commit", "/api/v1/blobs/have"] {
            let answer = await service.write(.post, path, body: Array(body.utf8))
            #expect(answer.status == 400)
            #expect(try answer.problem.code == .malformed)
        }
    }

    @Test("a body beyond the limit is refused before it is parsed")
    func tooLarge() async throws {
        let service = try await TestService()
        let body = [UInt8](repeating: 0x20, count: Int(Limits.apiBody.rawValue) + 1)
        let answer = await service.write(.post, "/api/v1/commit", body: body)
        #expect(answer.status == 413)
        #expect(try answer.problem.code == .tooLarge)
    }

    @Test("a refused signature is 422 and says which role")
    func untrusted() async throws {
        let service = try await TestService()
        _ = try await service.test.upload(bytes)
        var posting = try service.test.firstPosting(try TestVersion("1.0.0", bytes: bytes))
        posting.signers[.live(TestRegistry.model)] = [service.test.targets]
        let answer = await service.write(.post, "/api/v1/commit", body: try posting.request.bytes)
        #expect(answer.status == 422)
        #expect(try answer.problem.code == .untrusted)
        #expect(try answer.problem.detail.contains("vision~detector~live"))
    }

    @Test("why storage failed is for the log and not for the peer")
    func outage() async throws {
        let service = try await TestService { StoppingStore(store: $0) }
        _ = try await service.test.upload(bytes)
        let request = try service.test.firstPosting(try TestVersion("1.0.0", bytes: bytes)).request
        let answer = await service.write(.post, "/api/v1/commit", body: request.bytes)
        #expect(answer.status == 503)
        #expect(answer.fields.text("retry-after") != nil)
        #expect(!answer.text.contains("stopped by the test"))
        #expect(service.log.count == 1)
        #expect(service.log.first?.contains("stopped by the test") == true)
    }
}
