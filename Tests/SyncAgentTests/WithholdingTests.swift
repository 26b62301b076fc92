import Durable
import Generations
import Manifest
import Names
import Support
import SyncAgent
import Synchronization
import Testing
import Transfer
import Trust

/// What hostile mirrors keep back, while the active version is recalled.
@Suite("Recall: what mirrors keep back")
struct WithholdingTests {
    private let fixture: SyncFixture
    private let oldest: ModelManifest

    /// A device that ran 1.0.0 and 1.1.0 and runs 1.2.0.
    init() async throws {
        var fixture = try SyncFixture(["vision/detector", "vision/tracker"])
        fixture.fetcher = Withholder(fixture.registry)
        self.fixture = fixture
        oldest = try fixture.registry.release("1.0.0")
        try await fixture.sync()
        for version in ["1.1.0", "1.2.0"] {
            try fixture.registry.release(version)
            try await fixture.sync()
        }
        #expect(try fixture.activeVersion() == "1.2.0")
    }

    private var mirror: Withholder { get throws { try require(fixture.fetcher as? Withholder) } }

    private func recall(_ versions: String...) throws {
        let state = VersionState(kind: .recalled, reason: "unsafe", time: DeviceRegistry.start)
        for version in versions {
            try fixture.registry.changeLive { $0.withdrawing(try require(ModelVersion(version)), state) }
        }
    }

    private func condemn(_ version: String) throws {
        let device = try fixture.device
        let known = try device.versionsKnown().map(\.identity)
        let identity = try require(known.first { $0.version.description == version })
        try device.condemn(identity, reason: "it does not load", at: fixture.clock.now)
    }

    /// A file, by a part of its address, and whether it is asked for only after what must be left is left.
    enum Kept: String, CaseIterable {
        case newest = ".1.3.0.json"
        case recalled = ".1.2.0.json"
        case refuge = ".1.1.0.json"
        case settings = "settings.json"
        case release = "vision~detector.json"
        case holds = "holds/vision/"
        case otherManifest = ".1.0.0.json"
        case otherRole = "vision~tracker"
    }

    @Test(
        "it is left all the same, before a manifest or the settings are asked for",
        arguments: Kept.allCases,
        Withholder.Fault.allCases
    )
    func left(_ kept: Kept, _ fault: Withholder.Fault) async throws {
        let first = try require(try fixture.device.activeGeneration()?.record.models.first?.identity.manifest)
        try fixture.registry.release("1.3.0")
        try fixture.registry.hold(oldest)
        try fixture.registry.release("1.0.0", of: "vision/tracker")
        var settings = SettingsDocument()
        settings.grace = 9 * 86_400
        try fixture.registry.change(settings)
        try recall("1.2.0")
        // So that nothing is known from before.
        try Durable.removeTree("\(fixture.directory)/trust/targets")
        let seen = Mutex<[String?]>([])
        let isAfter = kept != .holds && kept != .release && kept != .otherRole
        try mirror.withhold(kept.rawValue, by: fault) { [fixture] in
            seen.withLock { $0.append((try? fixture.activeVersion()) ?? nil) }
        }
        _ = try? await fixture.sync(["vision/detector", "vision/tracker"])
        let isNewestHad = [.recalled, .refuge, .otherManifest, .otherRole].contains(kept)
        #expect(try fixture.activeVersion() == (isNewestHad ? "1.3.0" : "1.1.0"))
        #expect(try fixture.device.trustState()?.recalled.contains(first) == true)
        if isAfter { #expect(seen.withLock { $0.allSatisfy { $0 == "1.1.0" } }) }
        // And once it is there again everything goes on.
        try mirror.withhold(nil, by: fault) {}
        let report = try await fixture.sync(["vision/detector", "vision/tracker"])
        #expect(report.exitCode == 0, "\(report)")
        #expect(try fixture.activeVersion() == "1.3.0" && fixture.activeVersion("vision/tracker") == "1.0.0")
        #expect(try fixture.device.trustState()?.recalled == [first])
    }

    @Test(
        "a denial is obeyed, and the good version that is here is taken, although the roles below it do not come",
        arguments: ["vision~detector~live.json", "detector/", ".vision.json"]
    )
    func denied(_ kept: String) async throws {
        let denial = Denial(
            model: try require(ModelName("vision/detector")),
            subject: .versions([try require(ModelVersion("1.2.0"))]),
            reason: "stolen key",
            since: DeviceRegistry.start
        )
        fixture.registry.metadata.change { $0.roles[.targets]?.deny = [denial] }
        try fixture.registry.changeLive { $0.flooring(try require(ChannelName("stable")), at: nil) }
        try fixture.registry.publish()
        try Durable.removeTree("\(fixture.directory)/trust/targets")
        try mirror.withhold(kept, by: .outage) {}
        let report = try await fixture.sync()
        #expect(report.exitCode == 75, "\(report)")
        #expect(try fixture.activeVersion() == "1.1.0")
    }

    @Test("a version that an app condemned while the sync ran is not what it leaves for")
    func condemnedMeanwhile() async throws {
        try recall("1.2.0")
        try mirror.watch("live.json") { [self] in try? condemn("1.1.0") }
        _ = try? await fixture.sync()
        #expect(try fixture.activeVersion() == "1.0.0")
    }

    @Test("nor one that is condemned while the switch is made")
    func condemnedLate() throws {
        let device = try fixture.device
        let active = try require(try device.activeGeneration())
        let all = try device.versionsKnown()
        func known(_ version: String) throws -> GenerationRecord.Model {
            try require(all.first { $0.identity.version.description == version })
        }
        let ways = try [known("1.1.0"), known("1.0.0")]
        let probe = ActingProbe(on: "\(device.path)/current") {
            try? device.changeQuarantine {
                $0.add(
                    Quarantine.Entry(ways[0].identity, reason: "it does not load", time: DeviceRegistry.start)
                )
            }
        }
        let left = try Disk.$probe.withValue(probe) {
            try device.leave(
                for: [ways[0].identity.model: ways],
                from: active,
                at: DeviceRegistry.start,
                forbidden: [],
                bounds: { _ in nil }
            )
        }
        #expect(left.record.models.map(\.identity.version.description) == ["1.0.0"])
        #expect(try fixture.activeVersion() == "1.0.0")
    }

    @Test(
        "where the chain has expired, neither what is quarantined here nor what is below the floor is left for",
        arguments: ["quarantined", "below the floor", "good"]
    )
    func expired(_ standing: String) async throws {
        let device = try fixture.device
        let manifest = try require(try device.activeGeneration()?.record.models.first?.identity.manifest)
        if standing == "quarantined" { try condemn("1.1.0") }
        if standing == "below the floor" {
            let floor = try require(ModelVersion("1.2.0"))
            try fixture.registry.changeLive { $0.flooring(try require(ChannelName("stable")), at: floor) }
            try await fixture.sync()
        }
        try device.save(try require(try device.trustState()).withdrawing([manifest]))
        fixture.clock.advance(seconds: 4 * 86_400)
        #expect(try await fixture.failure()?.kind == .expired)
        let expected = ["quarantined": "1.0.0", "good": "1.1.0"]
        #expect(try fixture.activeVersion() == expected[standing])
    }
}

/// A registry that does not give some files.
final class Withholder: Fetching {
    enum Fault: CaseIterable {
        case outage, absent, flipped
    }

