import Durable
import Generations
import Manifest
import Names
import Support
import SyncAgent
import Testing

@Suite("Versions that an app could not load, and the next sync")
struct CondemnedTests {
    private let fixture: SyncFixture
    private let reason = "onnxruntime 1.28.0 cannot load it"

    init() async throws {
        fixture = try SyncFixture(["vision/detector"])
        try fixture.registry.release("1.0.0")
        try await sync()
    }

    @discardableResult
    private func sync() async throws -> SyncReport { try await fixture.sync(["vision/detector@stable"]) }

    private var device: SyncedDevice {
        get throws {
            try SyncedDevice(directory: fixture.directory, clock: { [clock = fixture.clock] in clock.now })
        }
    }

    /// What `ModelLibrary` does with a version that does not work.
    private func condemnActive() throws {
        let directory = try DeviceDirectory.open(fixture.directory)
        let model = try require(try directory.activeGeneration()?.record.models.first)
        try directory.condemn(model.identity, reason: reason, at: fixture.clock.now)
    }

    @Test("it is not activated again, and status, why and the quarantine tell it")
    func notAgain() async throws {
        try fixture.registry.release("1.1.0")
        try await sync()
        try condemnActive()
        #expect(try fixture.activeVersion() == "1.0.0")
        #expect(try device.status().models.first?.reason.contains(reason) == true)
        for _ in 0..<2 {
            try await sync()
            #expect(try fixture.activeVersion() == "1.0.0")
        }
        let why = try device.why("vision/detector")
        #expect(why.passedOver.first?.version == "1.1.0")
        #expect(why.passedOver.first?.reason.contains(reason) == true)
        #expect(try device.quarantine().map(\.version) == ["1.1.0"])
        try fixture.registry.release("1.2.0")
        try await sync()
        #expect(try fixture.activeVersion() == "1.2.0")
    }

    @Test("one that is active with nothing before it is left for whatever the registry has instead")
    func leftForOther() async throws {
        try condemnActive()
        #expect(try fixture.activeVersion() == "1.0.0")
        let status = try device.status()
        #expect(status.models.first?.problem?.contains(reason) == true)
        try await sync()
        #expect(try fixture.activeVersion() == "1.0.0", "nothing else is there")
        #expect(try device.why("vision/detector").reason.contains(reason))
        try fixture.registry.release("0.9.0")
        try await sync()
        #expect(try fixture.activeVersion() == "0.9.0")
    }

    @Test("what is cleared is taken again")
    func cleared() async throws {
        try fixture.registry.release("1.1.0")
        try await sync()
        try condemnActive()
        #expect(try device.clearQuarantine("vision/detector") == 1)
        try await sync()
        #expect(try fixture.activeVersion() == "1.1.0")
    }
}
