import Durable
import Support
import Testing
import Transfer

@testable import SyncAgent

@Suite("Overlay store")
struct OverlayStoreTests {
    @Test("what was kept in memory for want of room gives way to what is stored after it")
    func roomAgain() throws {
        let scratch = Scratch()
        let folder = FolderMetadataStore(directory: scratch.path("trust"))
        let store = OverlayStore(over: folder, writing: .whatCanBe)
        try Disk.$probe.withValue(DiskThatFills(until: nil)) { try store.save("targets.json", [1]) }
        #expect(try store.load("targets.json") == [1])
        #expect(try folder.load("targets.json") == nil)
        try store.save("targets.json", [2])
        #expect(try store.load("targets.json") == [2])
    }

    /// A disk that gives some files back no more.
    private struct FailingStore: MetadataStore {
        let folder: FolderMetadataStore
        let lost: Set<String>

        func load(_ name: String) throws(DurableError) -> [UInt8]? {
            guard !lost.contains(name) else { throw .system(operation: "read", path: name, code: 5) }
            return try folder.load(name)
        }

        func save(_ name: String, _ bytes: [UInt8]) throws(DurableError) { try folder.save(name, bytes) }
    }

    @Test("what cannot be read is never written over, and the sync that it counted as absent for ends so")
    func unreadable() throws {
        let scratch = Scratch()
        let folder = FolderMetadataStore(directory: scratch.path("trust"))
        try folder.save("timestamp.json", [9])
        let store = OverlayStore(
            over: FailingStore(folder: folder, lost: ["timestamp.json"]),
            writing: .whatCanBe
        )
        #expect(try store.load("timestamp.json") == nil)
        try store.save("timestamp.json", [1])
        try store.save("snapshot.json", [2])
        #expect(try store.load("timestamp.json") == [1], "for this sync")
        #expect(try folder.load("timestamp.json") == [9])
        #expect(try folder.load("snapshot.json") == [2])
        #expect(store.failure == .system(operation: "read", path: "timestamp.json", code: 5))
    }
}
