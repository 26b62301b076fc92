import Blocking
import Generations
import Inference
import Manifest
import ModelLibrary
import ModelLibraryTesting
import Names
import Support
import Testing

@Suite("Model library: models on demand")
struct DeliveryTests {
    @Test("a model that is not there is brought once, for everybody who asks for it")
    func once() async throws {
        let device = FakeDevice()
        let gate = Gate()
        let asked = Guarded<[String]>([])
        let library = ModelLibrary(device: device, runtimes: [FakeRuntime()]) { model in
            asked.withLock { $0.append(model) }
            await gate.pass()
            try device.activate(model, "1.0.0")
        }
        let request = try ModelRequest(Arrangement.model)
        let callers = (0..<20).map { _ in
            Task { try await library.withModel(request) { $0.version } }
        }
        await gate.reached()
        await gate.open()
        for caller in callers { #expect(try await caller.value == "1.0.0") }
        #expect(asked.withLock { $0 } == [Arrangement.model])
        #expect(try await library.withModel(request) { $0.version } == "1.0.0")
        #expect(asked.withLock { $0.count } == 1)
    }

    @Test("what cannot be brought is not available, with both reasons, and is asked for again next time")
    func failed() async throws {
        let device = FakeDevice()
        let tries = Guarded(0)
        let library = ModelLibrary(device: device, runtimes: [FakeRuntime()]) { _ in
            tries.withLock { $0 += 1 }
            throw FakeFailure(text: "no network")
        }
        let request = try ModelRequest(Arrangement.model)
        for round in 1...2 {
            let error = await #expect(throws: ModelLibraryError.self) {
                try await library.withModel(request) { _ in }
            }
            guard case .notAvailable(Arrangement.model, let reason) = error else {
                Issue.record("another error: \(String(describing: error))")
                return
            }
            #expect(reason.contains("nothing is active") && reason.contains("no network"))
            #expect(tries.withLock { $0 } == round)
        }
    }

    @Test("a delivery that brings nothing ends in what was wrong before, and not in a loop")
    func idle() async throws {
        let library = ModelLibrary(device: FakeDevice(), runtimes: [FakeRuntime()]) { _ in }
        await #expect(
            throws: ModelLibraryError.notAvailable(model: Arrangement.model, reason: "nothing is active")
        ) {
            try await library.withModel(try ModelRequest(Arrangement.model)) { _ in }
        }
    }

    @Test("who is cancelled or waits no longer leaves, and the delivery goes on for the others")
    func leaving() async throws {
        let device = FakeDevice()
        let gate = Gate()
        let clock = ManualLibraryClock()
        let library = ModelLibrary(device: device, runtimes: [FakeRuntime()], clock: clock) { model in
            await gate.pass()
            try device.activate(model, "1.0.0")
        }
        let name = Arrangement.model
        let patient = Task { try await library.withModel(try ModelRequest(name)) { $0.version } }
        await gate.reached()
        let hasty = Task {
            try await library.withModel(try ModelRequest(name, deadline: .seconds(1))) { $0.version }
        }
        let cancelled = Task { try await library.withModel(try ModelRequest(name)) { $0.version } }
        await clock.sleeping(3)
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        clock.advance(by: .seconds(2))
        await #expect(throws: ModelLibraryError.self) { try await hasty.value }
        await gate.open()
        #expect(try await patient.value == "1.0.0")
    }
}

@Suite("Model library: models that the app brought")
struct BundledTests {
    private let bundle: RealDevice
    private let device: RealDevice
    private let request: ModelRequest
    private let runtime: FakeRuntime

    init() throws {
        bundle = try RealDevice()
        device = try RealDevice()
        try bundle.activate("1.0.0")
        request = try ModelRequest("vision/detector")
        let ports = ModelPorts(try bundle.device.activeModel(bundle.name).interface)
        runtime = FakeRuntime(ports: ports, format: "onnx")
    }

    private func library(_ directory: String, bundled: String? = nil) -> ModelLibrary {
        var configuration = LibraryConfiguration()
        configuration.recheck = .zero
        return ModelLibrary(
            directory: directory,
            bundled: bundled ?? bundle.device.path,
            runtimes: [runtime],
            configuration: configuration
        )
    }

