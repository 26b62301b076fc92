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
}
