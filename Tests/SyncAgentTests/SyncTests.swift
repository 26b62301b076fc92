import Durable
import Generations
import Glibc
import Manifest
import Names
import Support
import SyncAgent
import Synchronization
import Testing
import Trust

@Suite("Sync")
struct SyncTests {
    private let fixture: SyncFixture

    init() throws { fixture = try SyncFixture() }

    @Test("the first sync activates the newest version, and Python's way and ours find it")
    func first() async throws {
        try fixture.registry.release("1.0.0")
        try fixture.registry.release("1.1.0", weights: 200_000)
        let report = try await fixture.sync()
        #expect(report.outcome == .activated && report.generation == 1 && report.exitCode == 0)
        #expect(report.models.map(\.active) == ["1.1.0"])
        #expect(report.bytesFetched > 200_000)
        #expect(try fixture.activeVersion() == "1.1.0")
        #expect(try Durable.names(in: "\(fixture.directory)/incoming").isEmpty)

        let status = try SyncedDevice(directory: fixture.directory).status(at: DeviceRegistry.start)
        #expect(status.freshness == .fresh && status.log == "not checked")
        #expect(status.models.map(\.version) == ["1.1.0"] && status.models[0].problem == nil)
        #expect(try SyncedDevice(directory: fixture.directory).verify() > 200_000)
    }

    /// Counts what the disk is waited for.
    private final class Waits: DiskProbe {
        private let waits = Mutex(0)

        var count: Int { waits.withLock { $0 } }

        func willPerform(_ operation: DiskOperation) {}

        func didPerform(_ operation: DiskOperation) {
            switch operation {
            case .synchronizeFile, .synchronizeDirectory: waits.withLock { $0 += 1 }
            default: break
            }
        }
    }

    @Test("a sync that finds nothing new asks once, changes no file but for the time, and waits for no disk")
    func unchanged() async throws {
        try fixture.registry.release("1.0.0")
        let (first, second) = (Waits(), Waits())
        try await Disk.$probe.withValue(first) { _ = try await fixture.sync() }
        #expect(first.count > 0)
        let file = "\(fixture.directory)/trust/state.json"
        let state = try Durable.readFile(file, maximum: .mebibytes(1))
        let before = try fixture.contents()
        _ = fixture.registry.takeRequests()
        fixture.clock.advance(seconds: 60)
        let report = try await Disk.$probe.withValue(second) { try await fixture.sync() }
        #expect(report.outcome == .unchanged && report.exitCode == 0)
        #expect(fixture.registry.takeRequests() == ["timestamp.json"])
        #expect(try fixture.contents() == before && second.count == 0)
        #expect(try Durable.readFile(file, maximum: .mebibytes(1)) == state)
        let status = try SyncedDevice(directory: fixture.directory).status()
        #expect(status.checked == fixture.clock.now.description)
        try Durable.writeInPlace("\(fixture.directory)/trust/checked", Array("none".utf8))
        let torn = try SyncedDevice(directory: fixture.directory).status().checked
        #expect(torn == DeviceRegistry.start.description)
    }

    @Test("a new version is fetched, its unchanged files are used again, and progress never goes back")
    func newVersion() async throws {
        try fixture.registry.release("1.0.0", weights: 70_000)
        try await fixture.sync()
        _ = fixture.registry.takeRequests()
        let manifest = try fixture.registry.release("1.1.0", weights: 80_000)
        let report = try await fixture.sync()
        #expect(report.models.map(\.previous) == ["1.0.0"] && report.generation == 2)
        #expect(try fixture.activeVersion() == "1.1.0")
        let labels = manifest.variants[0].files[1].sha256
        #expect(!fixture.registry.takeRequests().contains { $0.hasSuffix(labels.hex) })
        let progress = fixture.events.all.compactMap { event -> UInt64? in
            guard case .progress(let verified, let whole) = event, whole > 80_000 else { return nil }
            return verified
        }
        #expect(!progress.isEmpty && progress == progress.sorted())
    }

    @Test("a dry run decides and changes nothing")
    func dryRun() async throws {
        try fixture.registry.release("1.0.0")
        let first = try await fixture.sync(mode: .dryRun)
        #expect(first.outcome == .planned && first.models.map(\.active) == ["1.0.0"])
        #expect(try Durable.kind(of: fixture.directory) == nil)
        try await fixture.sync()
        try fixture.registry.release("1.1.0")
        let before = try fixture.contents()
        let second = try await fixture.sync(mode: .dryRun)
        #expect(second.models.map(\.active) == ["1.1.0"])
        #expect(try fixture.contents() == before)
    }

