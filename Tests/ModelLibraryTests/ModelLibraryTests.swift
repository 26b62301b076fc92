import Inference
import ModelLibrary
import Names
import Testing

/// One library over fakes, with `vision/detector` 1.0.0 active.
struct Arrangement {
    let source: FakeSource
    let runtime: FakeRuntime
    let library: ModelLibrary
    let request: ModelRequest
    let first: LibraryVersion

    init(gate: Gate = Gate(open: true), ports: ModelPorts = .sample, format: String = "fake") throws {
        source = FakeSource(format: format)
        runtime = FakeRuntime(gate: gate, ports: ports)
        library = ModelLibrary(source: source, runtimes: [runtime])
        request = try ModelRequest("vision/detector")
        first = try source.activate(request.name, "1.0.0")
    }

    func input() throws -> [String: Tensor] { ["x": try Tensor([Float(1), 2], shape: [2])] }

    func answer(_ lease: LoadedModelLease) async throws -> String {
        try await lease.run(try input())["file"]?.tensor?.strings.first ?? "nothing"
    }

    func answer() async throws -> String {
        try await library.withModel(request) { lease in try await answer(lease) }
    }
}

@Suite("Model library")
struct ModelLibraryTests {
    @Test("a model is loaded at the first request and kept for the next")
    func lazy() async throws {
        let arranged = try Arrangement()
        #expect(arranged.runtime.counts.loads.isEmpty)
        for _ in 0..<3 { #expect(try await arranged.answer() == "/models/vision/detector/1.0.0") }
        #expect(arranged.runtime.counts.loads.count == 1)
        let resident = await arranged.library.residents
        #expect(resident.map(\.version) == ["1.0.0"])
        #expect(resident.map(\.leases) == [0])
    }

    @Test("a lease says what it lends")
    func leaseSays() async throws {
        let arranged = try Arrangement()
        try await arranged.library.withModel(arranged.request) { lease in
            #expect(lease.model == "vision/detector")
            #expect(lease.version == "1.0.0")
            #expect(lease.variant == "default")
            #expect(lease.labels == ["a", "b"])
            #expect(lease.ports == .sample)
            #expect(await arranged.library.residents.map(\.leases) == [1])
        }
    }

    @Test("a hundred callers of a cold model cause one load")
    func singleFlight() async throws {
        let gate = Gate()
        let arranged = try Arrangement(gate: gate)
        try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<100 { group.addTask { try await arranged.answer() } }
            await gate.reached()
            await gate.open()
            for try await answer in group { #expect(answer == "/models/vision/detector/1.0.0") }
        }
        #expect(arranged.runtime.counts.loads.count == 1)
    }

    @Test("two models asked for at once are loaded one after the other")
    func oneLoadAtATime() async throws {
        let gate = Gate(open: true)
        let arranged = try Arrangement(gate: gate)
        let requests = try (0..<8).map { try ModelRequest("vision/model\($0)") }
        for request in requests { try arranged.source.activate(request.name, "1.0.0") }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for request in requests {
                group.addTask { try await arranged.library.withModel(request) { _ in } }
            }
            try await group.waitForAll()
        }
        #expect(arranged.runtime.counts.loads.count == 8)
        #expect(arranged.runtime.counts.greatest == 1)
    }

    @Test("cancelling one caller ends its wait at once and leaves the load to the others")
    func cancelOne() async throws {
        let gate = Gate()
        let arranged = try Arrangement(gate: gate)
        let impatient = Task { try await arranged.answer() }
        let patient = Task { try await arranged.answer() }
        await gate.reached()
        impatient.cancel()
        await #expect(throws: CancellationError.self) { try await impatient.value }
        await gate.open()
        #expect(try await patient.value == "/models/vision/detector/1.0.0")
        #expect(arranged.runtime.counts.loads.count == 1)
    }

    @Test("when the only caller is cancelled, the model is there for the next")
    func cancelOnly() async throws {
        let gate = Gate()
        let arranged = try Arrangement(gate: gate)
        let impatient = Task { try await arranged.answer() }
        await gate.reached()
        impatient.cancel()
        await #expect(throws: CancellationError.self) { try await impatient.value }
        await gate.open()
        #expect(try await arranged.answer() == "/models/vision/detector/1.0.0")
        #expect(arranged.runtime.counts.loads.count == 1)
        #expect(await arranged.library.residents.map(\.leases) == [0])
    }

