import Durable
import Generations
import Manifest
import Names
import Support
import SyncAgent
import Testing
import Trust

@Suite("Models of one group")
struct GroupTests {
    private let fixture: SyncFixture
    private let models = ["vision/detector@stable", "vision/tracker@stable"]

    init() async throws {
        fixture = try SyncFixture(["vision/detector", "vision/tracker"])
        try release("1.0.0")
        try await sync()
    }

    /// What keeps the tracker's 2.0.0 from the device, and how that is taken back.
    struct Row: Sendable, CustomTestStringConvertible {
        let name: String

        /// What is said of the tracker.
        let words: String
        let arrange: @Sendable (GroupTests) throws -> Void
        var end: @Sendable (GroupTests) throws -> Void = { try $0.release("2.1.0") }

        /// Where both are then.
        var last = "2.1.0"

        /// How the syncs that wait end.
        var code: Int32 = 0

        var testDescription: String { name }
    }

    private func release(_ version: String) throws {
        try fixture.registry.release(version)
        try fixture.registry.release(version, of: "vision/tracker")
    }

    @discardableResult
    private func sync(
        floor: String? = nil,
        group: String? = "pair",
        mode: SyncMode = .activate
    ) async throws -> SyncReport {
        try await fixture.sync(models, mode: mode) { configuration in
            for index in configuration.models.indices { configuration.models[index].group = group }
            configuration.runtimes = [try InstalledRuntime(name: "onnxruntime", version: "1.24.1")]
            configuration.models[1].floor = try floor.map { try require(ModelVersion($0)) }
        }
    }

    private var device: SyncedDevice {
        get throws {
            try SyncedDevice(directory: fixture.directory, clock: { [clock = fixture.clock] in clock.now })
        }
    }

    private func active() throws -> [String?] {
        [try fixture.activeVersion(), try fixture.activeVersion("vision/tracker")]
    }

    private func state(_ kind: VersionState.Kind, of version: String, _ model: String) throws {
        let version = try require(ModelVersion(version))
        let state = VersionState(kind: kind, reason: "bad", time: DeviceRegistry.start)
        try fixture.registry.changeLive(model) { $0.withdrawing(version, state) }
    }

    private static func withdrawn(_ kind: VersionState.Kind) -> Row {
        Row(
            name: kind.rawValue,
            words: "stays at 1.0.0: 2.0.0 cannot be taken (\(kind.rawValue) at",
            arrange: { test in
                try test.release("2.0.0")
                try test.state(kind, of: "2.0.0", "vision/tracker")
            }
        )
    }

    static let rows = [
        Row(
            name: "between two publishes",
            words: "stays at 1.0.0: it is the newest version that may be taken",
            arrange: { try $0.fixture.registry.release("2.0.0") },
            end: { try $0.fixture.registry.release("2.0.0", of: "vision/tracker") },
            last: "2.0.0"
        ),
        Row(
            name: "pinned away",
            words: "stays at 1.0.0: 2.0.0 cannot be taken (1.0.0 is pinned",
            arrange: { test in
                try test.release("2.0.0")
                try test.device.pin("vision/tracker", to: "1.0.0")
            },
            end: { try $0.device.unpin("vision/tracker") },
            last: "2.0.0"
        ),
        Row(
            name: "rolled out elsewhere",
            words: "stays at 1.0.0: 2.0.0 cannot be taken (its rollout",
            arrange: { test in
                try test.fixture.registry.release("2.0.0")
                try test.fixture.registry.release("2.0.0", of: "vision/tracker", rollout: 0)
            }
        ),
        Row(
            name: "held",
            words: "stays at 1.0.0: 2.0.0 cannot be taken (held until",
            arrange: { test in
                try test.fixture.registry.release("2.0.0")
                let held = try test.fixture.registry.release("2.0.0", of: "vision/tracker")
                try test.fixture.registry.hold(held)
            }
        ),
        Row(
            name: "below the floor",
            words: "stays at 1.0.0: 2.0.0 cannot be taken (below the floor 2.1.0)",
            arrange: { test in
                try test.release("2.0.0")
                let (stable, floor) = (try require(ChannelName("stable")), try require(ModelVersion("2.1.0")))
                try test.fixture.registry.changeLive("vision/tracker") { $0.flooring(stable, at: floor) }
            },
            code: 3
        ),
        Row(
            name: "needs what no runtime here has",
            words: "stays at 1.0.0: 2.0.0 cannot be taken (",
            arrange: { test in
                try test.fixture.registry.release("2.0.0")
                try test.fixture.registry.release("2.0.0", of: "vision/tracker", operators: 99)
            },
            code: 3
        ),
        Row(
            name: "denied",
            words: "stays at 1.0.0: 2.0.0 cannot be taken (denied since",
            arrange: { test in
                try test.release("2.0.0")
                let denial = Denial(
                    model: try require(ModelName("vision/tracker")),
                    subject: .versions([try require(ModelVersion("2.0.0"))]),
                    reason: "stolen key",
                    since: DeviceRegistry.start
                )
                test.fixture.registry.metadata.change { $0.roles[.targets]?.deny = [denial] }
                try test.fixture.registry.publish()
            }
        ),
        withdrawn(.yanked), withdrawn(.recalled),
    ]

