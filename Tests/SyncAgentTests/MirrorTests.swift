import Durable
import Generations
import Manifest
import Names
import Support
import Testing
import Transfer
import Trust

@testable import SyncAgent

/// Any mirror may give any file, so one that lies, fails or is behind keeps nothing from a device.
@Suite("Several mirrors")
struct SyncMirrorTests {
    private var fixture: SyncFixture
    private let mirror: BadMirror
    private let both = [BadMirror.url, DeviceRegistry.url]

    init() async throws {
        fixture = try SyncFixture()
        mirror = BadMirror(fixture.registry)
        fixture.fetcher = mirror
        try fixture.registry.release("1.0.0")
        try await fixture.sync()
        try fixture.registry.release("1.1.0")
        try await fixture.sync()
    }

    private func recall(_ version: String) throws {
        let state = VersionState(kind: .recalled, reason: "unsafe", time: DeviceRegistry.start)
        try fixture.registry.changeLive { $0.withdrawing(try require(ModelVersion(version)), state) }
    }

    private func sync() async throws -> SyncReport {
        try await fixture.sync { $0.registries = both }
    }

    @Test(
        "a recall is obeyed whatever the first mirror does with a file",
        arguments: [
            "timestamp", "snapshot", ".targets", "vision.json", "detector.json", "~live", "live.json", "root",
            "settings.json", "hold",
        ],
        BadMirror.Fault.allCases
    )
    func recall(_ part: String, _ fault: BadMirror.Fault) async throws {
        try recall("1.1.0")
        mirror.fail(part, by: fault)
        let report = try await sync()
        #expect(report.exitCode == 0 && report.models[0].active == "1.0.0")
        #expect(try fixture.activeVersion() == "1.0.0")
    }

    @Test(
        "a location that failed where another answered is named once, with what happened",
        arguments: [0, 1]
    )
    func told(_ place: Int) async throws {
        mirror.fail("metadata", by: .outage)
        var locations = both
        if place == 1 { locations.reverse() }
        let report = try await fixture.sync { $0.registries = locations }
        let told = report.warnings.filter { $0.contains(BadMirror.url) }
        #expect(report.exitCode == 0 && told.count == 1, "\(report.warnings)")
        #expect(told.first?.contains("503") == true && told.first?.contains("timestamp.json") == true)
        mirror.fail("metadata", by: nil)
        #expect(try await fixture.sync { $0.registries = locations }.warnings.isEmpty)
    }

    @Test("a new root comes from the mirror that has it")
    func root() async throws {
        mirror.freeze(["timestamp.json"])
        mirror.fail(".root.json", by: .absent)
        try fixture.registry.metadata.change { try $0.publishRoot() }
        try recall("1.1.0")
        #expect(try await sync().models[0].active == "1.0.0")
    }

    @Test("a mirror that is behind hides nothing that another has, and makes no poll longer")
    func behind() async throws {
        mirror.freeze(["timestamp.json"])
        try recall("1.1.0")
        #expect(try await sync().models[0].active == "1.0.0")
        _ = fixture.registry.takeRequests()
        _ = mirror.takeRequests()
        try await fixture.sync { $0.registries = both }
        #expect(fixture.registry.takeRequests() == ["timestamp.json"])
        #expect(mirror.takeRequests() == ["metadata/timestamp.json"])
    }

    @Test("two mirrors without news are asked one thing each, and one alone one thing")
    func quiet() async throws {
        try await fixture.sync { $0.registries = both }
        _ = fixture.registry.takeRequests()
        _ = mirror.takeRequests()
        try await fixture.sync { $0.registries = both }
        // The mirror asks the registry in turn.
        #expect(fixture.registry.takeRequests() == ["timestamp.json", "timestamp.json"])
        #expect(mirror.takeRequests() == ["metadata/timestamp.json"])
        try await fixture.sync()
        #expect(fixture.registry.takeRequests() == ["timestamp.json"])
    }

