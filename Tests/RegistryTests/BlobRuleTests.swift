import Blobs
import Durable
import Manifest
import Names
import Registry
import Signing
import Testing
import Trust

@Suite("Blobs behind a commit")
struct BlobRuleTests {
    private let bytes = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }

    private func expectRefusal(
        _ test: TestRegistry,
        _ version: TestVersion,
        _ isExpected: (RegistryError) -> Bool
    ) async throws {
        let before = try test.state()
        let posting = try test.firstPosting(version)
        let error = await #expect(throws: RegistryError.self) { try await test.commit(posting) }
        #expect(error.map(isExpected) == true, "\(String(describing: error))")
        #expect(try test.state() == before)
    }

    @Test("a version whose file was never uploaded is refused")
    func missing() async throws {
        let test = try await TestRegistry()
        let version = try TestVersion("1.0.0", bytes: Array("never sent".utf8))
        let digest = SHA256.digest(of: Array("never sent".utf8))
        try await expectRefusal(test, version) {
            $0 == .missingBlob(digest: digest, path: "vision/detector/1.0.0.json")
        }
    }

    @Test("a version whose list of blocks was never uploaded is refused")
    func missingList() async throws {
        let test = try await TestRegistry()
        _ = try await test.upload(bytes)
        try await expectRefusal(test, try TestVersion("1.0.0", bytes: bytes)) {
            if case .missingBlob = $0 { true } else { false }
        }
    }

    @Test("a length other than the stored one is refused")
    func length() async throws {
        let test = try await TestRegistry()
        let small = Array("weights".utf8)
        let digest = try await test.upload(small)
        var manifest = try TestVersion("1.0.0", bytes: small).manifest
        manifest.variants[0].files[0].length += 1
        try await expectRefusal(test, TestVersion(manifest: manifest)) {
            $0 == .blobLength(digest: digest, path: "vision/detector/1.0.0.json", listed: 8, stored: 7)
        }
    }

    @Test("a list of blocks of other bytes is refused")
    func otherBlocks() async throws {
        let test = try await TestRegistry()
        _ = try await test.upload(bytes)
        var changed = bytes
        changed[100_000] ^= 1
        let list = try #require(try TestVersion.blockList(of: changed))
        let digest = try await test.upload(list.encoded)
        var manifest = try TestVersion("1.0.0", bytes: bytes).manifest
        manifest.variants[0].files[0].blocks?.list.sha256 = digest
        try await expectRefusal(test, TestVersion(manifest: manifest)) {
            if case .blockList(_, let reason) = $0 { reason.contains("block 1") } else { false }
        }
    }

    @Test("bytes other than the announced ones are refused and leave nothing")
    func mismatch() async throws {
        let test = try await TestRegistry()
        let digest = SHA256.digest(of: Array("right".utf8))
        let reception = try #require(
            try await test.registry.receive(digest, length: 5, now: TestRegistry.start)
        )
        try await reception.write(Array("wrong".utf8))
        await #expect(throws: RegistryError.self) { try await reception.finish(now: TestRegistry.start) }
        #expect(try await test.registry.missing(of: [digest], now: TestRegistry.start) == [digest])
        #expect(try test.registry.openBlob(digest) == nil)
    }

    @Test("a blob that is here is not received again")
    func present() async throws {
        let test = try await TestRegistry()
        let digest = try await test.upload(Array("weights".utf8))
        #expect(try await test.registry.receive(digest, length: 7, now: TestRegistry.start) == nil)
        #expect(try await test.registry.missing(of: [digest], now: TestRegistry.start).isEmpty)
    }

    @Test("a blob that was lost from the store is asked for and received again", arguments: [true, false])
    func lost(_ isGone: Bool) async throws {
        let test = try await TestRegistry()
        let content = Array("weights".utf8)
        let digest = try await test.upload(content)
        let file = test.blobs.directory + "/\(digest.hex.prefix(2))/\(digest.hex)"
        try Durable.removeFile(file)
        if !isGone { try Durable.writeAtomically(file, [1, 2, 3]) }
        #expect(try await test.registry.missing(of: [digest], now: TestRegistry.start) == [digest])
        #expect(try await test.upload(content) == digest)
        #expect(try await test.registry.missing(of: [digest], now: TestRegistry.start).isEmpty)
    }

    @Test("a version whose bytes the store has lost is not published")
    func lostBeforeCommit() async throws {
        let test = try await TestRegistry()
        let bytes = (0..<100_000).map { UInt8(truncatingIfNeeded: $0) }
        let version = try TestVersion("1.0.0", bytes: bytes)
        let digest = try await test.upload(bytes)
        if let list = try TestVersion.blockList(of: bytes) { _ = try await test.upload(list.encoded) }
        try test.blobs.remove(digest)
        try await expectRefusal(test, version) {
            if case .missingBlob(let missing, _) = $0 { missing == digest } else { false }
        }
    }
}
