import Blobs
import Durable
import Glibc
import Names
import Signing
import Support
import Testing

@Suite("Folder blob store")
struct BlobStoreTests {
    private let scratch = Scratch()
    private let store: FolderBlobStore

    init() throws { store = try FolderBlobStore(directory: scratch.path("blobs/")) }

    private static func content(_ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 13) }
    }

    private func send(_ bytes: [UInt8], to upload: BlobUpload) throws(BlobError) {
        var start = 0
        while start < bytes.count {
            let end = min(start + 10_007, bytes.count)
            try write(Array(bytes[start..<end]), to: upload)
            start = end
        }
    }

    private func write(_ bytes: [UInt8], to upload: BlobUpload) throws(BlobError) {
        var failure: BlobError?
        bytes.withUnsafeBytes { buffer in
            do throws(BlobError) { try upload.write(buffer) } catch { failure = error }
        }
        if let failure { throw failure }
    }

    @discardableResult
    private func put(_ bytes: [UInt8]) throws -> Digest {
        let digest = SHA256.digest(of: bytes)
        let upload = try store.beginUpload(expecting: digest, length: UInt64(bytes.count))
        try send(bytes, to: upload)
        try upload.finish()
        return digest
    }

    private func incoming() throws -> [String] { try Durable.names(in: scratch.path("blobs/incoming")) }

    private func place(_ digest: Digest) -> String { "blobs/\(digest.hex.prefix(2))/\(digest.hex)" }

    @Test("a blob comes back whole, under its digest, read-only", arguments: [0, 1, 10_007, 3_000_000])
    func roundTrip(count: Int) throws {
        let bytes = Self.content(count)
        let digest = SHA256.digest(of: bytes)
        #expect(!store.contains(digest))
        #expect(try store.open(digest) == nil)
        #expect(try store.verify(digest) == .absent)
        try put(bytes)
        #expect(store.contains(digest))
        #expect(store.length(of: digest) == UInt64(count))
        #expect(try store.verify(digest) == .whole)
        let (descriptor, length) = try #require(try store.open(digest))
        defer { close(descriptor) }
        #expect(length == UInt64(count))
        #expect(try SHA256.digest(ofFile: descriptor) == digest)
        #expect(
            try Durable.kind(of: scratch.path(place(digest))) == .file(length: UInt64(count), mode: 0o444)
        )
        #expect(try incoming().isEmpty)
    }

    @Test("more bytes than announced are refused before they are stored")
    func tooLong() throws {
        let digest = SHA256.digest(of: Self.content(10))
        let upload = try store.beginUpload(expecting: digest, length: 10)
        try write(Self.content(6), to: upload)
        #expect(throws: BlobError.tooLong(digest, announced: 10)) { try write([1, 2, 3, 4, 5], to: upload) }
        #expect(try incoming().isEmpty)
        #expect(throws: BlobError.uploadEnded(digest)) { try write([1], to: upload) }
        #expect(throws: BlobError.uploadEnded(digest)) { try upload.finish() }
        #expect(!store.contains(digest))
    }

    @Test("fewer bytes than announced are refused")
    func tooShort() throws {
        let digest = SHA256.digest(of: Self.content(10))
        let upload = try store.beginUpload(expecting: digest, length: 10)
        try write(Self.content(9), to: upload)
        #expect(throws: BlobError.tooShort(digest, announced: 10, received: 9)) { try upload.finish() }
        #expect(try incoming().isEmpty)
        #expect(!store.contains(digest))
    }

    @Test("other bytes of the same length are refused, and a blob that was there stays")
    func otherBytes() throws {
        let digest = try put(Self.content(10))
        let upload = try store.beginUpload(expecting: digest, length: 10)
        let other = [UInt8](repeating: 1, count: 10)
        try write(other, to: upload)
        #expect(throws: BlobError.digestMismatch(expected: digest, found: SHA256.digest(of: other))) {
            try upload.finish()
        }
        #expect(try store.verify(digest) == .whole)
        #expect(try incoming().isEmpty)
    }

    @Test("an upload that is let go leaves nothing behind")
    func letGo() throws {
        let digest = SHA256.digest(of: Self.content(10))
        do {
            let upload = try store.beginUpload(expecting: digest, length: 10)
            try write([1], to: upload)
            #expect(upload.received == 1)
            #expect(try incoming().count == 1)
        }
        #expect(try incoming().isEmpty)
    }

    @Test("uploads of one blob at the same time all succeed")
    func concurrent() async throws {
        let bytes = Self.content(200_000)
        let digest = SHA256.digest(of: bytes)
        let uploads = try (0..<8).map { _ in
            try store.beginUpload(expecting: digest, length: UInt64(bytes.count))
        }
        try await withThrowingTaskGroup { group in
            for upload in uploads {
                group.addTask { @concurrent in
                    try send(bytes, to: upload)
                    try upload.finish()
                }
            }
            try await group.waitForAll()
        }
        #expect(try store.verify(digest) == .whole)
        #expect(try incoming().isEmpty)
    }

    @Test("a blob that no disk can hold is an outage, told before a byte is sent")
    func full() throws {
        let digest = SHA256.digest(of: [])
        let directory = scratch.path("blobs")
        for length in [UInt64.max, UInt64(Int64.max), 1 << 55] {
            #expect(throws: BlobError.self) { try store.beginUpload(expecting: digest, length: length) }
        }
        #expect(throws: BlobError.full(directory: directory, needed: .max)) {
            try store.beginUpload(expecting: digest, length: .max)
        }
        #expect(try incoming().isEmpty)
    }

    @Test("a store whose folder has gone is an outage that names the path")
    func gone() throws {
        try Durable.removeTree(scratch.path("blobs"))
        let digest = SHA256.digest(of: [])
        let error = #expect(throws: BlobError.self) { try store.beginUpload(expecting: digest, length: 1) }
        guard case .failed(.system(_, let path, ENOENT)) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(path.hasPrefix(scratch.path("blobs/incoming/")))
    }

    @Test("damage on the disk is found by reading again, and the next upload repairs it")
    func damage() throws {
        let bytes = Self.content(1_000)
        let digest = try put(bytes)
        var changed = bytes
        changed[500] ^= 1
        try scratch.write(place(digest), changed)
        #expect(try store.verify(digest) == .damaged(found: SHA256.digest(of: changed), length: 1_000))
        try put(bytes)
        #expect(try store.verify(digest) == .whole)
    }

    @Test("a removed blob is gone, and removing it again is no error")
    func remove() throws {
        let digest = try put(Self.content(5))
        try store.remove(digest)
        #expect(!store.contains(digest))
        try store.remove(digest)
        try store.remove(SHA256.digest(of: [9]))
    }

    @Test("a link in place of a blob is not followed")
    func link() throws {
        let bytes = Self.content(5)
        let digest = SHA256.digest(of: bytes)
        let target = try scratch.write("elsewhere", bytes)
        try Durable.makeDirectory(scratch.path("blobs/\(digest.hex.prefix(2))"))
        symlink(target, scratch.path(place(digest)))
        #expect(!store.contains(digest))
        #expect(throws: BlobError.self) { try store.open(digest) }
    }

    @Test("the sweep takes what a crash left, and spares an upload that runs")
    func sweep() throws {
        let digest = try put(Self.content(5))
        let left = try scratch.write("blobs/incoming/left", [1])
        var times = [timeval(tv_sec: 1_000, tv_usec: 0), timeval(tv_sec: 1_000, tv_usec: 0)]
        try #require(utimes(left, &times) == 0)
        let upload = try store.beginUpload(expecting: SHA256.digest(of: [7]), length: 1)
        #expect(try store.sweep(olderThan: UnixTime(rawValue: 1_000)) == 0)
        #expect(try store.sweep(olderThan: UnixTime(rawValue: 1_001)) == 1)
        try write([7], to: upload)
        try upload.finish()
        #expect(try store.verify(digest) == .whole)
    }

    @Test("a store that was there before is opened with what it holds")
    func reopened() throws {
        let digest = try put(Self.content(5))
        let again = try FolderBlobStore(directory: scratch.path("blobs"))
        #expect(again.contains(digest))
    }
}
