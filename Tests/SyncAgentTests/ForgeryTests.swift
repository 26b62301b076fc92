import Durable
import Generations
import Glibc
import Names
import Support
import SyncAgent
import Testing

/// What others put in the place of a version, with a manifest and a record that fit it.
@Suite("Sync faults: bytes nobody signed")
struct ForgeryTests {
    private let fixture: SyncFixture
    private let signed: String

    init() async throws {
        fixture = try SyncFixture()
        try fixture.registry.release("1.0.0")
        try await fixture.sync()
        signed = try fixture.device.activeModel(try require(ModelName("vision/detector"))).manifestDigest.hex
    }

    /// Puts the versions and generations of another registry's device in the place of this one's.
    private func forge(_ version: String) async throws -> String {
        let other = try SyncFixture()
        try other.registry.release("0.9.0")
        try other.registry.release(version)
        try await other.sync()
        for name in ["versions", "generations", "fallback"] {
            try Durable.removeTree("\(fixture.directory)/\(name)")
            #expect(rename("\(other.directory)/\(name)", "\(fixture.directory)/\(name)") == 0)
        }
        return try fixture.device.activeModel(try require(ModelName("vision/detector"))).manifestDigest.hex
    }

    @Test("verifying names a manifest that nobody signed, and the next sync fetches what was signed")
    func sameVersion() async throws {
        let forged = try await forge("1.0.0")
        #expect(forged != signed)
        let device = try SyncedDevice(directory: fixture.directory)
        for root in [nil, fixture.scratch.path("root.json")] {
            do throws(SyncError) {
                _ = try device.verify(root: root)
                Issue.record("bytes that nobody signed were called as signed")
            } catch {
                #expect(error.kind == .refused, "\(error)")
                #expect(error.message.contains(forged) && error.message.contains(signed), "\(error)")
            }
        }
        let report = try await fixture.sync()
        #expect(report.outcome == .activated && report.bytesFetched > 0 && report.exitCode == 0)
        #expect(report.models[0].reason.contains("not what was signed"), "\(report.models[0].reason)")
        #expect(try device.verify() > 0)
        #expect(try device.status().models[0].manifest == signed)
        // The forged version is no way back either.
        _ = try? device.rollback(reason: "a try")
        #expect(try device.status().models.allSatisfy { $0.manifest == signed })
    }

    @Test("a version that was never signed goes, however high it is")
    func otherVersion() async throws {
        _ = try await forge("9.9.9")
        let device = try SyncedDevice(directory: fixture.directory)
        #expect(throws: SyncError.self) { try device.verify() }
        #expect(try await fixture.sync().exitCode == 0)
        #expect(try fixture.activeVersion() == "1.0.0")
        #expect(try device.verify() > 0)
    }

    @Test("metadata that other keys signed proves nothing")
    func otherKeys() async throws {
        _ = try await forge("1.0.0")
        let device = try SyncedDevice(directory: fixture.directory)
        let other = try SyncFixture()
        try other.registry.release("0.9.0")
        try other.registry.release("1.0.0")
        try await other.sync()
        try Durable.removeTree("\(fixture.directory)/trust")
        #expect(rename("\(other.directory)/trust", "\(fixture.directory)/trust") == 0)
        let root = fixture.scratch.path("root.json")
        #expect(throws: SyncError.self) { try device.verify(root: root) }
    }

    @Test("a chain that has expired still says what was signed")
    func expired() async throws {
        fixture.clock.advance(seconds: 400 * 86_400)
        let clock = fixture.clock
        let device = try SyncedDevice(directory: fixture.directory, clock: { clock.now })
        #expect(try device.verify() > 0)
    }

    @Test("without signed metadata nothing is called as signed")
    func noMetadata() async throws {
        try Durable.removeTree("\(fixture.directory)/trust")
        let device = try SyncedDevice(directory: fixture.directory)
        #expect(throws: SyncError.self) { try device.verify() }
        #expect(try await fixture.sync().exitCode == 0)
        #expect(try device.verify() > 0)
    }
}