    @Test(
        "they answer where nothing was synced yet, by the same request, and what a sync brings takes their place"
    )
    func firstLaunch() async throws {
        let library = library(device.device.path)
        #expect(try await library.withModel(request) { $0.version } == "1.0.0")
        try device.activate("1.1.0")
        #expect(try await library.withModel(request) { $0.version } == "1.1.0")
        #expect(library.residents.map(\.version) == ["1.1.0"])
        let nowhere = self.library(device.scratch.path("not/there"))
        #expect(try await nowhere.withModel(request) { $0.version } == "1.0.0")
    }

    @Test("what the device learned of recalls counts for them too, and the age of their own chain does not")
    func recalled() async throws {
        let identity = try #require(try bundle.device.activeGeneration()?.record.models.first).identity
        let library = library(device.device.path)
        #expect(try await library.withModel(request) { $0.version } == "1.0.0")
        try device.recall(identity)
        let error = await #expect(throws: ModelLibraryError.self) {
            try await library.withModel(request) { _ in }
        }
        guard case .refused(_, "1.0.0", _) = error else {
            Issue.record("another error: \(String(describing: error))")
            return
        }
    }

    @Test("they answer for an active version that does not work, when nothing was active before")
    func wayBack() async throws {
        let broken = try device.activate("1.1.0")
        runtime.failLoads(ofPathsEndingIn: "\(broken.manifest.hex)/model.onnx")
        for _ in 0..<2 {
            let library = library(device.device.path)
            for _ in 0..<2 { #expect(try await library.withModel(request) { $0.version } == "1.0.0") }
        }
        #expect(try device.device.note(Quarantine.self)[broken.manifest] != nil)
    }

    @Test("they are never written: how their loads end is noted on the device")
    func unwritten() async throws {
        let identity = try #require(try bundle.device.activeGeneration()?.record.models.first).identity
        let good = library(device.device.path)
        #expect(try await good.withModel(request) { $0.version } == "1.0.0")
        let untouched = LoadHistory(crashes: 0, hasLoaded: false)
        #expect(bundle.device.loadHistory(of: identity.manifest) == untouched)
        #expect(device.device.loadHistory(of: identity.manifest).hasLoaded)
        for _ in 0..<3 { withExtendedLifetime(device.device.beginLoading(identity.manifest)) {} }
        let next = library(device.device.path)
        await #expect(throws: ModelLibraryError.self) { try await next.withModel(request) { _ in } }
        #expect(runtime.counts.loads.count == 1)
        #expect(try device.device.note(Quarantine.self)[identity.manifest] != nil)
    }

    @Test("one that does not work is noted on the device, or in memory where there is none")
    func broken() async throws {
        runtime.failLoads(ofPathsEndingIn: "model.onnx")
        for directory in [device.device.path, device.scratch.path("not/there")] {
            let library = library(directory)
            for _ in 0..<2 {
                await #expect(throws: ModelLibraryError.self) {
                    try await library.withModel(request) { _ in }
                }
            }
        }
        #expect(runtime.counts.loads.count == 2)
        #expect(try device.device.note(Quarantine.self).entries.count == 1)
    }

    @Test("an app whose folder is empty or not there goes by the device as if nobody spoke of it")
    func noBundle() async throws {
        let empty = try RealDevice()
        for bundled in [device.scratch.path("not/there"), empty.device.path] {
            let device = try RealDevice()
            try device.activate("1.0.0")
            let library = library(device.device.path, bundled: bundled)
            #expect(try await library.withModel(request) { $0.version } == "1.0.0")
            let broken = try device.activate("1.1.0")
            runtime.failLoads(ofPathsEndingIn: "\(broken.manifest.hex)/model.onnx")
            for _ in 0..<2 { #expect(try await library.withModel(request) { $0.version } == "1.0.0") }
            #expect(try device.device.note(Quarantine.self)[broken.manifest] != nil)
            await library.clear()
            #expect(try await library.withModel(request) { $0.version } == "1.0.0")
        }
    }
}
