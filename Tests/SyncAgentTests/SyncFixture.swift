import Durable
import Generations
import Glibc
import Manifest
import Names
import Support
import SyncAgent
import Synchronization
import Transfer
import Trust

/// A device, a registry in memory, and a clock.
struct SyncFixture {
    let scratch = Scratch()
    let registry: DeviceRegistry
    let clock = ManualClock(DeviceRegistry.start)
    let events = EventLog()
    let receiver = ReceiptReceiver()

    /// In the place of the registry alone.
    var fetcher: (any Fetching)?
    var blobs: (any BlobFetching)?

    init(_ models: [String] = ["vision/detector"]) throws {
        registry = try DeviceRegistry(models)
        try scratch.write("root.json", try require(registry.metadata.repository.files["1.root.json"]))
    }

    var directory: String { scratch.path("device") }

    func configuration(_ requests: [String], expectation: Expectation? = nil) throws -> SyncConfiguration {
        let models = try requests.map { try WantedModel($0, expectation: expectation?.canonical) }
        return SyncConfiguration(
            directory: directory,
            registries: [DeviceRegistry.url],
            rootFile: scratch.path("root.json"),
            models: models
        )
    }

    @discardableResult
    func sync(
        _ requests: [String] = ["vision/detector@stable"],
        expectation: Expectation? = nil,
        mode: SyncMode = .activate,
        adjust: (inout SyncConfiguration) throws -> Void = { _ in }
    ) async throws -> SyncReport {
        var configuration = try configuration(requests, expectation: expectation)
        try adjust(&configuration)
        let agent = try SyncAgent(
            configuration: configuration,
            peers: Peers(
                fetcher: fetcher ?? registry,
                blobs: blobs ?? registry,
                exchange: receiver,
                permission: DownloadPolicy(configuration, clock: { [clock] in clock.now }) { _ in 720 }
            ),
            clock: { [clock] in clock.now },
            events: { [events] in events.append($0) }
        )
        return try await agent.sync(mode)
    }

    /// The error of a sync that stops as a whole.
    func failure(_ adjust: (inout SyncConfiguration) -> Void = { _ in }) async throws -> SyncError? {
        do {
            try await sync(adjust: adjust)
            return nil
        } catch let error as SyncError {
            return error
        }
    }

    var device: DeviceDirectory { get throws { try DeviceDirectory.open(directory) } }

    func activeVersion(_ model: String = "vision/detector") throws -> String? {
        guard let name = ModelName(model), let generation = try device.activeGeneration(),
            generation.record.model(name) != nil
        else { return nil }
        let active = try generation.model(name)
        _ = try active.verify()
        return active.version.description
    }

    /// Puts other bytes in the place of an installed file, as its owner may who takes the trouble.
    func overwrite(_ path: String, _ bytes: [UInt8]) throws {
        chmod(Durable.parent(of: path), 0o755)
        try Durable.writeAtomically(path, bytes)
    }

    /// Every file and link below the device directory, with its content, but for what a poll may write.
    func contents() throws -> [String: [UInt8]] {
        var found: [String: [UInt8]] = [:]
        func walk(_ relative: String) throws {
            let path = "\(directory)/\(relative)"
            switch try Durable.kind(of: path) {
            case .directory?:
                for name in try Durable.names(in: path) {
                    try walk(relative.isEmpty ? name : "\(relative)/\(name)")
                }
            case .link?: found[relative] = Array((try Durable.destination(ofLink: path) ?? "").utf8)
            case .file?: found[relative] = try Durable.readFile(path, maximum: .mebibytes(16))
            case .other?, nil: break
            }
        }
        try walk("")
        found["trust/state.json"] = nil
        found["trust/state-copy.json"] = nil
        found["trust/checked"] = nil
        found["lock"] = nil
        return found
    }
}

/// What an agent told while it ran.
final class EventLog: Sendable {
    private let events = Mutex<[SyncEvent]>([])

    func append(_ event: SyncEvent) { events.withLock { $0.append(event) } }

    var all: [SyncEvent] { events.withLock { $0 } }
}