    private struct State {
        var part: String?
        var fault = Fault.outage
        var isWatched = false
        var asked: @Sendable () -> Void = {}
    }

    private let registry: DeviceRegistry
    private let state = Mutex(State())

    init(_ registry: DeviceRegistry) { self.registry = registry }

    /// Keeps files back whose address contains `part`; tells whenever one is asked for.
    func withhold(_ part: String?, by fault: Fault, _ asked: @escaping @Sendable () -> Void) {
        state.withLock { $0 = State(part: part, fault: fault, asked: asked) }
    }

    /// Gives them, and tells it.
    func watch(_ part: String, _ asked: @escaping @Sendable () -> Void) {
        state.withLock { $0 = State(part: part, isWatched: true, asked: asked) }
    }

    func fetch(_ request: FetchRequest) async throws(FetchError) -> FetchOutcome {
        let state = state.withLock { $0 }
        guard let part = state.part, request.url.contains(part) else {
            return try await registry.fetch(request)
        }
        state.asked()
        guard !state.isWatched else { return try await registry.fetch(request) }
        switch state.fault {
        case .outage: throw .outage(.status(503, retryAfter: nil), url: request.url)
        case .absent: return .absent
        case .flipped:
            let outcome = try await registry.fetch(request)
            guard case .bytes(var bytes, let etag) = outcome, !bytes.isEmpty else { return outcome }
            bytes[bytes.count / 2] ^= 1
            return .bytes(bytes, etag: etag)
        }
    }
}

/// Does something once, when a path was replaced.
final class ActingProbe: DiskProbe {
    private let path: String
    private let action: @Sendable () -> Void
    private let isDone = Mutex(false)

    init(on path: String, _ action: @escaping @Sendable () -> Void) {
        self.path = path
        self.action = action
    }

    func willPerform(_ operation: DiskOperation) throws(DurableError) {}

    func didPerform(_ operation: DiskOperation) {
        guard case .rename(_, let to) = operation, to == path else { return }
        let isFirst = isDone.withLock { done in
            defer { done = true }
            return !done
        }
        if isFirst { action() }
    }
}
