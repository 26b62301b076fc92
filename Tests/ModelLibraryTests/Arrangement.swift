import Inference
import ModelLibrary
import ModelLibraryTesting
import Names

/// One library over fakes, with `vision/detector` 1.0.0 active.
struct Arrangement {
    static let model = "vision/detector"

    let device: FakeDevice
    let runtime: FakeRuntime
    let memory: FakeMemory
    let clock: ManualLibraryClock
    let library: ModelLibrary
    let request: ModelRequest

    init(
        gate: Gate = Gate(open: true),
        ports: ModelPorts = .fake,
        format: String = "fake",
        limit: UInt64? = nil,
        processors: Set<ComputeUnits> = [.cpu],
        _ configure: (inout LibraryConfiguration) -> Void = { _ in }
    ) throws {
        device = FakeDevice(format: format)
        memory = FakeMemory(limit: limit)
        runtime = FakeRuntime(gate: gate, ports: ports, memory: memory, processors: processors)
        clock = ManualLibraryClock()
        var configuration = LibraryConfiguration()
        configuration.recheck = .zero
        configure(&configuration)
        library = ModelLibrary(
            device: device,
            runtimes: [runtime],
            configuration: configuration,
            memory: memory,
            clock: clock
        )
        request = try ModelRequest(Self.model)
        try device.activate(Self.model, "1.0.0")
    }

    func activate(_ version: String) throws { try device.activate(Self.model, version) }

    func input() throws -> [String: Tensor] { ["x": try Tensor([Float(1), 2], shape: [2])] }

    func answer(_ lease: LoadedModelLease) async throws -> String {
        try await lease.run(try input())["file"]?.tensor?.strings.first ?? "nothing"
    }

    func answer() async throws -> String { try await answer(request) }

    func answer(_ request: ModelRequest) async throws -> String {
        try await library.withModel(request) { lease in try await answer(lease) }
    }

    /// The names of what is in memory.
    var resident: [String] { library.residents.map { "\($0.model) \($0.version)" } }
}

/// What has happened so far, of a stream that goes on.
func told(
    _ stream: AsyncStream<ModelLibraryEvent>,
    until last: (ModelLibraryEvent) -> Bool
) async -> [ModelLibraryEvent] {
    var events: [ModelLibraryEvent] = []
    for await event in stream {
        events.append(event)
        if last(event) { break }
    }
    return events
}