    @Test("an exact version is taken, listed or not, and does not go back by itself")
    func exactVersion() async throws {
        try fixture.registry.release("1.0.0")
        try fixture.registry.release("1.1.0")
        try await fixture.sync(["vision/detector@1.0.0"])
        #expect(try fixture.activeVersion() == "1.0.0")
        try await fixture.sync(["vision/detector@=1.1.0"])
        #expect(try fixture.activeVersion() == "1.1.0")
        // This device ran 1.0.0, so its operator may go back to it.
        try await fixture.sync(["vision/detector@1.0.0"])
        #expect(try fixture.activeVersion() == "1.0.0")
        let unknown = try await fixture.sync(["vision/detector@7.0.0"])
        #expect(unknown.models[0].reason.contains("7.0.0"))
        #expect(try fixture.activeVersion() == "1.0.0")
    }

    @Test("a model that is no longer asked for leaves with the next generation")
    func dropped() async throws {
        let fixture = try SyncFixture(["vision/detector", "vision/tracker"])
        try fixture.registry.release("1.0.0")
        try fixture.registry.release("2.0.0", of: "vision/tracker")
        try await fixture.sync(["vision/detector@stable", "vision/tracker@stable"])
        #expect(try fixture.activeVersion("vision/tracker") == "2.0.0")
        let report = try await fixture.sync(["vision/detector"])
        #expect(report.generation == 2)
        #expect(report.warnings.count == 1 && report.warnings[0].hasPrefix("vision/tracker 2.0.0 leaves"))
        #expect(try fixture.activeVersion("vision/tracker") == nil)
        #expect(try fixture.activeVersion() == "1.0.0")
        #expect(try await fixture.sync(["vision/detector"]).warnings.isEmpty)
    }

