import Names
import Signing
import Support
import Testing
import Transfer
import Trust

/// A client that has news of every kind to store, and what it had before.
private struct Interrupted {
    let registry: RegistrySimulator

    /// The registry as it was when the client last came.
    let past: RegistrySimulator

    /// What the client had stored then, and what it stores when nothing interrupts it.
    let before: [String: [UInt8]]
    let after: [String: [UInt8]]

    init() async throws {
        let world = try World()
        try await world.synchronise()
        before = world.store.contents
        past = RegistrySimulator(world.registry.repository)
        registry = world.registry
        try registry.change { repository in
            try repository.publishRoot()
            try repository.rotate(.timestamp)
            try repository.rotate(.root, to: .ecdsaP256, count: 2, threshold: 2)
            try repository.publishRoot()
            try repository.publish()
        }
        try await world.synchronise()
        after = world.store.contents
    }

    /// Refreshes with everything that a device needs of a model.
    static func update(_ registry: RegistrySimulator, _ store: any MetadataStore) async throws {
        var updater = MetadataUpdater(
            anchor: registry.repository.files["1.root.json"] ?? [],
            store: store,
            fetcher: registry,
            mirrors: Mirrors([registry.location]),
            now: registry.repository.now,
            policy: .sealift
        )
        try await updater.refresh()
        _ = try await updater.role(.hold)
        _ = try await updater.target("vision/detector/live.json")
        _ = try await updater.target("vision/detector/1.0.0.json")
    }

    /// The version of each stored role, by the stored bytes' place among those that were ever served.
    func version(_ name: String, in contents: [String: [UInt8]]) throws -> Int {
        let bytes = try #require(contents[name], "\(name) is gone")
        if bytes == after[name] { return 2 }
        // `root.json` passes through the second of three roots.
        if bytes == registry.repository.files["2.root.json"] { return 1 }
        try #require(bytes == before[name], "\(name) is neither old nor new")
        return 0
    }
}

@Suite("Crash in mid-refresh")
struct CrashTests {
    /// The files that the uninterrupted refresh writes, in this order.
    static let writes = [
        "root_history/2.root.json", "root.json", "root_history/3.root.json", "root.json", "timestamp.json",
        "snapshot.json", "targets.json", "poll-state", "sealift~hold.json", "vision.json",
        "vision~detector~live.json", "vision~detector.json",
    ]

    @Test("a refresh stores each file as soon as it is verified, parents first, and nothing twice")
    func order() async throws {
        let client = try await Interrupted()
        let store = StoppingMetadataStore(MemoryMetadataStore(client.before), at: .max, .beforeWriting)
        try await Interrupted.update(client.registry, store)
        #expect(store.writes == Self.writes)
    }

    @Test(
        "stopped at any write, the next refresh ends where an undisturbed one does",
        arguments: writes.indices,
        StoppingMetadataStore.Stop.allCases
    )
    func recovery(step: Int, stop: StoppingMetadataStore.Stop) async throws {
        let client = try await Interrupted()
        let disk = MemoryMetadataStore(client.before)
        let stopping = StoppingMetadataStore(disk, at: step, stop)
        await #expect(throws: UpdateError.storage(StoppingMetadataStore.stopped)) {
            try await Interrupted.update(client.registry, stopping)
        }
        #expect(stopping.writes == Array(Self.writes[...step]))
        // Not less: everything before the fatal write is there, and the rest as it was.
        let written = Set(Self.writes[..<(stop == .afterWriting ? step + 1 : step)])
        for name in client.before.keys where name != "poll-state" && name != "root.json" {
            #expect(
                try client.version(name, in: disk.contents) == (written.contains(name) ? 2 : 0),
                "\(name)"
            )
        }
        #expect(Set(disk.contents.keys) == Set(client.before.keys).union(written))
        try await Interrupted.update(client.registry, disk)
        #expect(disk.contents == client.after)
    }

    @Test(
        "stopped at any write, a registry that goes back in time wins nothing",
        arguments: writes.indices,
        StoppingMetadataStore.Stop.allCases
    )
    func replay(step: Int, stop: StoppingMetadataStore.Stop) async throws {
        let client = try await Interrupted()
        let disk = MemoryMetadataStore(client.before)
        let stopping = StoppingMetadataStore(disk, at: step, stop)
        await #expect(throws: UpdateError.self) {
            try await Interrupted.update(client.registry, stopping)
        }
        let between = disk.contents
        if between["root_history/3.root.json"] == nil {
            try await Interrupted.update(client.past, disk)
        } else {
            // The third root has replaced the timestamp key, and it is replayed from the store.
            let refused = UpdateError.refused(.thresholdNotMet(role: .timestamp, valid: 0, needed: 1))
            await #expect(throws: refused) { try await Interrupted.update(client.past, disk) }
        }
        // Not more, and not older: no file has gone back, whatever the old registry served.
        for name in between.keys where name != "poll-state" {
            if client.before[name] == nil {
                #expect(disk.contents[name] == between[name], "\(name)")
            } else {
                let now = try client.version(name, in: disk.contents)
                #expect(try now >= client.version(name, in: between), "\(name)")
            }
        }
        try await Interrupted.update(client.registry, disk)
        #expect(disk.contents == client.after)
    }
}
