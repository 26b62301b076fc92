import Blocking
import Inference
import Manifest
import ModelLibrary
import ModelLibraryTesting
import Names

/// A device on which a look, or the opening of a version, does what a test says before it answers.
struct RoughDevice: ModelSource {
    let device: FakeDevice
    var memory: MemoryNeed?
    var beforeLook: @Sendable (ModelName) -> Void = { _ in }
    var beforeAnswer: @Sendable (ModelName) -> Void = { _ in }
    var beforeOpening: @Sendable (ModelName) -> Void = { _ in }
    var note: (any LoadNote)?

    func stamp() -> SourceStamp? { device.stamp() }

    func activeVersion(of model: ModelName) throws(ModelLibraryError) -> LibraryVersion {
        beforeLook(model)
        return try device.activeVersion(of: model)
    }

    func earlierVersion(
        of model: ModelName,
        than version: LibraryVersion
    ) throws(ModelLibraryError) -> LibraryVersion? {
        try device.earlierVersion(of: model, than: version)
    }

    func mayRun(_ version: LibraryVersion) throws(ModelLibraryError) -> Bool {
        beforeAnswer(version.model)
        return try device.mayRun(version)
    }

    func open(_ version: LibraryVersion) throws(ModelLibraryError) -> OpenedModel? {
        beforeOpening(version.model)
        var opened = try device.open(version)
        if let memory { opened?.memory = memory }
        if let note { opened?.note = note }
        return opened
    }

    func condemn(_ version: LibraryVersion, _ reason: String) throws(ModelLibraryError) -> QuarantinePlace {
        try device.condemn(version, reason)
    }
}

/// A runtime whose models do on their way in and out what a test says.
final class RoughRuntime: ModelRuntime {
    let name = "rough"
    let version = "1"
    let onLoad: @Sendable (String) async throws -> Void
    let onFree: @Sendable (String) -> Void

    init(
        onLoad: @escaping @Sendable (String) async throws -> Void = { _ in },
        onFree: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.onLoad = onLoad
        self.onFree = onFree
    }

    func runs(format: String) -> Bool { format == "fake" }

    func load(entry: String, options: LoadOptions) async throws -> any LoadedModel {
        try await onLoad(entry)
        return RoughModel(entry, onFree)
    }
}

private final class RoughModel: LoadedModel {
    let ports = ModelPorts.fake
    private let entry: String
    private let onFree: @Sendable (String) -> Void

    init(_ entry: String, _ onFree: @escaping @Sendable (String) -> Void) {
        self.entry = entry
        self.onFree = onFree
    }

    deinit { onFree(entry) }

    func run(_ inputs: [String: Tensor]) async throws -> [String: ModelValue] {
        ["file": .tensor(try Tensor(strings: [entry], shape: [1]))]
    }
}

/// A probe that says of this process what a test wrote down, one number after the other.
final class WrittenProbe: MemoryProbe {
    private let footprints: Guarded<[UInt64]>
    private let available: Guarded<UInt64?>
    private let limit: UInt64?

    init(_ footprints: [UInt64], limit: UInt64? = nil, available: UInt64? = nil) {
        self.footprints = Guarded(footprints)
        self.available = Guarded(available)
        self.limit = limit
    }

    func setAvailable(_ bytes: UInt64) { available.withLock { $0 = bytes } }

    func state() -> MemoryState {
        MemoryState(available: available.withLock { $0 }, limit: limit, source: "the written machine")
    }

    func footprint() -> MemoryFootprint? {
        let next = footprints.withLock { $0.isEmpty ? 0 : $0.removeFirst() }
        return MemoryFootprint(anonymous: next, resident: next)
    }

    func giveBack() {}
}

/// The system's clock, which counts how often somebody sleeps by it.
final class CountingClock: LibraryClock {
    private let count = Guarded(0)

    var sleeps: Int { count.withLock { $0 } }
    var now: Duration { SystemClock().now }

    func sleep(until time: Duration) async throws {
        count.withLock { $0 += 1 }
        try await SystemClock().sleep(until: time)
    }
}

func pause(_ seconds: Double) async { try? await Blocking.sleep(seconds: seconds) }

/// Whether something comes true within 20 seconds.
func eventually(_ condition: @Sendable () async -> Bool) async -> Bool {
    for _ in 0..<2_000 {
        if await condition() { return true }
        await pause(0.01)
    }
    return await condition()
}

/// How long something takes by this machine's clock, and what it fails with.
func timed(_ body: () async throws -> Void) async -> (took: Duration, error: (any Error)?) {
    let began = SystemClock().now
    do {
        try await body()
        return (SystemClock().now - began, nil)
    } catch {
        return (SystemClock().now - began, error)
    }
}