    @Test("a mistyped model takes no other away; what is recalled leaves all the same")
    func mistyped() async throws {
        let fixture = try SyncFixture(["vision/detector", "vision/tracker"])
        try fixture.registry.release("1.0.0")
        try fixture.registry.release("2.0.0", of: "vision/tracker")
        try await fixture.sync(["vision/detector@stable", "vision/tracker@stable"])
        for wanted in ["vision/detetcor@stable", "vision/detector@stabel", "vision/detector@9.9.9"] {
            let plan = try await fixture.sync([wanted], mode: .dryRun)
            #expect(plan.warnings.contains { $0.hasPrefix("vision/tracker 2.0.0 stays for now") }, "\(plan)")
            let report = try await fixture.sync([wanted])
            #expect(report.models[0].outcome != .activated)
            #expect(
                report.warnings.contains { $0.hasPrefix("vision/tracker 2.0.0 stays for now") },
                "\(report)"
            )
            #expect(try fixture.activeVersion() == "1.0.0", "\(wanted)")
            #expect(try fixture.activeVersion("vision/tracker") == "2.0.0", "\(wanted)")
        }
        let unknown = try await fixture.sync(["vision/detetcor@stable"])
        #expect(unknown.exitCode == 3 && unknown.models[0].reason.contains("check the name"), "\(unknown)")
        try fixture.registry.changeLive("vision/tracker") { live in
            live.withdrawing(
                try require(ModelVersion("2.0.0")),
                VersionState(kind: .recalled, reason: "wrong", time: DeviceRegistry.start)
            )
        }
        fixture.clock.advance(seconds: 60)
        try await fixture.sync(["vision/detetcor@stable"])
        #expect(try fixture.activeVersion("vision/tracker") == nil)
        #expect(try fixture.activeVersion() == "1.0.0")
    }

    @Test("an active version that fits no more stays, is told as that, and the one that would fit is named")
    func unfit() async throws {
        let first = try fixture.registry.release("1.0.0")
        let second = try fixture.registry.release("2.0.0", width: 9)
        let (older, newer) = (
            Expectation.satisfied(by: first.interface), Expectation.satisfied(by: second.interface)
        )
        try await fixture.sync(expectation: newer)
        let report = try await fixture.sync(expectation: older)
        #expect(try fixture.activeVersion() == "2.0.0")
        let decision = report.models[0]
        #expect(decision.outcome == .unfit && report.exitCode == 3 && decision.code == "active-unfit")
        #expect(decision.reason.hasPrefix("2.0.0 is active and does not fit"), "\(decision.reason)")
        #expect(decision.reason.contains("1.0.0 would, and a device goes back to what it never ran only"))
        #expect(
            decision.passedOver.map(\.version) == ["2.0.0"] && decision.passedOver[0].reason.contains("`x`")
        )
        let device = try SyncedDevice(directory: fixture.directory)
        #expect(try device.why("vision/detector") == decision)
        #expect(try device.status(at: DeviceRegistry.start).models[0].unfit == decision.reason)
        let fitting = try await fixture.sync(expectation: newer)
        #expect(fitting.exitCode == 0 && fitting.models[0].outcome == .unchanged)
        #expect(try device.status(at: DeviceRegistry.start).models[0].unfit == nil)
    }

    @Test("of a version that this device ran before it says so when the active one fits no more")
    func unfitAgain() async throws {
        let first = try fixture.registry.release("1.0.0")
        try await fixture.sync()
        try fixture.registry.release("2.0.0", width: 9)
        try await fixture.sync()
        let older = Expectation.satisfied(by: first.interface)
        let decision = try await fixture.sync(expectation: older).models[0]
        #expect(decision.outcome == .unfit && decision.active == "2.0.0")
        #expect(decision.reason.contains("‘sealift pin vision/detector 1.0.0’ brings it back"))
        try fixture.registry.release("2.1.0", width: 10)
        let both = try await fixture.sync(expectation: older).models[0]
        #expect(both.outcome == .unfit && both.passedOver.map(\.version) == ["2.1.0", "2.0.0"])
        try fixture.registry.release("2.2.0")
        let moved = try await fixture.sync(expectation: older)
        #expect(moved.exitCode == 0 && moved.models[0].active == "2.2.0")
    }

    @Test("files that were damaged on the disk are put right by the next sync")
    func repair() async throws {
        try fixture.registry.release("1.0.0", weights: 70_000)
        try await fixture.sync()
        let model = try fixture.device.activeModel(require(ModelName("vision/detector")))
        var bytes = try Durable.readFile(model.entryPath, maximum: .mebibytes(1))
        bytes[70_000] ^= 1
        try fixture.overwrite(model.entryPath, bytes)
        #expect(
            try SyncedDevice(directory: fixture.directory).status(at: DeviceRegistry.start).models[0].problem
                != nil
        )
        let report = try await fixture.sync()
        #expect(report.exitCode == 0)
        #expect(try fixture.activeVersion() == "1.0.0")
        #expect(report.generation == 1)
    }

    @Test("what verifying found under an old date is put right by the next sync, which fetches only that")
    func repairOfWhatVerifyingFound() async throws {
        try fixture.registry.release("1.0.0", weights: 70_000)
        try await fixture.sync()
        let model = try fixture.device.activeModel(require(ModelName("vision/detector")))
        var status = stat()
        #expect(stat(model.entryPath, &status) == 0)
        var bytes = try Durable.readFile(model.entryPath, maximum: .mebibytes(1))
        bytes[70_000] ^= 1
        try fixture.overwrite(model.entryPath, bytes)
        utimensat(AT_FDCWD, model.entryPath, [status.st_mtim, status.st_mtim], 0)
        let device = try SyncedDevice(directory: fixture.directory)
        #expect(throws: SyncError.self) { try device.verify() }
        let report = try await fixture.sync()
        #expect(report.exitCode == 0 && report.bytesFetched == UInt64(bytes.count + 2 * 32), "with its list")
        #expect(try device.verify() > 0)
        chmod(model.directory, 0o755)
        try Durable.writeAtomically(model.directory + "/unsigned", [1])
        let second = try await fixture.sync()
        #expect(second.exitCode == 0 && second.bytesFetched == 0, "every signed file was there")
        #expect(try device.verify() > 0)
    }

    @Test("the answer to why names the versions passed over, also after a restart")
    func why() async throws {
        let first = try fixture.registry.release("1.0.0")
        try fixture.registry.release("1.1.0", width: 9)
        try fixture.registry.release("1.2.0", width: 10)
        let expectation = Expectation.satisfied(by: first.interface)
        let report = try await fixture.sync(expectation: expectation)
        #expect(report.models[0].active == "1.0.0")
        let decision = try SyncedDevice(directory: fixture.directory).why("vision/detector")
        #expect(decision == report.models[0])
        #expect(decision.passedOver.map(\.version) == ["1.2.0", "1.1.0"])
        #expect(decision.passedOver.allSatisfy { $0.reason.contains("`x`") })
        #expect(throws: SyncError.self) { try SyncedDevice(directory: fixture.directory).why("vision/other") }
    }

    @Test("the answer to why is the last reason, also where the version is the same as before")
    func whyNow() async throws {
        try fixture.registry.release("1.0.0")
        try await fixture.sync()
        try fixture.registry.changeLive { live in
            let (version, channel) = (ModelVersion("1.0.0"), ChannelName("stable"))
            return try live.removing([try require(version)], from: try require(channel))
        }
        fixture.clock.advance(seconds: 60)
        try await fixture.sync()
        let device = try SyncedDevice(directory: fixture.directory)
        #expect(try device.why("vision/detector").reason.contains("does not list 1.0.0 any more"))
        #expect(try device.why("vision/detector").active == "1.0.0")
    }

    @Test("with only unusable newer versions the active one stays, and the exit code is 3")
    func kept() async throws {
        let first = try fixture.registry.release("1.0.0")
        let expectation = Expectation.satisfied(by: first.interface)
        try await fixture.sync(expectation: expectation)
        try fixture.registry.release("2.0.0", width: 9)
        let report = try await fixture.sync(expectation: expectation)
        #expect(report.models[0].outcome == .kept && report.exitCode == 3 && report.outcome == .unchanged)
        #expect(report.models[0].active == "1.0.0" && report.models[0].passedOver.map(\.version) == ["2.0.0"])
        #expect(try fixture.activeVersion() == "1.0.0")
    }
}
