import Durable
import Generations
import Manifest
import Names
import Support
import SyncAgent
import Testing
import Transfer

@Suite("What status says of a device")
struct StatusTests {
    private let fixture: SyncFixture

    init() throws {
        fixture = try SyncFixture(["vision/detector", "vision/tracker"])
        try fixture.registry.release("1.0.0")
    }

    private var device: SyncedDevice {
        get throws {
            try SyncedDevice(directory: fixture.directory, clock: { [clock = fixture.clock] in clock.now })
        }
    }

    private func missing(_ wanted: [String] = []) throws -> [String: DeviceStatus.Missing] {
        let found = try device.status(wanted: try wanted.map { try WantedModel($0) }).missing
        return Dictionary(uniqueKeysWithValues: found.map { ($0.model, $0) })
    }

    @Test(
        "a model that is wanted and not there is named with the reason, and gone from the list once it is there"
    )
    func wanted() async throws {
        try await fixture.sync()
        #expect(try missing().isEmpty)
        let typed = ["vision/detector@stable", "vision/trakcer@stable"]
        try await fixture.sync(typed)
        let wrong = try require(try missing()["vision/trakcer"])
        #expect(
            wrong.request == "vision/trakcer@stable" && wrong.reason.contains("check the name"),
            "\(wrong)"
        )
        #expect(wrong.code == "nothing-usable" && wrong.remedy.contains("Compare name"), "\(wrong)")
        let other = try require(try missing(["vision/trakcer@beta"])["vision/trakcer"])
        #expect(other.reason.contains("no sync came to a decision"), "of another channel: \(other)")
        // What is not wanted any more is not missing.
        #expect(try missing(["vision/detector@stable"]).isEmpty)
        let never = try require(try missing(["vision/detector", "vision/other@1.0.0"])["vision/other"])
        #expect(never.reason.contains("no sync came to a decision") && never.request == "vision/other@1.0.0")
        #expect(never.code == "nothing-active" && never.remedy.contains("sealift sync"), "\(never)")

        try fixture.registry.release("1.0.0", of: "vision/tracker")
        fixture.registry.pause(FetchPause("it is noon"))
        let both = ["vision/detector@stable", "vision/tracker@stable"]
        try await fixture.sync(both)
        let shut = try require(try missing()["vision/tracker"])
        #expect(shut.code == "paused" && !shut.reason.isEmpty && !shut.remedy.isEmpty, "\(shut)")
        fixture.registry.pause(nil)
        try await fixture.sync(both)
        #expect(try missing(both).isEmpty)
        #expect(try device.status().models.count == 2)
    }

    @Test("a model that was left without another is missing, with why it was left")
    func left() async throws {
        try await fixture.sync()
        let state = VersionState(kind: .recalled, reason: "unsafe", time: DeviceRegistry.start)
        try fixture.registry.changeLive { $0.withdrawing(try require(ModelVersion("1.0.0")), state) }
        try await fixture.sync()
        let gone = try require(try missing()["vision/detector"])
        #expect(gone.reason.contains("unsafe"), "\(gone)")
        #expect(gone.remedy.contains("sealift why"), "\(gone)")
    }

    @Test("a trial shows starts and time left, and a model without one shows none")
    func trial() async throws {
        try await fixture.sync()
        let plain = try require(try device.status().models.first)
        #expect(plain.trial == nil && plain.trialProgress == nil)
        func sync() async throws {
            try await fixture.sync { $0.models[0].confirmation = .app(starts: 3, seconds: 3_600) }
        }
        try fixture.registry.release("1.1.0")
        try await sync()
        try device.start(of: "vision/detector")
        fixture.clock.advance(seconds: 600)
        let model = try require(try device.status().models.first)
        let progress = try require(model.trialProgress)
        #expect(model.trial == "trial" && progress.starts == 1 && progress.startsAllowed == 3)
        #expect(progress.secondsLeft == 3_000 && progress.hasWayBack)
        #expect(progress.until == DeviceRegistry.start.adding(seconds: 3_600).description)
        fixture.clock.advance(seconds: -fixture.clock.now.seconds(since: UnixTime(rawValue: 60)))
        #expect(try device.status().models.first?.trialProgress?.secondsLeft == nil, "a clock at 1970")
        fixture.clock.advance(seconds: DeviceRegistry.start.seconds(since: fixture.clock.now))
        try device.confirm("vision/detector")
        let confirmed = try require(try device.status().models.first)
        #expect(confirmed.trial == "confirmed" && confirmed.trialProgress == nil)
    }

    @Test("a clock behind what was signed makes nothing fresh, and says so")
    func clock() async throws {
        try await fixture.sync()
        let right = try device.status()
        #expect(right.freshness == .fresh && right.clockFault == nil)
        fixture.clock.advance(seconds: -fixture.clock.now.seconds(since: UnixTime(rawValue: 10)))
        let wrong = try device.status()
        #expect(wrong.freshness == .unknown)
        #expect(wrong.clockFault?.contains("the clock says 1970-01-01T00:00:10Z") == true, "\(wrong)")
    }

    @Test("a rollback says what is active now, of every model that it left")
    func rollback() async throws {
        let both = ["vision/detector@stable", "vision/tracker@stable"]
        try fixture.registry.release("1.0.0", of: "vision/tracker")
        try await fixture.sync(both)
        try fixture.registry.release("1.1.0")
        try fixture.registry.release("1.2.0", of: "vision/tracker")
        try await fixture.sync(both)
        let left = try device.rollback(reason: "slow")
        #expect(left.map(\.version) == ["1.1.0", "1.2.0"] && left.map(\.active) == ["1.0.0", "1.0.0"])
    }

    @Test("a pin to what is known is taken, to what nothing tells of is told, to what is not there refused")
    func pin() async throws {
        try await fixture.sync()
        try fixture.registry.release("1.1.0")
        try await fixture.sync(["vision/detector@1.0.0"])
        #expect(try device.pin("vision/detector", to: "1.0.0") == .known, "on the device")
        #expect(try device.pin("vision/detector", to: "1.1.0") == .known, "released")
        #expect(try device.pin("audio/words", to: "1.1.0") == .untold)
        let error = #expect(throws: SyncError.self) { try device.pin("vision/detector", to: "1.9.0") }
        #expect(error?.kind == .usage && error?.message.contains("known: 1.1.0, 1.0.0") == true)
        let pins = try fixture.device.note(Pins.self).versions
        #expect(pins[try require(ModelName("vision/detector"))]?.description == "1.1.0")
    }
}
