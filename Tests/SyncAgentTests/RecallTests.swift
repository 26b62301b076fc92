import Durable
import Generations
import Glibc
import Manifest
import Names
import Support
import SyncAgent
import Synchronization
import Testing
import Transfer
import Trust

/// A recall waits for nobody: no download, no other model, no room on the disk, no chain that is current.
@Suite("Recall")
struct RecallTests {
    private let fixture: SyncFixture

    init() throws { fixture = try SyncFixture(["vision/detector", "vision/tracker"]) }

    private func recall(_ version: String) throws {
        let state = VersionState(kind: .recalled, reason: "unsafe", time: DeviceRegistry.start)
        try fixture.registry.changeLive { $0.withdrawing(try require(ModelVersion(version)), state) }
    }

    @Test("it is left before anything is fetched, for the good version that is on the device")
    func beforeDownloads() async throws {
        try fixture.registry.release("1.0.0")
        try await fixture.sync()
        try fixture.registry.release("1.1.0")
        try await fixture.sync()
        try fixture.registry.release("1.2.0", weights: 90_000)
        try recall("1.1.0")
        fixture.registry.cutOff(after: 10)
        let report = try await fixture.sync()
        #expect(report.models[0].active == "1.0.0" && report.exitCode == 75)
        #expect(try fixture.activeVersion() == "1.0.0")
        fixture.registry.cutOff(after: nil)
        try await fixture.sync()
        #expect(try fixture.activeVersion() == "1.2.0")
    }

    @Test("the only version is left for none, and the newest that cannot be used is not taken for it")
    func newestUnusable() async throws {
        let first = try fixture.registry.release("1.0.0")
        let expectation = Expectation.satisfied(by: first.interface)
        try await fixture.sync(expectation: expectation)
        try fixture.registry.release("2.0.0", width: 9)
        try recall("1.0.0")
        let report = try await fixture.sync(expectation: expectation)
        #expect(report.models[0].outcome == .none && report.exitCode == 3)
        #expect(try fixture.activeVersion() == nil)
        #expect(Set(report.models[0].passedOver.map(\.version)) == ["1.0.0", "2.0.0"])
        try fixture.registry.release("1.0.1")
        try await fixture.sync(expectation: expectation)
        #expect(try fixture.activeVersion() == "1.0.1")
    }

    @Test("a recall of one model leaves the others as they are")
    func others() async throws {
        let models = ["vision/detector@stable", "vision/tracker@stable"]
        try fixture.registry.release("1.0.0")
        try fixture.registry.release("3.0.0", of: "vision/tracker")
        try await fixture.sync(models)
        try recall("1.0.0")
        try await fixture.sync(models)
        #expect(try fixture.activeVersion() == nil)
        #expect(try fixture.activeVersion("vision/tracker") == "3.0.0")
    }

    @Test("an older version with a lease is left all the same")
    func leased() async throws {
        try fixture.registry.release("1.0.0")
        try await fixture.sync()
        let lease = try fixture.device.activeModel(require(ModelName("vision/detector"))).lease()
        try recall("1.0.0")
        try await fixture.sync()
        #expect(try fixture.activeVersion() == nil)
        withExtendedLifetime(lease) {}
    }

    @Test("a device without room leaves it too: the ballast makes room for the generation without it")
    func fullDisk() async throws {
        let device = try DeviceDirectory.create(fixture.scratch.path("device"))
        #expect(try Durable.kind(of: "\(device.path)/ballast") != nil)
        try fixture.registry.release("1.0.0")
        try await fixture.sync()
        let active = try require(try device.activeGeneration())
        let manifest = try require(active.record.models.first?.identity.manifest)
        let disk = DiskThatFills(until: "\(device.path)/ballast")
        let left = try Disk.$probe.withValue(disk) {
            try device.leave(for: [], from: active, at: DeviceRegistry.start) { $0 == manifest }
        }
        #expect(left.number == 2 && left.record.models.isEmpty && disk.refusals > 0)
    }

    @Test("where no room can be made the fallback is taken, and only if it is not recalled itself")
    func fullDiskWithoutBallast() async throws {
        try fixture.registry.release("1.0.0")
        try await fixture.sync()
        try fixture.registry.release("1.1.0")
        try await fixture.sync()
        let device = try fixture.device
        let active = try require(try device.activeGeneration())
        let new = try require(active.record.models.first?.identity.manifest)
        let old = try require(device.fallback(of: active)?.record.models.first?.identity.manifest)
        let error = #expect(throws: GenerationError.self) {
            try Disk.$probe.withValue(DiskThatFills(until: nil)) {
                try device.leave(for: [], from: active, at: DeviceRegistry.start) { [old, new].contains($0) }
            }
        }
        guard case .disk(let reason)? = error else { throw MissingValue() }
        #expect(reason.isOutOfSpace)
        #expect(try fixture.activeVersion() == "1.1.0")
        let left = try Disk.$probe.withValue(DiskThatFills(until: nil)) {
            try device.leave(for: [], from: active, at: DeviceRegistry.start) { $0 == new }
        }
        #expect(left.place == .fallback(2))
        #expect(try fixture.activeVersion() == "1.0.0")
    }

    @Test("what was recalled before is left by a sync that cannot use the chain any more")
    func expiredChain() async throws {
        try fixture.registry.release("1.0.0")
        try await fixture.sync()
        let device = try fixture.device
        let manifest = try require(try device.activeGeneration()?.record.models.first?.identity.manifest)
        let state = try require(try device.trustState())
        try device.save(
            TrustState(
                checked: state.checked,
                freshUntil: state.freshUntil,
                graceUntil: state.graceUntil,
                recalled: [manifest],
                clockFloor: state.clockFloor
            )
        )
        fixture.clock.advance(seconds: 4 * 86_400)
        #expect(try await fixture.failure()?.kind == .expired)
        #expect(try fixture.activeVersion() == nil)
    }
}

/// A disk without room for one byte more, until a file is given up.
final class DiskThatFills: DiskProbe {
    private let release: String?
    private let state = Mutex((isFull: true, refusals: 0))

    init(until release: String?) { self.release = release }

    var refusals: Int { state.withLock { $0.refusals } }

    func willPerform(_ operation: DiskOperation) throws(DurableError) {
        switch operation {
        case .makeDirectory(let path), .makeFile(let path), .makeLink(let path, _), .addName(let path, _),
            .append(let path, _):
            let isFull = state.withLock { state in
                if state.isFull { state.refusals += 1 }
                return state.isFull
            }
            if isFull { throw .system(operation: "write", path: path, code: ENOSPC) }
        case .date, .rename, .exchange, .remove, .removeDirectory, .synchronizeFile, .synchronizeDirectory:
            break
        }
    }

    func didPerform(_ operation: DiskOperation) {
        if case .remove(let path) = operation, path == release { state.withLock { $0.isFull = false } }
    }
}
