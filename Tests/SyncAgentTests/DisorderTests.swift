import Durable
import Generations
import Glibc
import Manifest
import Names
import Support
import SyncAgent
import Testing
import Transfer

/// A recall waits for nothing in the device's directory that leaving does not need.
@Suite("Recall on a device in disorder")
struct DisorderTests {
    /// What is wrong in the directory.
    enum Disorder: String, CaseIterable {
        case openSecret, deviceIsFile
        case incoming, fallback, targets, trust, versions
        case linkedTrust
        case secretIsFolder, lockIsFolder, decisionsIsFolder

        func make(in directory: String) throws {
            switch self {
            case .openSecret: #expect(chmod("\(directory)/device/rollout", 0o644) == 0)
            case .deviceIsFile:
                try Durable.removeTree("\(directory)/device")
                try Durable.writeAtomically("\(directory)/device", [1])
            case .incoming, .fallback, .trust: try dangle("\(directory)/\(rawValue)")
            case .targets: try dangle("\(directory)/trust/targets")
            case .linkedTrust:
                try Durable.rename("\(directory)/trust", to: "\(directory).elsewhere")
                #expect(symlink("\(directory).elsewhere", "\(directory)/trust") == 0)
            // Where versions are links to another disk that is not there.
            case .versions: try dangle("\(directory)/versions")
            case .secretIsFolder:
                try Durable.removeFile("\(directory)/device/rollout")
                try Durable.makeDirectory("\(directory)/device/rollout/x")
            case .lockIsFolder:
                try Durable.removeFile("\(directory)/lock")
                try Durable.makeDirectory("\(directory)/lock/x")
            case .decisionsIsFolder:
                try Durable.removeFile("\(directory)/decisions.json")
                try Durable.makeDirectory("\(directory)/decisions.json/x")
            }
        }

        private func dangle(_ path: String) throws {
            try Durable.removeTree(path)
            #expect(symlink("/nonexistent/place", path) == 0)
        }

        /// Whether a sync puts it right by itself; a link that leads to a directory may be meant.
        var heals: Bool { self != .linkedTrust }
    }

    @Test("it is left all the same, and the disorder is put right or told", arguments: Disorder.allCases)
    func left(_ disorder: Disorder) async throws {
        let fixture = try SyncFixture(["vision/detector", "vision/tracker"])
        let both = ["vision/detector", "vision/tracker"]
        try fixture.registry.release("1.0.0")
        try fixture.registry.release("1.0.0", of: "vision/tracker")
        try await fixture.sync(both)
        try fixture.registry.release("1.1.0")
        try await fixture.sync(both)
        #expect(try fixture.activeVersion() == "1.1.0")
        let state = VersionState(kind: .recalled, reason: "unsafe", time: DeviceRegistry.start)
        try fixture.registry.changeLive { $0.withdrawing(try require(ModelVersion("1.1.0")), state) }
        try disorder.make(in: fixture.directory)
        var failure: SyncError?
        do { try await fixture.sync(both) } catch { failure = error as? SyncError }
        let active = try require(try fixture.device.activeGeneration()).record.models
        let versions = active.map(\.identity.version.description)
        #expect(versions == ["1.0.0", "1.0.0"], "\(String(describing: failure))")
        #expect((failure == nil) == disorder.heals, "\(String(describing: failure))")
    }

    @Test(
        "a dry run tells what would stop a sync: room, budget, window",
        arguments: ["room", "budget", "window"]
    )
    func dryRun(_ limit: String) async throws {
        let fixture = try SyncFixture()
        try fixture.registry.release("1.0.0", weights: 90_000)
        for mode in [SyncMode.dryRun, .activate] {
            let report = try await fixture.sync(mode: mode) { configuration in
                switch limit {
                case "room": configuration.reserve = .max
                case "budget": configuration.budget = try? ByteBudget("1000B/day")
                default: configuration.windows = [try TransferWindow("03:00-03:01")]
                }
                if mode == .activate, limit != "room" { fixture.registry.pause(FetchPause("a limit")) }
            }
            #expect(report.exitCode == 75 && report.models[0].outcome == .failed, "\(mode)")
        }
        #expect(try await fixture.sync(mode: .dryRun).exitCode == 0)
        guard limit == "budget" else { return }
        // Of what may lie in the version before nobody knows yet how much is the same.
        fixture.registry.pause(nil)
        try await fixture.sync()
        try fixture.registry.release("1.1.0", weights: 90_000)
        let (small, great) = (try ByteBudget("50kB/day"), try ByteBudget("10MB/day"))
        let maybe = try await fixture.sync(mode: .dryRun) { $0.budget = small }
        #expect(maybe.warnings.contains { $0.contains("vision/detector may have to wait") }, "\(maybe)")
        let enough = try await fixture.sync(mode: .dryRun) { $0.budget = great }
        #expect(enough.warnings.isEmpty, "\(enough)")
    }

    @Test("a dry run on a device that is not there yet knows the room as well")
    func newDevice() async throws {
        let fixture = try SyncFixture()
        try fixture.registry.release("1.0.0")
        let report = try await fixture.sync(mode: .dryRun)
        #expect(report.models[0].outcome == .activated && report.exitCode == 0)
        #expect(try Durable.kind(of: fixture.directory) == nil)
    }
}
