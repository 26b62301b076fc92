import Blocking
import Manifest
import Names
import Support
import SyncAgent
import Testing
import Transfer

@testable import SyncAgent

/// A download takes hours, and a recall waits for nobody.
@Suite("News in the middle of a download")
struct NewsTests {
    private var fixture: SyncFixture

    init() async throws {
        fixture = try SyncFixture()
        try fixture.registry.release("1.0.0")
        try await fixture.sync()
    }

    private static func recall(_ version: String, _ registry: DeviceRegistry) throws {
        let state = VersionState(kind: .recalled, reason: "unsafe", time: DeviceRegistry.start)
        try registry.changeLive { $0.withdrawing(try require(ModelVersion(version)), state) }
    }

    @Test("a recall is obeyed while files are received, and receiving goes on from what was there")
    func recall() async throws {
        var fixture = fixture
        let manifest = try fixture.registry.release("1.1.0", weights: 400_000)
        let (registry, before) = (fixture.registry, fixture)
        let blobs = HeldBlobs(registry) { number in
            guard number > 0 else {
                try Self.recall("1.0.0", registry)
                return .stopsAfter(300_000)
            }
            #expect(try before.activeVersion() == nil, "left before a byte more is asked for")
            return .through
        }
        fixture.blobs = blobs
        let report = try await fixture.sync { $0.pollSeconds = 1 }
        #expect(blobs.count == 2 && report.exitCode == 0 && report.outcome == .activated)
        #expect(try fixture.activeVersion() == "1.1.0")
        #expect(report.models[0].previous == "1.0.0" && report.models[0].active == "1.1.0")
        let file = manifest.variants[0].files[0]
        let lists = file.blocks?.list.length ?? 0
        let labels = manifest.variants[0].files[1].length
        #expect(report.bytesFetched == file.length + lists + labels, "nothing is counted twice")
        expectOrder(fixture)
    }

    @Test("a version that is recalled while it is received is not activated")
    func recalledMeanwhile() async throws {
        var fixture = fixture
        try fixture.registry.release("1.1.0", weights: 400_000)
        let registry = fixture.registry
        let blobs = HeldBlobs(registry) { _ in
            try Self.recall("1.1.0", registry)
            return .stopsAfter(100_000)
        }
        fixture.blobs = blobs
        let report = try await fixture.sync { $0.pollSeconds = 1 }
        #expect(blobs.count == 1 && report.exitCode == 0)
        #expect(try fixture.activeVersion() == "1.0.0")
        #expect(report.models[0].passedOver.contains { $0.version == "1.1.0" })
    }

    @Test("a look without news is one conditional request, and leaves the download alone")
    func quiet() async throws {
        var fixture = fixture
        try fixture.registry.release("1.1.0", weights: 400_000)
        let (registry, looks) = (fixture.registry, LookCount(fixture.registry))
        let blobs = HeldBlobs(registry) { _ in
            _ = registry.takeRequests()
            try await looks.wait(for: 2)
            #expect(registry.takeRequests() == ["timestamp.json", "timestamp.json"])
            return .through
        }
        fixture.fetcher = looks
        fixture.blobs = blobs
        let report = try await fixture.sync { $0.pollSeconds = 1 }
        #expect(blobs.count == 1 && report.exitCode == 0)
        #expect(try fixture.activeVersion() == "1.1.0")
    }

    @Test("a registry that cannot be asked meanwhile does not stop the download, and is asked again")
    func outage() async throws {
        var fixture = fixture
        try fixture.registry.release("1.1.0", weights: 400_000)
        let (registry, looks) = (fixture.registry, LookCount(fixture.registry))
        let blobs = HeldBlobs(registry) { _ in
            registry.setOutage(true)
            defer { registry.setOutage(false) }
            try await looks.wait(for: 2)
            return .through
        }
        fixture.fetcher = looks
        fixture.blobs = blobs
        let report = try await fixture.sync { $0.pollSeconds = 1 }
        #expect(blobs.count == 1 && report.exitCode == 0)
        #expect(try fixture.activeVersion() == "1.1.0")
    }

    @Test("a registry that has news each time does not keep a file from coming whole")
    func always() async throws {
        var fixture = fixture
        try fixture.registry.release("1.1.0", weights: 400_000)
        let registry = fixture.registry
        let blobs = HeldBlobs(registry) { number in
            try registry.publish()
            return number < 3 ? .stopsAfter(100_000) : .through
        }
        fixture.blobs = blobs
        let report = try await fixture.sync { $0.pollSeconds = 1 }
        #expect(blobs.count == 4 && report.exitCode == 0)
        #expect(try fixture.activeVersion() == "1.1.0")
        expectOrder(fixture)
    }

    @Test("a chain that is refused meanwhile ends the sync, as it would at its beginning")
    func refused() async throws {
        var fixture = fixture
        try fixture.registry.release("1.1.0", weights: 400_000)
        let (registry, clock) = (fixture.registry, fixture.clock)
        fixture.blobs = HeldBlobs(registry) { _ in
            clock.advance(seconds: 400 * 86_400)
            return .stopsAfter(100_000)
        }
        let error = await #expect(throws: SyncError.self) { try await fixture.sync { $0.pollSeconds = 1 } }
        #expect(error?.errorCode == .expired)
        #expect(try fixture.activeVersion() == "1.0.0")
    }

    @Test("a look that follows a round without anything of use comes later, others do not")
    func patience() throws {
        let manifests = try ["a", "b"].map { try require(Digest(hex: String(repeating: $0, count: 64))) }
        var patience = NewsPatience()
        patience.stopped((Set(manifests), 10))
        patience.stopped((Set(manifests), 20))
        patience.stopped(([manifests[0]], 30))
        #expect(patience.factor == 1, "more of the same, or less that is missing, is progress")
        patience.stopped(([manifests[0]], 30))
        #expect(patience.factor == 2)
        patience.stopped(([manifests[1]], 90))
        #expect(patience.factor == 4, "what was received for something else is of no use")
        patience.stopped(([manifests[1]], 100))
        #expect(patience.factor == 4, "or two versions in turn would go on for ever")
    }

    private func expectOrder(_ fixture: SyncFixture) {
        var phases: [SyncPhase] = []
        var last: UInt64 = 0
        var isSecond = false
        for event in fixture.events.all {
            switch event {
            case .phase(.refreshing) where !isSecond && !phases.isEmpty:
                // The sync of the first version came before.
                (phases, last, isSecond) = ([.refreshing], 0, true)
            case .phase(let phase): phases.append(phase)
            case .progress(let verified, let total):
                #expect(verified > last && verified <= total)
                last = verified
            case .decided: break
            }
        }
        for phase in [SyncPhase.refreshing, .choosing, .downloading] {
            #expect(phases.count { $0 == phase } == 1, "\(phases)")
        }
    }
}

/// A registry whose timestamps are counted.
private final class LookCount: Fetching {
    private let registry: DeviceRegistry
    private let looks = Guarded(0)

    init(_ registry: DeviceRegistry) { self.registry = registry }

    func fetch(_ request: FetchRequest) async throws(FetchError) -> FetchOutcome {
        defer { if request.url.hasSuffix("/timestamp.json") { looks.withLock { $0 += 1 } } }
        return try await registry.fetch(request)
    }

    /// Waits until so many more were asked for.
    func wait(for more: Int) async throws {
        let wanted = looks.withLock { $0 } + more
        while looks.withLock({ $0 }) < wanted { try await Blocking.sleep(seconds: 0.01) }
    }
}
