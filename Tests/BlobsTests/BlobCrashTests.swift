import Blobs
import Durable
import Glibc
import Names
import Signing
import Support
import Testing

@Suite("Folder blob store, cut off")
struct BlobCrashTests {
    private static let content = [UInt8](repeating: 5, count: 50_000)

    private static func put(in directory: String) throws(BlobError) {
        let store = try FolderBlobStore(directory: directory)
        let upload = try store.beginUpload(
            expecting: SHA256.digest(of: content),
            length: UInt64(content.count)
        )
        var failure: BlobError?
        content.withUnsafeBytes { bytes in
            do throws(BlobError) { try upload.write(bytes) } catch { failure = error }
        }
        if let failure { throw failure }
        try upload.finish()
    }

    @Test("a crash before the rename leaves no blob, and what it leaves is swept")
    func beforeRename() async throws {
        let scratch = Scratch()
        let directory = scratch.path("blobs")
        await #expect(processExitsWith: .signal(SIGKILL)) { [directory = directory as String] in
            setenv("SEALIFT_CRASH_AT", "blob.synchronized", 1)
            try BlobCrashTests.put(in: directory)
        }
        let store = try FolderBlobStore(directory: directory)
        #expect(try store.verify(SHA256.digest(of: Self.content)) == .absent)
        #expect(try Durable.names(in: "\(directory)/incoming").count == 1)
        #expect(try store.sweep(olderThan: UnixTime(rawValue: .max)) == 1)
        try Self.put(in: directory)
        #expect(try store.verify(SHA256.digest(of: Self.content)) == .whole)
    }

    @Test("a crash after the rename leaves the whole blob")
    func afterRename() async throws {
        let scratch = Scratch()
        let directory = scratch.path("blobs")
        await #expect(processExitsWith: .signal(SIGKILL)) { [directory = directory as String] in
            setenv("SEALIFT_CRASH_AT", "blob.renamed", 1)
            try BlobCrashTests.put(in: directory)
        }
        let store = try FolderBlobStore(directory: directory)
        #expect(try store.verify(SHA256.digest(of: Self.content)) == .whole)
    }

    @Test(
        "a disk that fills on the way is an outage, and leaves nothing",
        arguments: ["blob.write", "blob.renamed"]
    )
    func fillsUp(point: String) async throws {
        let scratch = Scratch()
        let directory = scratch.path("blobs")
        await #expect(processExitsWith: .success) {
            [directory = directory as String, point = point as String] in
            setenv("SEALIFT_FAULT_AT", point, 1)
            let needed = UInt64(BlobCrashTests.content.count)
            #expect(throws: BlobError.full(directory: directory, needed: needed)) {
                try BlobCrashTests.put(in: directory)
            }
        }
        #expect(try Durable.names(in: "\(directory)/incoming").isEmpty)
        try Self.put(in: directory)
    }
}
