import Durable
import Generations
import Manifest
import Names
import Support
import SyncAgent
import Testing
import Trust

@Suite("Trials and rollbacks")
struct SyncTrialTests {
    private let fixture: SyncFixture
    private let models = ["vision/detector@stable", "vision/tracker@stable"]

    init() async throws {
        fixture = try SyncFixture(["vision/detector", "vision/tracker"])
        try fixture.registry.release("1.0.0")
        try fixture.registry.release("1.0.0", of: "vision/tracker")
        try await sync()
    }

    @discardableResult
    private func sync(
        _ confirmation: WantedModel.Confirmation = .app(starts: 2, seconds: 3_600),
        group: String? = nil
    ) async throws -> SyncReport {
        try await fixture.sync(models) { configuration in
            for index in configuration.models.indices {
                configuration.models[index].confirmation = confirmation
                configuration.models[index].group = group
            }
        }
    }

    private var device: SyncedDevice {
        get throws {
            try SyncedDevice(directory: fixture.directory, clock: { [clock = fixture.clock] in clock.now })
        }
    }

    private func confirmAll() throws {
        for model in ["vision/detector", "vision/tracker"] { try device.confirm(model) }
    }

    private func active() throws -> [String?] {
        [try fixture.activeVersion(), try fixture.activeVersion("vision/tracker")]
    }

    @Test(
        "one start too many goes back at once, without a network, and the next sync puts back what had not failed"
    )
    func crashLoop() async throws {
        try confirmAll()
        try fixture.registry.release("1.1.0")
        try fixture.registry.release("1.1.0", of: "vision/tracker")
        try await sync()
        #expect(try active() == ["1.1.0", "1.1.0"])
        fixture.registry.setOutage(true)
        let first = try device.start(of: "vision/detector")
        #expect(first.version == "1.1.0" && first.left == nil)
        #expect(try device.start(of: "vision/detector").version == "1.1.0")
        let third = try device.start(of: "vision/detector")
        #expect(third.version == "1.0.0")
        #expect(third.left == "vision/detector 1.1.0 was left: it was started 2 times and never confirmed")
        #expect(try active() == ["1.0.0", "1.0.0"])
        #expect(try device.why("vision/detector").reason.contains("it was started 2 times"))
        #expect(try device.why("vision/tracker").reason.contains("together with vision/detector 1.1.0"))
        fixture.registry.setOutage(false)
        let report = try await sync()
        #expect(try active() == ["1.0.0", "1.1.0"])
        #expect(report.generation == 3)
        let why = try device.why("vision/detector")
        #expect(why.passedOver.map(\.version) == ["1.1.0"])
        #expect(why.passedOver[0].reason.contains("started 2 times"))
        #expect(try device.quarantine().map(\.version) == ["1.1.0"])
        // It stays so, until somebody clears it or the next version comes.
        try await sync()
        #expect(try active() == ["1.0.0", "1.1.0"])
        try fixture.registry.release("1.2.0")
        try await sync()
        #expect(try active() == ["1.2.0", "1.1.0"])
    }

    @Test("what is cleared before the next sync is taken again by it, and its trial begins anew")
    func clearedAtOnce() async throws {
        try confirmAll()
        try fixture.registry.release("1.1.0")
        try await sync()
        for _ in 0..<3 { try device.start(of: "vision/detector") }
        #expect(try active() == ["1.0.0", "1.0.0"])
        #expect(try device.quarantine().map(\.version) == ["1.1.0"])
        #expect(try device.clearQuarantine("vision/detector") == 1)
        #expect(try device.quarantine().isEmpty)
        try await sync()
        #expect(try active() == ["1.1.0", "1.0.0"])
        #expect(try device.start(of: "vision/detector").version == "1.1.0")
        try await sync()
        #expect(try active() == ["1.1.0", "1.0.0"])
    }

