import Blocking
import Names
import Support
import Testing
import Transfer
import Trust

/// Mirrors that hold different moments of one registry, any of which answers a request.
private final class MixedMirrors: Fetching {
    private let moments: [SimulatedRepository]
    private let state: Guarded<(random: Seeded, latest: Int)>

    init(_ moments: [SimulatedRepository], seed: UInt64) {
        self.moments = moments
        state = Guarded((Seeded(state: seed), 0))
    }

    func fetch(_ request: FetchRequest) async throws(FetchError) -> FetchOutcome {
        let name = String(request.url.split(separator: "/").last ?? "")
        // Half of the time the same mirror goes on.
        let place = state.withLock { state in
            if Bool.random(using: &state.random) {
                state.latest = moments.indices.randomElement(using: &state.random) ?? 0
            }
            return state.latest
        }
        guard let bytes = moments[place].files[name] else { return .absent }
        guard UInt64(bytes.count) <= request.maximumLength.rawValue else {
            let refusal = FetchRefusal.tooLong(limit: request.maximumLength, announced: nil)
            throw .refused(refusal, url: request.url)
        }
        return .bytes(bytes, etag: nil)
    }
}

@Suite("Attack: malicious mirrors")
struct MaliciousMirrorsTests {
    /// Six moments of a registry: publications, a new root, new online keys.
    private func moments() throws -> [SimulatedRepository] {
        let world = try World()
        var moments = [world.registry.repository]
        for step in 1...5 {
            try world.registry.change { repository in
                if step == 2 { try repository.publishRoot() }
                if step == 4 {
                    try repository.rotate(.timestamp)
                    try repository.rotate(.snapshot)
                    try repository.publishRoot()
                }
                repository.roles[.live]?.targets["vision/detector/live.json"] = TargetFile(of: [UInt8(step)])
                try repository.publish(step.isMultiple(of: 2) ? nil : [.live])
            }
            moments.append(world.registry.repository)
        }
        return moments
    }

    @Test(
        "mirrors of different age give one consistent moment or a refusal, and never an older one",
        arguments: [1, 2, 3] as [UInt64]
    )
    func mixed(seed: UInt64) async throws {
        let moments = try moments()
        let mirrors = MixedMirrors(moments, seed: seed)
        let store = MemoryMetadataStore()
        let live = SealiftRole.live(try #require(World.detector))
        var reached: [Int64] = [0, 0, 0, 0]
        var successes = 0
        for _ in 0..<40 {
            var updater = MetadataUpdater(
                anchor: moments[0].files["1.root.json"] ?? [],
                store: store,
                fetcher: mirrors,
                mirrors: Mirrors([RepositoryLocation(base: "https://mirror.test/")]),
                now: World.start,
                policy: .sealift
            )
            do {
                try await updater.refresh()
                guard let document = try await updater.role(live) else { continue }
                successes += 1
                let root = try #require(updater.root?.document)
                let timestamp = try #require(updater.timestamp?.document)
                let snapshot = try #require(updater.snapshot?.document)
                #expect(snapshot.version == timestamp.snapshot.version)
                #expect(updater.targets?.document.version == snapshot.roles[.targets]?.version)
                #expect(document.document.version == snapshot.roles[.live]?.version)
                #expect(moments.contains { $0.snapshot == snapshot })
                let found = [
                    root.version, timestamp.version, snapshot.version, document.document.version,
                ]
                #expect(zip(found, reached).allSatisfy { $0 >= $1 }, "\(reached) then \(found)")
                reached = found
            } catch {
                #expect(error is UpdateError, "\(error)")
            }
        }
        #expect(successes > 0)
        // An honest mirror then ends it.
        var updater = MetadataUpdater(
            anchor: moments[0].files["1.root.json"] ?? [],
            store: store,
            fetcher: MixedMirrors([try #require(moments.last)], seed: 0),
            mirrors: Mirrors([RepositoryLocation(base: "https://mirror.test/")]),
            now: World.start,
            policy: .sealift
        )
        try await updater.refresh()
        #expect(try await updater.target("vision/detector/live.json") == TargetFile(of: [5]))
    }
}