    @Test("a failed load reaches all who wait, is forgotten, and the next call tries again")
    func failureForgotten() async throws {
        let gate = Gate()
        let arranged = try Arrangement(gate: gate)
        arranged.runtime.failNextLoad("out of luck")
        let callers = (0..<5).map { _ in Task { try await arranged.answer() } }
        await gate.reached()
        await gate.open()
        var failures = 0
        for caller in callers {
            do {
                _ = try await caller.value
            } catch let error as ModelLibraryError {
                guard case .failed("vision/detector", "1.0.0", let reason) = error else {
                    Issue.record("another error: \(error)")
                    continue
                }
                #expect(reason.contains("out of luck"))
                failures += 1
            }
        }
        #expect(failures >= 1)
        #expect(try await arranged.answer() == "/models/vision/detector/1.0.0")
    }

    @Test("what the body throws comes out, and the lease is given back")
    func bodyThrows() async throws {
        let arranged = try Arrangement()
        await #expect(throws: FakeFailure(text: "mine")) {
            try await arranged.library.withModel(arranged.request) { _ in throw FakeFailure(text: "mine") }
        }
        #expect(await arranged.library.residents.map(\.leases) == [0])
    }

    @Test("a lease that escaped its call is refused")
    func escaped() async throws {
        let arranged = try Arrangement()
        let lease = try await arranged.library.withModel(arranged.request) { $0 }
        await #expect(throws: ModelLibraryError.leaseEnded(model: "vision/detector")) {
            try await lease.run(try arranged.input())
        }
    }

    @Test("inputs are checked before the model is called")
    func inputsChecked() async throws {
        let arranged = try Arrangement()
        await #expect(throws: InferenceError.self) {
            try await arranged.library.withModel(arranged.request) { lease in
                try await lease.run(["x": try Tensor([Int32(1)], shape: [1])])
            }
        }
    }
}

@Suite("Model library: leaving memory")
struct ResidencyTests {
    @Test("unloading frees an idle model, and the next request loads it again")
    func unload() async throws {
        let arranged = try Arrangement()
        _ = try await arranged.answer()
        #expect(arranged.runtime.counts.alive.count == 1)
        await arranged.library.unload(arranged.request)
        #expect(arranged.runtime.counts.alive.isEmpty)
        #expect(await arranged.library.residents.isEmpty)
        _ = try await arranged.answer()
        #expect(arranged.runtime.counts.loads.count == 2)
    }

    @Test("a model in use is not freed before its last lease ends")
    func inUse() async throws {
        let arranged = try Arrangement()
        try await arranged.library.withModel(arranged.request) { lease in
            await arranged.library.unloadAll(reason: "memory warning")
            #expect(arranged.runtime.counts.alive.count == 1)
            #expect(await arranged.library.residents.map(\.isLeaving) == [true])
            let answer = try await arranged.answer(lease)
            #expect(answer == "/models/vision/detector/1.0.0")
        }
        #expect(arranged.runtime.counts.alive.isEmpty)
    }

    @Test("a model that is asked for again while it leaves stays, and is not loaded twice")
    func revived() async throws {
        let arranged = try Arrangement()
        try await arranged.library.withModel(arranged.request) { _ in
            await arranged.library.unload(arranged.request)
            _ = try await arranged.answer()
        }
        #expect(await arranged.library.residents.map(\.isLeaving) == [false])
        #expect(arranged.runtime.counts.loads.count == 1)
    }

    @Test("unloading during a load is final once those who wait are done")
    func unloadWhileLoading() async throws {
        let gate = Gate()
        let arranged = try Arrangement(gate: gate)
        let caller = Task { try await arranged.answer() }
        await gate.reached()
        await arranged.library.unload(arranged.request)
        await gate.open()
        #expect(try await caller.value == "/models/vision/detector/1.0.0")
        #expect(await arranged.library.residents.isEmpty)
        #expect(arranged.runtime.counts.alive.isEmpty)
    }

    @Test("a new version is loaded beside the old, which goes when its lease ends")
    func swap() async throws {
        let arranged = try Arrangement()
        try await arranged.library.withModel(arranged.request) { old in
            try arranged.source.activate(arranged.request.name, "1.1.0")
            #expect(try await arranged.answer() == "/models/vision/detector/1.1.0")
            #expect(try await arranged.answer(old) == "/models/vision/detector/1.0.0")
            #expect(arranged.runtime.counts.alive.count == 2)
        }
        #expect(arranged.runtime.counts.alive == ["/models/vision/detector/1.1.0"])
        #expect(await arranged.library.residents.map(\.version) == ["1.1.0"])
    }

