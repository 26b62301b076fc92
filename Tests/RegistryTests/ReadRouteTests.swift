import Blobs
import CanonicalJSON
import HTTPServer
import Names
import Registry
import RegistryAPI
import RegistryHTTP
import Signing
import Support
import Testing

@Suite("Routes that devices read")
struct ReadRouteTests {
    private static let immutable = "public, max-age=31536000, immutable"

    @Test("timestamp.json carries a strong tag and is asked for anew each time")
    func timestamp() async throws {
        let service = try await TestService()
        let stored = try #require(try service.test.store.timestamp())
        let answer = await service.ask(.get, "/metadata/timestamp.json")
        #expect(answer.status == 200)
        #expect(answer.content == stored.bytes)
        let tag = try #require(answer.fields.text("etag"))
        #expect(tag == "\"sha256-\(stored.sha256.hex)\"")
        #expect(answer.fields.text("cache-control") == "no-cache")

        let unchanged = await service.ask(.get, "/metadata/timestamp.json", ["If-None-Match": tag])
        #expect(unchanged.status == 304)
        #expect(unchanged.content.isEmpty)
        #expect(unchanged.fields.text("etag") == tag)

        service.clock.advance(seconds: OnlineLifetime.timestampRenewal)
        _ = try await service.test.registry.refreshOnline(now: service.clock.now)
        let changed = await service.ask(.get, "/metadata/timestamp.json", ["If-None-Match": tag])
        #expect(changed.status == 200)
        #expect(changed.fields.text("etag") != tag)
    }

    @Test(
        "a version of a role never changes",
        arguments: [
            "1.root.json", "1.snapshot.json", "1.targets.json", "1.sealift~hold.json",
        ]
    )
    func versions(name: String) async throws {
        let service = try await TestService()
        let answer = await service.ask(.get, "/metadata/\(name)")
        #expect(answer.status == 200)
        #expect(answer.fields.text("cache-control") == Self.immutable)
        #expect(answer.fields.text("etag") == "\"sha256-\(SHA256.digest(of: answer.content).hex)\"")
    }

    @Test(
        "what is not published is absent, and no cache keeps that",
        arguments: [
            "2.root.json", "2.timestamp.json", "1.timestamp.json", "root.json", "01.root.json",
            "+1.root.json",
            "1.vision.json", "1.json", "1..json", ".json", "x",
        ]
    )
    func absent(name: String) async throws {
        let service = try await TestService()
        let answer = await service.ask(.get, "/metadata/\(name)")
        #expect(answer.status == 404)
        #expect(answer.fields.text("cache-control") == "no-store")
        #expect(try answer.problem.code == .notFound)
    }

    @Test("documents are found by digest and path together")
    func targets() async throws {
        let service = try await TestService()
        let posting = try await service.test.publishFirst()
        for (path, content) in posting.contents {
            let digest = SHA256.digest(of: content)
            let parts = path.split(separator: "/")
            let answer = await service.ask(.get, "/targets/\(parts[0])/\(parts[1])/\(digest).\(parts[2])")
            #expect(answer.status == 200)
            #expect(answer.content == content)
            #expect(answer.fields.text("cache-control") == Self.immutable)
            let elsewhere = await service.ask(.get, "/targets/\(parts[0])/other/\(digest).\(parts[2])")
            #expect(elsewhere.status == 404)
            let plain = await service.ask(.get, "/targets/\(path)")
            #expect(plain.status == 404)
        }
    }

    @Test("the settings document is among them")
    func settings() async throws {
        let service = try await TestService()
        let file = try #require(try service.test.store.file("targets", version: 1))
        let value = try JSONParser.parse(file.bytes, maximumLength: file.bytes.count)
        let listed = value["signed"]?["targets"]?["sealift/settings.json"]?["hashes"]?["sha256"]?.string
        let digest = try #require(listed)
        let answer = await service.ask(.get, "/targets/sealift/\(digest).settings.json")
        #expect(answer.status == 200)
        #expect(SHA256.digest(of: answer.content).hex == digest)
    }

    @Test("a blob is served whole, in parts, and not again to who has it")
    func blob() async throws {
        let service = try await TestService()
        let bytes = Array("0123456789".utf8)
        let digest = try await service.test.upload(bytes)
        let path = "/blobs/sha256/\(digest.hex.prefix(2))/\(digest)"
        let whole = await service.ask(.get, path)
        #expect(whole.status == 200)
        #expect(whole.content == bytes)
        #expect(whole.fields.text("cache-control") == Self.immutable)
        let tag = "\"sha256-\(digest)\""
        #expect(whole.fields.text("etag") == tag)

        let part = await service.ask(.get, path, ["Range": "bytes=2-4", "If-Range": tag])
        #expect(part.status == 206)
        #expect(part.text == "234")
        #expect(part.fields.text("content-range") == "bytes 2-4/10")
        let other = await service.ask(.get, path, ["Range": "bytes=2-4", "If-Range": "\"other\""])
        #expect(other.status == 200)
        let outside = await service.ask(.get, path, ["Range": "bytes=10-"])
        #expect(outside.status == 416)
        let known = await service.ask(.get, path, ["If-None-Match": tag])
        #expect(known.status == 304)
    }

    @Test("a blob has one address", arguments: ["00", "zz", "0"])
    func blobAddress(prefix: String) async throws {
        let service = try await TestService()
        let digest = try await service.test.upload(Array("0123456789".utf8))
        #expect(digest.hex.prefix(2) != prefix)
        let answer = await service.ask(.get, "/blobs/sha256/\(prefix)/\(digest)")
        #expect(answer.status == 404)
        let upper = await service.ask(
            .get,
            "/blobs/sha256/\(digest.hex.prefix(2))/\(digest.hex.uppercased())"
        )
        #expect(upper.status == 404)
    }

    @Test("bytes in the folder without a row in the database are not served")
    func unrecorded() async throws {
        let service = try await TestService()
        let bytes = Array("left over".utf8)
        let digest = SHA256.digest(of: bytes)
        let upload = try service.test.blobs.beginUpload(expecting: digest, length: UInt64(bytes.count))
        try bytes.withUnsafeBytes { try upload.write($0) }
        try upload.finish()
        let answer = await service.ask(.get, "/blobs/sha256/\(digest.hex.prefix(2))/\(digest)")
        #expect(answer.status == 404)
    }
}