    @Test(
        "a version is not newly taken while what holds it back is withheld",
        arguments: BadMirror.Fault.allCases
    )
    func withheldHold(_ fault: BadMirror.Fault) async throws {
        let manifest = try fixture.registry.release("1.2.0")
        try fixture.registry.hold(manifest)
        mirror.fail("hold", by: fault)
        let report = try await fixture.sync { $0.registries = [BadMirror.url] }
        #expect(report.exitCode == 75 && report.models[0].outcome == .failed)
        #expect(report.models[0].failure?.message.contains("no version is newly taken") == true)
        #expect(try fixture.activeVersion() == "1.1.0")
        // Another mirror says what is held.
        #expect(try await sync().exitCode == 0)
        #expect(try fixture.activeVersion() == "1.1.0")
    }

    @Test("a recall goes on while what is held back is withheld")
    func withheldHoldAndRecall() async throws {
        let manifest = try fixture.registry.release("1.2.0")
        try fixture.registry.hold(manifest)
        try recall("1.1.0")
        mirror.fail("hold", by: .absent)
        let report = try await fixture.sync { $0.registries = [BadMirror.url] }
        #expect(report.exitCode == 75)
        #expect(try fixture.activeVersion() == "1.0.0")
        #expect(try fixture.device.trustState()?.recalled.count == 1)
    }

    @Test("a hold that has expired holds nothing, and is said")
    func expiredHold() async throws {
        try fixture.registry.release("1.2.0")
        fixture.clock.advance(seconds: 8 * 86_400)
        try fixture.registry.metadata.change { repository in
            repository.now = repository.now.adding(seconds: 8 * 86_400)
            try repository.publish([])
        }
        let report = try await fixture.sync()
        #expect(report.warnings.contains { $0.contains("no hold applies") })
        #expect(try fixture.activeVersion() == "1.2.0")
    }

    @Test(
        "a recall is not unsaid by older metadata, although timestamp and snapshot were lost",
        arguments: ["every role", "the live role alone"]
    )
    func replay(_ signed: String) async throws {
        mirror.freeze(["timestamp.json"])
        let live = SealiftRole.live(try require(ModelName("vision/detector"))).roleName
        let state = VersionState(kind: .recalled, reason: "unsafe", time: DeviceRegistry.start)
        try fixture.registry.changeLive(signing: signed == "every role" ? nil : [live]) {
            $0.withdrawing(try require(ModelVersion("1.1.0")), state)
        }
        try await fixture.sync()
        #expect(try fixture.activeVersion() == "1.0.0")
        for name in ["timestamp.json", "snapshot.json", "poll-state"] {
            try Durable.removeFile("\(try fixture.device.trustPath)/\(name)")
        }
        var code: String?
        do {
            code = try await fixture.sync { $0.registries = [BadMirror.url] }.models[0].failure?.code
        } catch {
            code = (error as? SyncError)?.code
        }
        #expect(code == "rollback")
        #expect(try fixture.activeVersion() == "1.0.0")
        #expect(try fixture.device.trustState()?.recalled.count == 1)
        try await fixture.sync()
        #expect(try fixture.activeVersion() == "1.0.0")
    }

    @Test("a timestamp from before the signed times that were seen is an old one, although none is stored")
    func oldTimestamp() async throws {
        mirror.freeze(["timestamp.json"])
        fixture.registry.metadata.change { $0.now = $0.now.adding(seconds: 3_600) }
        fixture.clock.advance(seconds: 3_600)
        try fixture.registry.publish()
        try await fixture.sync()
        let trust = try fixture.device.trustPath
        for name in try Durable.names(in: trust) where name != "state.json" {
            try Durable.removeTree("\(trust)/\(name)")
        }
        var failure: SyncError?
        do { try await fixture.sync { $0.registries = [BadMirror.url] } } catch {
            failure = error as? SyncError
        }
        #expect(failure?.code == "rollback" && failure?.message.contains("is an old one") == true)
        #expect(try await sync().exitCode == 0)
    }
}