    @Test("fifty swaps under load fail no call and leave one model")
    func manySwaps() async throws {
        let arranged = try Arrangement()
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<50 { _ = try await arranged.answer() }
                    return 50
                }
            }
            for minor in 1...50 {
                try arranged.source.activate(arranged.request.name, "1.\(minor).0")
                _ = try await arranged.answer()
            }
            let calls = try await group.reduce(0, +)
            #expect(calls == 400)
        }
        #expect(try await arranged.answer() == "/models/vision/detector/1.50.0")
        #expect(await arranged.library.residents.map(\.version) == ["1.50.0"])
        #expect(arranged.runtime.counts.alive == ["/models/vision/detector/1.50.0"])
    }

    @Test("events tell loads, refusals and departures in order")
    func events() async throws {
        let arranged = try Arrangement()
        let stream = await arranged.library.events()
        _ = try await arranged.answer()
        try arranged.source.activate(arranged.request.name, "1.1.0")
        arranged.runtime.failNextLoad("broken")
        await #expect(throws: ModelLibraryError.self) { try await arranged.answer() }
        _ = try await arranged.answer()
        await arranged.library.unloadAll(reason: "background")
        var told: [String] = []
        for await event in stream {
            switch event {
            case .loaded(_, let version, let waited, let took):
                #expect(waited >= .zero && took >= .zero)
                told.append("loaded \(version)")
            case .refused(_, let version, _): told.append("refused \(version)")
            case .evicted(_, let version, let reason): told.append("evicted \(version) \(reason)")
            }
            if told.count == 5 { break }
        }
        #expect(
            told == [
                "loaded 1.0.0", "refused 1.1.0", "loaded 1.1.0", "evicted 1.0.0 replaced",
                "evicted 1.1.0 all(\"background\")",
            ]
        )
    }
}

@Suite("Model library: what is refused")
struct RefusalTests {
    @Test("a recalled version is not lent, though it is in memory")
    func recalled() async throws {
        let arranged = try Arrangement()
        _ = try await arranged.answer()
        arranged.source.recall(arranged.first)
        await #expect(
            throws: ModelLibraryError.refused(
                model: "vision/detector",
                version: "1.0.0",
                reason: "it is recalled"
            )
        ) { try await arranged.answer() }
    }

    @Test("a version that lies about its interface is refused and not kept")
    func lies() async throws {
        let other = ModelPorts(
            inputs: [Port(name: "x", kind: .tensor(.float32, [.fixed(7)]))],
            outputs: ModelPorts.sample.outputs
        )
        let arranged = try Arrangement(ports: other)
        let error = await #expect(throws: ModelLibraryError.self) { try await arranged.answer() }
        guard case .refused(_, _, let reason) = error else {
            Issue.record("another error")
            return
        }
        #expect(reason == "the input 'x' is declared as float32[n], the runtime has float32[7]")
        #expect(arranged.runtime.counts.alive.isEmpty)
        #expect(await arranged.library.residents.isEmpty)
    }

    @Test("a format that no runtime runs is said")
    func noRuntime() async throws {
        let arranged = try Arrangement(format: "gguf")
        await #expect(
            throws: ModelLibraryError.noRuntime(model: "vision/detector", version: "1.0.0", format: "gguf")
        ) { try await arranged.answer() }
    }

    @Test("a model that is not active is said, and a name that is none")
    func notActive() async throws {
        let arranged = try Arrangement()
        let other = try ModelRequest("vision/other")
        await #expect(throws: ModelLibraryError.self) { try await arranged.library.withModel(other) { _ in } }
        #expect(throws: ModelLibraryError.invalidName("Vision")) { try ModelRequest("Vision") }
    }

    @Test("a missing device directory is not available, with what to do")
    func noDirectory() async throws {
        let library = ModelLibrary(directory: "/nowhere/at/all", runtimes: [FakeRuntime()])
        let error = await #expect(throws: ModelLibraryError.self) {
            try await library.withModel(try ModelRequest("vision/detector")) { _ in }
        }
        guard case .notAvailable("vision/detector", let reason) = error else {
            Issue.record("another error")
            return
        }
        #expect(reason.contains("sealift sync"))
    }
}
