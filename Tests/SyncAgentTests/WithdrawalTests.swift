import Generations
import Manifest
import Names
import Support
import SyncAgent
import Testing
import Trust

/// What a device does when signatures take versions away.
@Suite("Withdrawal")
struct WithdrawalTests {
    private let fixture: SyncFixture
    private let stable: ChannelName

    init() async throws {
        fixture = try SyncFixture()
        stable = try require(ChannelName("stable"))
        try fixture.registry.release("1.0.0")
        try fixture.registry.release("1.1.0")
        try await fixture.sync()
    }

    private func withdraw(_ version: String, _ kind: VersionState.Kind) throws {
        let state = VersionState(kind: kind, reason: "wrong labels", time: DeviceRegistry.start)
        let version = try require(ModelVersion(version))
        try fixture.registry.changeLive { $0.withdrawing(version, state) }
    }

    @Test("a recalled version is left at once for the newest good one")
    func recalled() async throws {
        let before = try require(try fixture.device.activeGeneration()?.record.models[0].identity.manifest)
        try withdraw("1.1.0", .recalled)
        let report = try await fixture.sync()
        #expect(try fixture.activeVersion() == "1.0.0")
        #expect(report.models[0].reason.contains("wrong labels"))
        #expect(try fixture.device.trustState()?.recalled == [before])
    }

    @Test("when the only good version is recalled the device runs none")
    func onlyVersion() async throws {
        try withdraw("1.0.0", .recalled)
        try withdraw("1.1.0", .recalled)
        let report = try await fixture.sync()
        #expect(try fixture.activeVersion() == nil)
        #expect(report.models[0].outcome == .none && report.models[0].previous == "1.1.0")
        #expect(report.exitCode == 3)
    }

    @Test("a recall is obeyed although the version to go to cannot be had")
    func recallWaitsForNobody() async throws {
        let fixture = try SyncFixture()
        let first = try fixture.registry.release("1.0.0")
        try await fixture.sync()
        let second = try fixture.registry.release("1.1.0")
        fixture.registry.tamper(second.variants[0].files[0].sha256) { $0[0] ^= 1 }
        let state = VersionState(kind: .recalled, reason: "unsafe", time: DeviceRegistry.start)
        try fixture.registry.changeLive { $0.withdrawing(first.version, state) }
        let report = try await fixture.sync()
        #expect(report.exitCode == 1 && report.models[0].active == nil)
        #expect(try fixture.activeVersion() == nil)
    }

    @Test("a yanked version stays where it runs, and nobody newly takes it")
    func yanked() async throws {
        try withdraw("1.1.0", .yanked)
        let report = try await fixture.sync()
        #expect(try fixture.activeVersion() == "1.1.0" && report.exitCode == 0)
        let other = try SyncFixture()
        try other.registry.release("1.0.0")
        let second = try other.registry.release("1.1.0")
        let state = VersionState(kind: .yanked, reason: "slow", time: DeviceRegistry.start)
        try other.registry.changeLive { $0.withdrawing(second.version, state) }
        let fresh = try await other.sync()
        #expect(fresh.models[0].active == "1.0.0")
        #expect(fresh.models[0].passedOver.map(\.version) == ["1.1.0"])
    }

    @Test("a version off the channel stays until a listed one replaces it")
    func replaced() async throws {
        let listed = try fixture.device.activeGeneration()
        #expect(listed != nil)
        try fixture.registry.changeLive { live in
            let first = try require(live.listed(in: stable).last)
            return try live.setting(stable, to: [first.identity])
        }
        let report = try await fixture.sync()
        #expect(try fixture.activeVersion() == "1.0.0")
        #expect(report.models[0].reason.contains("replaces 1.1.0"))
    }

    @Test("a version below the floor is not taken, and one that runs is replaced by the first above it")
    func floor() async throws {
        let floor = try require(ModelVersion("1.2.0"))
        try fixture.registry.changeLive { $0.flooring(stable, at: floor) }
        let report = try await fixture.sync()
        #expect(report.models[0].active == "1.1.0")
        #expect(report.exitCode == 3)
        #expect(report.models[0].reason.contains("below the floor 1.2.0"), "\(report)")
        try fixture.registry.release("1.2.0")
        try await fixture.sync()
        #expect(try fixture.activeVersion() == "1.2.0")
    }

    @Test("a floor or a pin that nothing can meet is told by sync and status, and what runs stays")
    func unmet() async throws {
        let device = try SyncedDevice(directory: fixture.directory)
        let low = try await fixture.sync { $0.models[0].floor = try require(ModelVersion("2.0.0")) }
        #expect(low.exitCode == 3 && low.models[0].active == "1.1.0", "\(low)")
        #expect(try device.status().models[0].unfit?.contains("below the floor 2.0.0") == true)
        let unknown = #expect(throws: SyncError.self) { try device.pin("vision/detector", to: "9.9.9") }
        #expect(unknown?.kind == .usage)
        #expect(unknown?.message.contains("known: 1.1.0, 1.0.0") == true, "\(unknown?.message ?? "")")
        // As one that was there once.
        var pins = Pins()
        pins.versions[try require(ModelName("vision/detector"))] = ModelVersion("9.9.9")
        try fixture.device.save(pins)
        let pinned = try await fixture.sync()
        #expect(pinned.exitCode == 3 && pinned.models[0].active == "1.1.0", "\(pinned)")
        #expect(pinned.models[0].reason.contains("pinned to 9.9.9, and no such version"), "\(pinned)")
        #expect(pinned.models[0].passedOver.contains { $0.reason == "no such version is released" })
        try device.unpin("vision/detector")
        #expect(try await fixture.sync().exitCode == 0)
        #expect(try device.status().models[0].unfit == nil)
    }

    @Test("an administrator's denial is a recall")
    func denied() async throws {
        let model = try require(ModelName("vision/detector"))
        let denial = Denial(
            model: model,
            subject: .versions([try require(ModelVersion("1.1.0"))]),
            reason: "stolen key",
            since: DeviceRegistry.start
        )
        fixture.registry.metadata.change { $0.roles[.targets]?.deny = [denial] }
        try fixture.registry.publish()
        try await fixture.sync()
        #expect(try fixture.activeVersion() == "1.0.0")
    }

    @Test("a rollout of nothing reaches nobody, and one of everybody reaches all")
    func rollout() async throws {
        try fixture.registry.release("1.2.0", rollout: 0)
        let none = try await fixture.sync()
        #expect(none.models[0].active == "1.1.0" && none.exitCode == 0)
        #expect(none.models[0].passedOver.map(\.version) == ["1.2.0"])
        try fixture.registry.changeLive { live in
            let listed = try require(live.listed(in: stable).first)
            return try live.adding(listed.identity, to: stable)
        }
        try await fixture.sync()
        #expect(try fixture.activeVersion() == "1.2.0")
    }
}
