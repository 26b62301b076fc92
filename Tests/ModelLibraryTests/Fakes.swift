import Inference
import ModelLibrary
import Names
import Synchronization

/// Opens once; whoever waits before is let through then.
actor Gate {
    private var isOpen: Bool
    private var waiting: [CheckedContinuation<Void, Never>] = []
    private var arrivals = 0
    private var watchers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []

    init(open: Bool = false) { isOpen = open }

    func open() {
        isOpen = true
        for waiter in waiting { waiter.resume() }
        waiting = []
    }

    func pass() async {
        arrivals += 1
        for watcher in watchers where watcher.count <= arrivals { watcher.continuation.resume() }
        watchers.removeAll { $0.count <= arrivals }
        if isOpen { return }
        await withCheckedContinuation { waiting.append($0) }
    }

    /// Returns when `count` have come to the gate.
    func reached(_ count: Int = 1) async {
        if arrivals >= count { return }
        await withCheckedContinuation { watchers.append((count, $0)) }
    }
}

struct FakeFailure: Error, Equatable { let text: String }

/// A runtime whose models answer with the file they were loaded from.
final class FakeRuntime: ModelRuntime {
    struct Counts: Equatable {
        var loads: [String] = []
        var current = 0
        var greatest = 0
        var alive: Set<String> = []
    }

    let name = "fake"
    let version = "1.0.0"
    let gate: Gate
    private let state = Mutex(Counts())
    private let failures = Mutex<[String]>([])
    private let ports: ModelPorts

    init(gate: Gate = Gate(open: true), ports: ModelPorts = .sample) {
        self.gate = gate
        self.ports = ports
    }

    var counts: Counts { state.withLock { $0 } }

    /// The next load fails.
    func failNextLoad(_ text: String) { failures.withLock { $0.append(text) } }

    func runs(format: String) -> Bool { format == "fake" }

    func load(entry: String, options: LoadOptions) async throws -> any LoadedModel {
        state.withLock {
            $0.loads.append(entry)
            $0.current += 1
            $0.greatest = max($0.greatest, $0.current)
        }
        defer { state.withLock { $0.current -= 1 } }
        await gate.pass()
        if let failure = failures.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) {
            throw FakeFailure(text: failure)
        }
        return FakeModel(entry: entry, ports: ports, runtime: self)
    }

    fileprivate func born(_ entry: String) { state.withLock { _ = $0.alive.insert(entry) } }
    fileprivate func freed(_ entry: String) { state.withLock { _ = $0.alive.remove(entry) } }
}

final class FakeModel: LoadedModel {
    let ports: ModelPorts
    private let entry: String
    private let runtime: FakeRuntime

    init(entry: String, ports: ModelPorts, runtime: FakeRuntime) {
        self.entry = entry
        self.ports = ports
        self.runtime = runtime
        runtime.born(entry)
    }

    deinit { runtime.freed(entry) }

    func run(_ inputs: [String: Tensor]) async throws -> [String: ModelValue] {
        ["file": .tensor(try Tensor(strings: [entry], shape: [1]))]
    }
}

extension ModelPorts {
    static let sample = ModelPorts(
        inputs: [Port(name: "x", kind: .tensor(.float32, [.symbol("n")]))],
        outputs: [Port(name: "file", kind: .tensor(.string, [.fixed(1)]))]
    )
}

/// A device directory in memory: which version is active, and what is wrong with it.
final class FakeSource: ModelSource {
    private let active: Mutex<[ModelName: LibraryVersion]> = Mutex([:])
    private let refusals: Mutex<[LibraryVersion: String]> = Mutex([:])
    private let format: String

    init(format: String = "fake") { self.format = format }

    @discardableResult
    func activate(_ model: ModelName, _ version: String) throws -> LibraryVersion {
        let number = UInt8(version.utf8.reduce(0) { $0 &+ $1 })
        guard let parsed = ModelVersion(version), let variant = VariantName("default"),
            let digest = Digest(bytes: [UInt8](repeating: number, count: 32))
        else { throw FakeFailure(text: "no version \(version)") }
        let new = LibraryVersion(model: model, version: parsed, variant: variant, manifest: digest)
        active.withLock { $0[model] = new }
        return new
    }

    func recall(_ version: LibraryVersion) { refusals.withLock { $0[version] = "it is recalled" } }

    func activeVersion(of model: ModelName) throws(ModelLibraryError) -> LibraryVersion {
        guard let version = active.withLock({ $0[model] }) else {
            throw .notAvailable(model: model.description, reason: "nothing is active")
        }
        if let reason = refusals.withLock({ $0[version] }) {
            throw .refused(model: model.description, version: version.version.description, reason: reason)
        }
        return version
    }

    func open(_ model: ModelName) throws(ModelLibraryError) -> OpenedModel {
        let version = try activeVersion(of: model)
        return OpenedModel(
            version: version,
            directory: "/models",
            entryPath: "/models/\(model)/\(version.version)",
            format: format,
            ports: .sample,
            labels: ["a", "b"]
        )
    }
}
