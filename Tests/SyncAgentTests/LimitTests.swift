import Blocking
import Durable
import Manifest
import Names
import Support
import SyncAgent
import Testing
import Transfer

@Suite("Limits that the operator sets")
struct LimitTests {
    @Test(
        "sizes and rates are read as people write them",
        arguments: [
            ("2MB", UInt64(2_000_000)), ("2MB/s", 2_000_000), ("500kB", 500_000), ("1MiB", 1 << 20),
            ("4096", 4_096), ("1GB", 1_000_000_000),
        ]
    )
    func rate(_ text: String, _ bytes: UInt64) throws {
        #expect(try TransferRate(text).bytesPerSecond == bytes)
    }

    @Test(
        "what is no rate is refused",
        arguments: [
            "", "0", "fast", "-1MB", "1.5MB", "4095", "99999999999999999999TB", "2MB/h", "2mb", "2MBs",
        ]
    )
    func badRate(_ text: String) throws {
        let error = try require(#expect(throws: SyncError.self) { _ = try TransferRate(text) })
        #expect(error.kind == .usage && error.message.hasPrefix("‘\(text)’ is no rate; write one as"))
    }

    @Test(
        "what is no budget or window is refused",
        arguments: [
            "", "500MB", "500MB/", "500MB/year", "/day", "0MB/day", "22:00", "22:00-22:00", "24:01-01:00",
            "22:60-01:00", "22:00-1:00", "a-b", "22:00-23:00-24:00",
        ]
    )
    func badLimit(_ text: String) {
        #expect(throws: SyncError.self) { _ = try ByteBudget(text) }
        #expect(throws: SyncError.self) { _ = try TransferWindow(text) }
    }

    @Test(
        "a period ends where the next begins",
        arguments: [
            ("hour", "2028-02-29T23:59:59Z", "2028-03-01T00:00:00Z"),
            ("day", "2026-11-30T00:00:00Z", "2026-12-01T00:00:00Z"),
            ("week", "2026-11-30T07:00:00Z", "2026-12-07T00:00:00Z"),
            ("week", "2026-12-06T23:59:59Z", "2026-12-07T00:00:00Z"),
            ("month", "2027-01-31T12:00:00Z", "2027-02-01T00:00:00Z"),
        ]
    )
    func period(_ period: String, _ time: String, _ end: String) throws {
        let world = try PolicyWorld(at: time) { $0.budget = try? ByteBudget("100MB/\(period)") }
        try world.policy.spend(100_000_000)
        let pause = #expect(throws: FetchPause.self) { _ = try world.policy.remaining(atLeast: 1) }
        #expect(pause?.description.contains("goes on at \(end)") == true, "\(String(describing: pause))")
        world.clock.now = try require(UnixTime(end)).adding(seconds: -1)
        #expect(throws: FetchPause.self) { _ = try world.policy.remaining(atLeast: 1) }
        world.clock.now = try require(UnixTime(end))
        #expect(try world.policy.remaining(atLeast: 1) == 100_000_000)
    }

    @Test("what was spent is known to the next process, also after a crash")
    func ledger() throws {
        let world = try PolicyWorld { $0.budget = try? ByteBudget("100MB/day") }
        try world.policy.spend(30_000_000)
        // Not settled: a crash. More may be written down than came, and never less.
        let left = try require(try world.restarted().remaining(atLeast: 1))
        #expect(left <= 70_000_000 && left >= 60_000_000)
        world.policy.settle()
        #expect(try world.restarted().remaining(atLeast: 1) == 70_000_000)
        #expect(throws: FetchPause.self) { _ = try world.restarted().remaining(atLeast: 70_000_001) }
    }

    @Test(
        "a ledger that cannot be read counts as spent for its period, is made anew, and is told once",
        arguments: ["folder", "cut off", "negative", "too long"]
    )
    func damagedLedger(_ damage: String) throws {
        let world = try PolicyWorld { $0.budget = try? ByteBudget("100MB/day") }
        try world.policy.spend(30_000_000)
        world.policy.settle()
        let path = world.ledgerPath
        try Durable.removeFile(path)
        switch damage {
        case "folder": try Durable.makeDirectory("\(path)/x")
        case "cut off": try Durable.writeAtomically(path, Array(#"{"bytes":300"#.utf8))
        case "negative":
            let text = #"{"bytes":-1,"period":"2026-11-30","type":"sealift/traffic@1"}"#
            try Durable.writeAtomically(path, Array(text.utf8))
        default: try Durable.writeAtomically(path, [UInt8](repeating: 32, count: 2_000))
        }
        let next = try world.restarted()
        for _ in 0..<2 {
            let pause = #expect(throws: FetchPause.self) { _ = try next.remaining(atLeast: 1) }
            #expect(pause?.description.contains("is made anew") == true)
            #expect(pause?.description.contains(path) == true)
        }
        next.settle()
        let pause = #expect(throws: FetchPause.self) { _ = try world.restarted().remaining(atLeast: 1) }
        #expect(pause?.description.contains("are used up") == true)
        #expect(pause?.description.contains("made anew") == false)
        world.clock.advance(seconds: 86_400)
        #expect(try world.restarted().remaining(atLeast: 1) == 100_000_000)
    }

    @Test("a budget by another period finds what was spent, also without any budget")
    func periods() throws {
        let world = try PolicyWorld { $0.budget = try? ByteBudget("2MB/day") }
        try world.policy.spend(1_500_000)
        world.policy.settle()
        let hourly = try world.restarted { $0.budget = try? ByteBudget("2MB/hour") }
        #expect(try hourly.remaining(atLeast: 1) == 500_000)
        try hourly.spend(500_000)
        hourly.settle()
        for period in ByteBudget.Period.allCases {
            let policy = try world.restarted { $0.budget = try? ByteBudget("2MB/\(period)") }
            #expect(throws: FetchPause.self) { _ = try policy.remaining(atLeast: 1) }
        }
        #expect(throws: FetchPause.self, "the first looks again") {
            _ = try world.policy.remaining(atLeast: 1)
        }
        let free = try world.restarted { $0.budget = nil }
        try free.spend(3_000_000)
        free.settle()
        let large = try world.restarted { $0.budget = try? ByteBudget("10MB/month") }
        #expect(try large.remaining(atLeast: 1) == 5_000_000)
        world.clock.advance(seconds: 3_600)
        #expect(
            try world.restarted { $0.budget = try? ByteBudget("2MB/hour") }.remaining(atLeast: 1) == 2_000_000
        )
    }

    @Test("without a budget what came is noted while it comes, and a crash forgets a second at most")
    func unbudgeted() throws {
        let world = try PolicyWorld { _ in }
        try world.policy.spend(1_000_000)
        let next = try world.restarted { $0.budget = try? ByteBudget("3MB/day") }
        #expect(try next.remaining(atLeast: 1) == 2_000_000)
    }

    @Test("a clock that goes over a border and back gives one budget and no more", arguments: [false, true])
    func clock(_ isRestarted: Bool) throws {
        let world = try PolicyWorld { $0.budget = try? ByteBudget("2MB/day") }
        func policy() throws -> DownloadPolicy { isRestarted ? try world.restarted() : world.policy }
        func spend() throws {
            let policy = try policy()
            #expect(try policy.remaining(atLeast: 1) == 2_000_000)
            try policy.spend(2_000_000)
            policy.settle()
        }
        try spend()
        world.clock.advance(seconds: 86_400)
        try spend()
        for step in [-86_400, 86_400, -3 * 86_400, 3 * 86_400] as [Int64] {
            world.clock.advance(seconds: step)
            let pause = #expect(throws: FetchPause.self) { _ = try policy().remaining(atLeast: 1) }
            #expect(pause?.description.contains("goes on at 2026-12-02T00:00:00Z") == true)
        }
        world.clock.advance(seconds: 86_400)
        try spend()
    }

    @Test("what an earlier release wrote counts for every period")
    func former() throws {
        let world = try PolicyWorld { $0.budget = try? ByteBudget("2MB/hour") }
        let text = #"{"bytes":1500000,"period":"2026-11-30","type":"sealift/traffic@1"}"#
        try Durable.writeAtomically(world.ledgerPath, Array(text.utf8))
        #expect(try world.policy.remaining(atLeast: 1) == 500_000)
    }

    @Test(
        "a dry run says of a budget what the sync after it says",
        arguments: [
            ("1B/day", 75), ("200B/day", 75), ("70kB/day", 75), ("600kB/day", 0),
        ] as [(String, Int32)]
    )
    func dryRun(_ budget: String, _ code: Int32) async throws {
        let fixture = try SyncFixture()
        try fixture.registry.release("1.0.0", weights: 100_000)
        try await fixture.sync()
        try fixture.registry.release("1.1.0", weights: 200_000)
        func dryRun() async throws -> SyncReport {
            try await fixture.sync(mode: .dryRun) { $0.budget = try ByteBudget(budget) }
        }
        if budget == "70kB/day" {
            // What is missing is known when an earlier sync got the list.
            fixture.registry.cutOff(after: 66_000)
            try await fixture.sync()
            fixture.registry.cutOff(after: nil)
        }
        let report = try await dryRun()
        #expect(report.exitCode == code, "\(report.models[0].reason)")
        if code == 75 { #expect(report.models[0].failure?.errorCode == .paused) }
    }

    @Test(
        "files come inside a window alone, by the local clock, and a window that closes stops them",
        arguments: [
            ("22:00-06:00", 23 * 60, true), ("22:00-06:00", 0, true), ("22:00-06:00", 6 * 60, false),
            ("09:00-17:00", 9 * 60, true), ("09:00-17:00", 17 * 60, false), ("00:00-24:00", 0, false),
        ]
    )
    func window(_ text: String, _ minute: Int, _ isOpen: Bool) throws {
        guard let window = try? TransferWindow(text) else {
            #expect(text == "00:00-24:00", "a window of nothing or everything is no window")
            return
        }
        #expect(window.description == text)
        let world = try PolicyWorld(minute: minute) { $0.windows = [window] }
        if isOpen {
            #expect(try world.policy.remaining(atLeast: 1 << 40) == nil)
            try world.policy.spend(1 << 40)
        } else {
            let pause = #expect(throws: FetchPause.self) { _ = try world.policy.remaining(atLeast: 1) }
            #expect(pause?.description.contains("goes on at \(text.prefix(5))") == true)
            #expect(throws: FetchPause.self) { try world.policy.spend(1) }
        }
    }

    @Test("a metered link gets nothing, or what the budget allows")
    func metered() throws {
        let world = try PolicyWorld { $0.meteredFile = "SCRATCH/metered" }
        #expect(try world.policy.remaining(atLeast: 1) == nil)
        try world.scratch.write("metered", [])
        let pause = #expect(throws: FetchPause.self) { _ = try world.policy.remaining(atLeast: 1) }
        #expect(pause?.description.contains("metered") == true)
        let thrifty = try world.restarted { $0.budget = try? ByteBudget("1MB/day") }
        #expect(try thrifty.remaining(atLeast: 1) == 1_000_000)
    }

    @Test("a sync that may not fetch says why, keeps the old version, and obeys a recall all the same")
    func sync() async throws {
        let fixture = try SyncFixture()
        let first = try fixture.registry.release("1.0.0")
        try await fixture.sync()
        try fixture.registry.release("1.1.0", weights: 100_000)
        fixture.registry.pause(FetchPause("it is noon"))
        let report = try await fixture.sync()
        #expect(report.exitCode == 75 && report.models[0].failure?.kind == .temporary)
        #expect(report.models[0].reason.contains("it is noon"))
        #expect(try fixture.activeVersion() == "1.0.0")
        let state = VersionState(kind: .recalled, reason: "unsafe", time: DeviceRegistry.start)
        try fixture.registry.changeLive { $0.withdrawing(first.version, state) }
        try await fixture.sync()
        #expect(try fixture.activeVersion() == nil)
    }
}

/// A policy with a clock, and where it keeps its ledger.
private struct PolicyWorld {
    let scratch = Scratch()
    let clock: ManualClock
    let policy: DownloadPolicy
    private let minute: Int
    private let configuration: SyncConfiguration

    init(
        at time: String = "2026-11-30T12:00:00Z",
        minute: Int = 720,
        _ adjust: (inout SyncConfiguration) -> Void
    ) throws {
        clock = ManualClock(try require(UnixTime(time)))
        self.minute = minute
        try Durable.makeDirectory(scratch.path("device/device"))
        var configuration = SyncConfiguration(
            directory: scratch.path("device"),
            registries: [],
            rootFile: "",
            models: []
        )
        adjust(&configuration)
        if configuration.meteredFile != nil { configuration.meteredFile = scratch.path("metered") }
        self.configuration = configuration
        policy = try require(
            DownloadPolicy(configuration, clock: { [clock] in clock.now }, localMinute: { _ in minute })
        )
    }

    var ledgerPath: String { scratch.path("device/device/traffic.json") }

    /// As another process would have it.
    func restarted(_ adjust: (inout SyncConfiguration) -> Void = { _ in }) throws -> DownloadPolicy {
        var configuration = configuration
        adjust(&configuration)
        return try require(
            DownloadPolicy(
                configuration,
                clock: { [clock] in clock.now },
                localMinute: { [minute] _ in minute }
            )
        )
    }
}

@Suite("Progress for people")
struct ProgressTests {
    @Test("the rate is that of the last ten seconds, and the remaining time follows from it")
    func meter() throws {
        let start = MonotonicTime(nanoseconds: 1_000_000_000)
        var meter = TransferMeter()
        meter.note(verified: 0, of: 100_000, at: start)
        #expect(meter.bytesPerSecond == nil && meter.secondsLeft == nil)
        for second in 1...20 {
            meter.note(
                verified: UInt64(second) * 1_000,
                of: 100_000,
                at: start.adding(seconds: Double(second))
            )
        }
        #expect(abs(try require(meter.bytesPerSecond) - 1_000) < 1)
        #expect(abs(try require(meter.secondsLeft) - 80) < 1)
        for second in 21...31 {
            let verified = 20_000 + UInt64(second - 20) * 100
            meter.note(verified: verified, of: 100_000, at: start.adding(seconds: Double(second)))
        }
        #expect(abs(try require(meter.bytesPerSecond) - 100) < 1)
        meter.note(verified: 100_000, of: 100_000, at: start.adding(seconds: 40))
        #expect(meter.secondsLeft == 0)
    }

    @Test("progress never goes back when a model fails, and ends at what the others need")
    func failingModel() async throws {
        let fixture = try SyncFixture(["vision/detector", "vision/tracker"])
        let manifest = try fixture.registry.release("1.0.0", of: "vision/detector", weights: 300_000)
        try fixture.registry.release("1.0.0", of: "vision/tracker", weights: 200_000)
        fixture.registry.tamper(manifest.variants[0].files[0].sha256) { $0[100_000] ^= 1 }
        try await fixture.sync(["vision/detector@stable", "vision/tracker@stable"])
        var last: (verified: UInt64, total: UInt64) = (0, .max)
        for case .progress(let verified, let total) in fixture.events.all {
            #expect(verified > last.verified && total <= last.total && verified <= total)
            last = (verified, total)
        }
        #expect(last.verified == last.total)
    }
}
