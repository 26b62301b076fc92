import Durable
import Generations
import Manifest
import Names
import Signing
import Support
import SyncAgent
import Testing
import Trust

@Suite("Trials: several at once, and after a recall")
struct SyncTrialRaceTests {
    private let fixture: SyncFixture

    init() async throws {
        fixture = try SyncFixture()
        try fixture.registry.release("1.0.0")
        try await sync()
        try device.confirm("vision/detector")
    }

    private func sync(_ starts: Int = 2) async throws {
        try await fixture.sync { $0.models[0].confirmation = .app(starts: starts, seconds: 3_600) }
    }

    private var device: SyncedDevice {
        get throws {
            try SyncedDevice(directory: fixture.directory, clock: { [clock = fixture.clock] in clock.now })
        }
    }

    @Test(
        "what takes a recalled version's place at once is on trial like any other, unless it was the last good one"
    )
    func recallOntoTrial() async throws {
        func recall(_ versions: String...) throws {
            let state = VersionState(kind: .recalled, reason: "unsafe", time: DeviceRegistry.start)
            for version in versions {
                try fixture.registry.changeLive { $0.withdrawing(try require(ModelVersion(version)), state) }
            }
        }
        for version in ["1.1.0", "1.2.0", "1.3.0"] {
            try fixture.registry.release(version)
            try await sync()
        }
        try recall("1.3.0", "1.2.0")
        try await sync()
        #expect(try fixture.activeVersion() == "1.1.0")
        #expect(try device.status().models.map(\.trial) == ["trial"], "nobody ever confirmed it")
        try device.confirm("vision/detector")
        try fixture.registry.release("1.4.0")
        try await sync()
        try recall("1.4.0")
        try await sync()
        #expect(try fixture.activeVersion() == "1.1.0")
        #expect(try device.status().models.map(\.trial) == [nil], "on no trial")
    }

    @Test("starts that are counted at the same moment are all counted, and a note of any number is")
    func startsTogether() async throws {
        try fixture.registry.release("1.1.0")
        try await sync(1_000)
        let device = try device
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<10 { _ = try? device.start(of: "vision/detector") }
                }
            }
        }
        let manifest = try fixture.device.activeModel(require(ModelName("vision/detector"))).manifestDigest
        #expect(try fixture.device.note(Trials.self)[manifest]?.starts == 80)
        let path = "\(fixture.directory)/trials.json"
        let text = String(decoding: try Durable.readFile(path, maximum: .mebibytes(1)), as: UTF8.self)
        let far = text.replacing("\"starts\":80", with: "\"starts\":\(Int64.max)")
        #expect(far != text)
        try Durable.writeAtomically(path, Array(far.utf8))
        let started = try device.start(of: "vision/detector")
        #expect(started.version == "1.0.0" && started.left?.contains("1.1.0 was left") == true)
    }

    @Test("a version that an app condemns while a sync has chosen it is not made active by it")
    func condemnedMeanwhile() async throws {
        let manifest = try fixture.registry.release("1.1.0")
        let identity = VersionIdentity(
            model: manifest.model,
            version: manifest.version,
            variant: manifest.variants[0].name,
            manifest: SHA256.digest(of: manifest.canonical)
        )
        let agent = try SyncAgent(
            configuration: try fixture.configuration(["vision/detector@stable"]),
            peers: Peers(fetcher: fixture.registry, blobs: fixture.registry, exchange: fixture.receiver),
            clock: { [clock = fixture.clock] in clock.now },
            events: { [directory = fixture.directory, clock = fixture.clock] event in
                guard case .phase(.activating) = event else { return }
                let device = try? DeviceDirectory.open(directory)
                try? device?.condemn(identity, reason: "it is broken", at: clock.now)
            }
        )
        let error = await #expect(throws: SyncError.self) { try await agent.sync(.activate) }
        #expect(error?.kind == .temporary && error?.message.contains("it is broken") == true)
        #expect(try fixture.activeVersion() == "1.0.0")
        let report = try await fixture.sync()
        #expect(report.models[0].passedOver.first?.reason.contains("it is broken") == true, "\(report)")
        #expect(try fixture.activeVersion() == "1.0.0")
    }

    @Test("a start that came to nothing is not counted")
    func takenBack() async throws {
        try fixture.registry.release("1.1.0")
        try await sync()
        for _ in 0..<5 {
            let start = try device.start(of: "vision/detector")
            #expect(start.left == nil)
            try device.takeBack(start)
        }
        #expect(try fixture.activeVersion() == "1.1.0")
    }

    @Test("a start that came to nothing is taken from the version that it was counted for alone")
    func takenBackLate() async throws {
        try fixture.registry.release("1.1.0")
        try await sync()
        let start = try device.start(of: "vision/detector")
        try fixture.registry.release("1.2.0")
        try await sync()
        _ = try device.start(of: "vision/detector")
        try device.takeBack(start)
        let manifest = try fixture.device.activeModel(require(ModelName("vision/detector"))).manifestDigest
        #expect(try fixture.activeVersion() == "1.2.0")
        #expect(try fixture.device.note(Trials.self)[manifest]?.starts == 1)
    }

    @Test("what is quarantined while another model is cleared stays quarantined")
    func clearedTogether() async throws {
        let device = try device
        let directory = try fixture.device
        let now = fixture.clock.now
        let other = try require(ModelName("vision/tracker"))
        let variant = try require(VariantName("fp32"))
        var identities: [VersionIdentity] = []
        for number in 0..<8 {
            let identity = VersionIdentity(
                model: other,
                version: try require(ModelVersion("1.0.\(number)")),
                variant: variant,
                manifest: SHA256.digest(of: Array("\(number)".utf8))
            )
            identities.append(identity)
        }
        await withTaskGroup(of: Void.self) { group in
            for identity in identities {
                let entry = Quarantine.Entry(identity, reason: "slow", time: now)
                group.addTask { _ = try? directory.changeQuarantine { $0.add(entry) } }
                group.addTask { _ = try? device.clearQuarantine("vision/detector") }
            }
        }
        #expect(try directory.note(Quarantine.self).entries.count == identities.count)
    }
}