    @Test("what the app confirms stays, however often it is started")
    func confirmed() async throws {
        try confirmAll()
        try fixture.registry.release("1.1.0")
        try await sync()
        #expect(try device.start(of: "vision/detector").version == "1.1.0")
        try device.confirm("vision/detector")
        for _ in 0..<5 { #expect(try device.start(of: "vision/detector").version == "1.1.0") }
        fixture.clock.advance(seconds: 4_000)
        try await sync()
        #expect(try active() == ["1.1.0", "1.0.0"])
    }

    @Test("a version that nothing stands behind is not left for the lack of a confirmation alone")
    func firstInstall() async throws {
        for _ in 0..<5 { #expect(try device.start(of: "vision/detector").left == nil) }
        #expect(try device.status().models.first { $0.model == "vision/detector" }?.trial == "trial")
        fixture.clock.advance(seconds: 7_200)
        try await sync()
        #expect(try active() == ["1.0.0", "1.0.0"])
        #expect(try device.quarantine().isEmpty)
        try device.confirm("vision/detector")
        #expect(try device.status().models.first { $0.model == "vision/detector" }?.trial == "confirmed")
    }

    @Test("a trial that nobody confirms in time is over at the next sync")
    func timeOut() async throws {
        try confirmAll()
        try fixture.registry.release("1.1.0")
        try await sync()
        fixture.clock.advance(seconds: 3_500)
        try await sync()
        #expect(try active() == ["1.1.0", "1.0.0"])
        fixture.clock.advance(seconds: 200)
        try await sync()
        #expect(try active() == ["1.0.0", "1.0.0"])
    }

    @Test("a lost trial whose way back is damaged stops no sync, which brings the next version")
    func damagedWayBack() async throws {
        try confirmAll()
        try fixture.registry.release("1.1.0")
        try await sync()
        let generation = try require(try fixture.device.activeGeneration())
        let old = try require(try fixture.device.fallback(of: generation)?.record.models.first).identity
        try fixture.overwrite("\(fixture.directory)/\(old.relativePath)/model.onnx", [1, 2, 3])
        fixture.clock.advance(seconds: 4_000)
        try fixture.registry.release("1.2.0")
        try await sync()
        #expect(try active() == ["1.2.0", "1.0.0"])
    }

    @Test("by a clock at 1970 or 2100 no trial is lost, and once it is right again it goes on")
    func wrongClock() async throws {
        try confirmAll()
        try fixture.registry.release("1.1.0")
        try await sync()
        let now = fixture.clock.now
        for wrong in [UnixTime(rawValue: 0), UnixTime(rawValue: 4_102_444_800)] {
            fixture.clock.advance(seconds: wrong.seconds(since: fixture.clock.now))
            #expect(try await fixture.failure() != nil)
            #expect(try active() == ["1.1.0", "1.0.0"])
        }
        fixture.clock.advance(seconds: now.seconds(since: fixture.clock.now))
        try await sync()
        #expect(try active() == ["1.1.0", "1.0.0"])
    }

    @Test("checks before activation are enough where no app is to confirm")
    func selfTest() async throws {
        try fixture.registry.release("1.1.0")
        try await sync(.selfTest)
        for _ in 0..<9 { #expect(try device.start(of: "vision/detector").version == "1.1.0") }
        let entries = try fixture.device.note(Trials.self).entries
        #expect(entries.first { $0.version.description == "1.1.0" }?.state == .confirmed)
    }

    @Test("the operator's rollback goes back from all that the generation changed, confirmed or not")
    func rollback() async throws {
        try confirmAll()
        try fixture.registry.release("1.1.0")
        try fixture.registry.release("1.1.0", of: "vision/tracker")
        try await sync(.selfTest)
        let left = try device.rollback(reason: "slow")
        #expect(left.map(\.version) == ["1.1.0", "1.1.0"])
        #expect(try active() == ["1.0.0", "1.0.0"])
        #expect(throws: SyncError.self) { try device.rollback(reason: "again") }
        let now = try device.why("vision/detector")
        #expect(now.active == "1.0.0" && now.previous == "1.1.0", "\(now)")
        #expect(now.reason.contains("1.1.0 was left") && now.reason.contains("rolled back: slow"), "\(now)")
        #expect(now.passedOver.first?.version == "1.1.0")
        #expect(try device.status().models.allSatisfy { $0.reason.contains("rolled back: slow") })
        try await sync(.selfTest)
        #expect(try active() == ["1.0.0", "1.0.0"])
        #expect(try device.why("vision/detector").passedOver[0].reason.contains("slow"))
        #expect(try device.clearQuarantine("vision/detector") == 1)
        try await sync(.selfTest)
        #expect(try active() == ["1.1.0", "1.0.0"])
    }

    @Test("a rollback while a sync runs is not undone by it")
    func rollbackMeanwhile() async throws {
        try confirmAll()
        try fixture.registry.release("1.1.0")
        try fixture.registry.release("1.1.0", of: "vision/tracker")
        try await sync(.selfTest)
        try fixture.registry.release("1.2.0")
        let agent = try SyncAgent(
            configuration: try fixture.configuration(models),
            peers: Peers(fetcher: fixture.registry, blobs: fixture.registry, exchange: fixture.receiver),
            clock: { [clock = fixture.clock] in clock.now },
            events: { [directory = fixture.directory] event in
                guard case .phase(.downloading) = event else { return }
                _ = try? SyncedDevice(directory: directory).rollback(reason: "slow")
            }
        )
        let error = await #expect(throws: SyncError.self) { try await agent.sync(.activate) }
        #expect(error?.kind == .temporary)
        #expect(try active() == ["1.0.0", "1.0.0"])
        try await sync(.selfTest)
        #expect(try active() == ["1.2.0", "1.0.0"])
    }

    @Test("from the first generation there is nothing to roll back to")
    func firstRollback() async throws {
        #expect(throws: SyncError.self) { try device.rollback(reason: "first") }
        #expect(try active() == ["1.0.0", "1.0.0"])
    }

    @Test("a pin keeps a version until it is taken off, and a recall goes before it")
    func pin() async throws {
        try confirmAll()
        try device.pin("vision/detector", to: "1.0.0")
        try fixture.registry.release("1.1.0")
        try await sync(.selfTest)
        #expect(try active() == ["1.0.0", "1.0.0"])
        #expect(try device.why("vision/detector").passedOver[0].reason.contains("1.0.0 is pinned"))
        try device.unpin("vision/detector")
        try await sync(.selfTest)
        #expect(try active() == ["1.1.0", "1.0.0"])
        try device.pin("vision/detector", to: "1.1.0")
        let state = VersionState(kind: .recalled, reason: "unsafe", time: DeviceRegistry.start)
        try fixture.registry.changeLive { $0.withdrawing(try require(ModelVersion("1.1.0")), state) }
        try await sync(.selfTest)
        #expect(try active() == ["1.0.0", "1.0.0"])
    }

    @Test("a group moves when all of it can, and not before")
    func group() async throws {
        try fixture.registry.release("2.0.0")
        let bad = try fixture.registry.release("2.0.0", of: "vision/tracker")
        let digest = bad.variants[0].files[0].sha256
        fixture.registry.tamper(digest) { $0[9] ^= 1 }
        let report = try await sync(.selfTest, group: "pair")
        #expect(try active() == ["1.0.0", "1.0.0"])
        #expect(report.models[0].reason.contains("its group pair moves together"))
        fixture.registry.tamper(digest) { $0[9] ^= 1 }
        try await sync(.selfTest, group: "pair")
        #expect(try active() == ["2.0.0", "2.0.0"])
    }

    @Test("a version below a floor that waits for its group is told as one that does not fit")
    func groupFloor() async throws {
        try fixture.registry.release("2.0.0")
        let report = try await fixture.sync(models) { configuration in
            for index in configuration.models.indices { configuration.models[index].group = "pair" }
            configuration.models[0].floor = try require(ModelVersion("2.0.0"))
        }
        #expect(try active() == ["1.0.0", "1.0.0"] && report.exitCode == 3)
        #expect(report.models[0].reason.contains("below the floor 2.0.0"), "\(report)")
        #expect(report.models[0].reason.contains("its group pair moves together"), "\(report)")
        #expect(try device.status().models[0].unfit?.contains("below the floor 2.0.0") == true)
    }

    @Test("a recall leaves a version although its group cannot move")
    func groupRecall() async throws {
        try fixture.registry.release("2.0.0", of: "vision/tracker", rollout: 0)
        let state = VersionState(kind: .recalled, reason: "unsafe", time: DeviceRegistry.start)
        try fixture.registry.changeLive { $0.withdrawing(try require(ModelVersion("1.0.0")), state) }
        try await sync(.selfTest, group: "pair")
        #expect(try active() == [nil, "1.0.0"])
    }

    @Test("a recalled version is not gone back to")
    func recalledFallback() async throws {
        try confirmAll()
        try fixture.registry.release("1.1.0")
        try await sync()
        let state = VersionState(kind: .recalled, reason: "unsafe", time: DeviceRegistry.start)
        try fixture.registry.changeLive { $0.withdrawing(try require(ModelVersion("1.0.0")), state) }
        try await sync()
        for _ in 0..<3 { _ = try? device.start(of: "vision/detector") }
        #expect(try active() == ["1.1.0", "1.0.0"], "nothing else stands behind it")
    }
}