    @Test("wait for the one that has no other version to move to, and say so", arguments: rows)
    func waiting(_ row: Row) async throws {
        try row.arrange(self)
        let plan = try await sync(mode: .dryRun)
        #expect(plan.models[0].active == "1.0.0", "\(plan)")
        let report = try await sync()
        #expect(try active() == ["1.0.0", "1.0.0"])
        #expect(report.bytesFetched == 0 && report.outcome == .unchanged, "\(report)")
        #expect(report.exitCode == row.code, "\(report)")
        let why = try device.why("vision/detector")
        #expect(
            why.reason.contains("its group pair moves together, and vision/tracker \(row.words)"),
            "\(why)"
        )
        #expect(why.passedOver.map(\.version) == ["2.0.0"], "\(why)")
        #expect(why.passedOver.first?.reason.contains("its group pair") == true, "\(why)")
        try row.end(self)
        try await sync()
        #expect(try active() == [row.last, row.last])
        #expect(try device.why("vision/detector").passedOver.isEmpty)
    }

    @Test("that are no group move each by itself")
    func alone() async throws {
        try fixture.registry.release("2.0.0")
        try await sync(group: nil)
        #expect(try active() == ["2.0.0", "1.0.0"])
    }

    @Test("wait for a floor of the device that one of them cannot meet yet")
    func localFloor() async throws {
        try release("2.0.0")
        let report = try await sync(floor: "3.0.0")
        #expect(try active() == ["1.0.0", "1.0.0"])
        #expect(
            report.models[0].reason.contains("2.0.0 cannot be taken (below the floor 3.0.0)"),
            "\(report)"
        )
        try await sync()
        #expect(try active() == ["2.0.0", "2.0.0"])
    }

    @Test("wait for one that is quarantined here")
    func quarantined() async throws {
        try release("2.0.0")
        try await sync()
        try device.rollback(reason: "slow")
        #expect(try device.clearQuarantine("vision/detector") == 1)
        let report = try await sync()
        #expect(try active() == ["1.0.0", "1.0.0"])
        #expect(report.models[0].reason.contains("2.0.0 cannot be taken (quarantined"), "\(report)")
        try fixture.registry.release("2.1.0", of: "vision/tracker")
        try await sync()
        #expect(try active() == ["2.0.0", "2.1.0"])
    }

    @Test("leave a recalled version alone, and what takes its place waits for nobody")
    func recalled() async throws {
        try release("2.0.0")
        try await sync()
        #expect(try active() == ["2.0.0", "2.0.0"])
        try state(.recalled, of: "2.0.0", "vision/detector")
        try await sync()
        #expect(try active() == ["1.0.0", "2.0.0"])
        // The other one stands where the group left it, and goes on alone no more than before.
        try fixture.registry.release("2.1.0", of: "vision/tracker")
        try await sync()
        #expect(try active() == ["1.0.0", "2.0.0"])
        try state(.yanked, of: "2.1.0", "vision/tracker")
        try fixture.registry.release("2.2.0")
        try await sync()
        #expect(try active() == ["2.2.0", "2.0.0"])
        try fixture.registry.release("2.3.0")
        try await sync()
        #expect(try active() == ["2.2.0", "2.0.0"], "whole again, and together from now on")
        try fixture.registry.release("2.3.0", of: "vision/tracker")
        try await sync()
        #expect(try active() == ["2.3.0", "2.3.0"])
    }

    @Test("leave a recalled version for the next in one step while the others wait")
    func recalledWithSuccessor() async throws {
        try fixture.registry.release("1.1.0")
        try state(.recalled, of: "1.0.0", "vision/detector")
        try await sync()
        #expect(try active() == ["1.1.0", "1.0.0"])
    }

    @Test("take in one that is not on the device yet, and never the half of a first set")
    func joining() async throws {
        let fresh = try SyncFixture(["vision/detector", "vision/tracker"])
        func sync(_ models: [String]) async throws -> SyncReport {
            try await fresh.sync(models) { configuration in
                for index in configuration.models.indices { configuration.models[index].group = "pair" }
            }
        }
        try fresh.registry.release("1.0.0")
        let report = try await sync(models)
        #expect(try fresh.activeVersion() == nil)
        #expect(
            report.models[0].reason.contains("its group pair moves together, and vision/tracker"),
            "\(report)"
        )
        #expect(report.exitCode == 3)
        _ = try await sync([models[0]])
        #expect(try fresh.activeVersion() == "1.0.0")
        try fresh.registry.release("1.0.0", of: "vision/tracker")
        _ = try await sync(models)
        #expect(try fresh.activeVersion("vision/tracker") == "1.0.0")
        #expect(try fresh.activeVersion() == "1.0.0")
    }

    @Test("stay together after a rollback, which tears none apart")
    func rolledBack() async throws {
        try release("2.0.0")
        try await sync()
        try device.rollback(reason: "slow")
        #expect(try active() == ["1.0.0", "1.0.0"])
        try fixture.registry.release("2.1.0")
        try await sync()
        #expect(try active() == ["1.0.0", "1.0.0"])
        try fixture.registry.release("2.1.0", of: "vision/tracker")
        try await sync()
        #expect(try active() == ["2.1.0", "2.1.0"])
    }

    @Test("are moved together also where the note about them is damaged or cannot be written")
    func damagedNote() async throws {
        let note = fixture.directory + "/groups.json"
        try Durable.writeAtomically(note, Array("{}".utf8))
        try fixture.registry.release("2.0.0")
        try await sync()
        #expect(try active() == ["1.0.0", "1.0.0"])
        try Durable.removeTree(note)
        try Durable.makeDirectory(note + "/x")
        try fixture.registry.release("2.0.0", of: "vision/tracker")
        try await sync()
        #expect(try active() == ["2.0.0", "2.0.0"])
    }
}
