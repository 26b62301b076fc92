import Blocking
import Inference
import ModelLibraryTesting
import Testing

@testable import ModelLibrary

/// Several models over one fake memory of 1,000 MiB.
struct Crowd {
    let arranged: Arrangement

    init(_ configure: (inout LibraryConfiguration) -> Void = { _ in }) throws {
        arranged = try Arrangement(limit: 1_000 << 20) { configuration in
            configuration.memory.headroomShare = 0
            configuration.memory.headroom = 0
            configure(&configuration)
        }
        for name in ["a", "b", "c", "d"] {
            try arranged.device.activate("crowd/\(name)", "1.0.0")
            try arranged.device.setLength(100 << 20, of: "crowd/\(name)")
            arranged.runtime.setBytes(300 << 20, ofPathsEndingIn: "\(name)/1.0.0")
        }
    }

    func use(_ name: String, _ priority: ModelPriority = .normal, pinned: Bool = false) async throws {
        arranged.clock.advance(by: .seconds(1))
        _ = try await arranged.answer(try ModelRequest("crowd/\(name)", priority: priority, isPinned: pinned))
    }

    var resident: [String] { arranged.library.residents.map { String($0.model.dropFirst(6)) } }
}

/// Memory that is given back only when the test allows it.
private final class SlowMemory: MemoryProbe {
    let available = Guarded<UInt64>(1_000 << 20)
    let hasBegun = Cancellation()
    let mayEnd = Cancellation()

    func state() -> MemoryState {
        MemoryState(available: available.withLock { $0 }, limit: 1_000 << 20, source: "the slow machine")
    }

    func footprint() -> MemoryFootprint? { nil }

    func giveBack() {
        hasBegun.cancel()
        _ = mayEnd.wait(seconds: 300)
        available.withLock { $0 = 1_000 << 20 }
    }
}

@Suite("Model library: memory")
struct LibraryMemoryTests {
    @Test("the longest unused makes room for a model that does not fit beside it")
    func room() async throws {
        let crowd = try Crowd()
        for name in ["a", "b", "c"] { try await crowd.use(name) }
        try await crowd.use("a")
        try await crowd.use("d")
        #expect(crowd.resident == ["a", "c", "d"])
        #expect(crowd.arranged.memory.timesGivenBack >= 1)
    }

    @Test("what a load took is remembered for the next, and the estimate no longer counts")
    func learned() async throws {
        let crowd = try Crowd()
        try await crowd.use("a")
        await crowd.arranged.library.clear()
        // 147 MiB are estimated, 300 were measured, 360 are reckoned with.
        crowd.arranged.memory.setOthers(650 << 20)
        await #expect(throws: ModelLibraryError.self) { try await crowd.use("a") }
        crowd.arranged.memory.setOthers(640 << 20)
        try await crowd.use("a")
        #expect(crowd.resident == ["a"])
    }

    @Test("a model that does not fit now is refused with numbers, and one that never will with the limit")
    func refused() async throws {
        let crowd = try Crowd()
        crowd.arranged.memory.setOthers(950 << 20)
        let error = await #expect(throws: ModelLibraryError.self) { try await crowd.use("a") }
        guard case .doesNotFit("crowd/a", "1.0.0", _, 50 << 20, "the fake machine") = error else {
            Issue.record("another error: \(String(describing: error))")
            return
        }
        try crowd.arranged.device.setLength(2_000 << 20, of: "crowd/b")
        let other = await #expect(throws: ModelLibraryError.self) { try await crowd.use("b") }
        guard case .neverFits("crowd/b", "1.0.0", _, 1_000 << 20, "the fake machine") = other else {
            Issue.record("another error: \(String(describing: other))")
            return
        }
        crowd.arranged.memory.setOthers(0)
        try await crowd.use("a")
    }

    /// A load of `b` that waits for what `a` holds, which is in use until the gate opens.
    private func contention(
        in crowd: Crowd,
        _ gate: Gate
    ) async throws -> (holder: Task<Void, any Error>, waiting: Task<Void, any Error>) {
        let arranged = crowd.arranged
        let holder = Task {
            try await arranged.library.withModel(try ModelRequest("crowd/a")) { _ in await gate.pass() }
        }
        await gate.reached()
        try arranged.device.setLength(300 << 20, of: "crowd/b")
        let waiting = Task { try await crowd.use("b") }
        #expect(await eventually { await !arranged.library.roomWaiters.isEmpty })
        return (holder, waiting)
    }

    @Test("a load waits for models in use until they are given back")
    func waits() async throws {
        let crowd = try Crowd { $0.memory.budget = 500 << 20 }
        let gate = Gate()
        let (holder, waiting) = try await contention(in: crowd, gate)
        await gate.open()
        try await holder.value
        try await waiting.value
        #expect(crowd.resident == ["b"])
    }

    @Test("a load waits for what is being freed, though it is among what is held no more")
    func departing() async throws {
        let memory = SlowMemory()
        let clock = ManualLibraryClock()
        let device = FakeDevice()
        for name in ["crowd/a", "crowd/b"] {
            try device.activate(name, "1.0.0")
            try device.setLength(300 << 20, of: name)
        }
        let library = ModelLibrary(device: device, runtimes: [FakeRuntime()], memory: memory, clock: clock)
        try await library.withModel(try ModelRequest("crowd/a")) { _ in }
        memory.available.withLock { $0 = 200 << 20 }
        let leaving = Task { await library.clear() }
        while !memory.hasBegun.isCancelled { await Task.yield() }
        let waiting = Task { try await library.withModel(try ModelRequest("crowd/b")) { _ in } }
        #expect(await eventually { await !library.roomWaiters.isEmpty })
        memory.mayEnd.cancel()
        await leaving.value
        try await waiting.value
        #expect(library.residents.map(\.model) == ["crowd/b"])
    }

    @Test("impatience is an error with numbers, and nobody is harmed")
    func impatient() async throws {
        let crowd = try Crowd { configuration in
            configuration.memory.budget = 500 << 20
            configuration.memory.patience = .seconds(3)
        }
        let gate = Gate()
        let (holder, waiting) = try await contention(in: crowd, gate)
        crowd.arranged.clock.advance(by: .seconds(4))
        let error = await #expect(throws: ModelLibraryError.self) { try await waiting.value }
        guard case .doesNotFit("crowd/b", _, _, _, _) = error else {
            Issue.record("another error: \(String(describing: error))")
            return
        }
        await gate.open()
        try await holder.value
        #expect(crowd.resident == ["a"])
    }
}

@Suite("Model library: pressure and lifecycle")
struct PressureTests {
    /// Waits until the library has acted, which is when it has told.
    private func acted(_ stream: AsyncStream<ModelLibraryEvent>, evictions: Int) async -> [String] {
        var gone: [String] = []
        guard evictions > 0 else { return gone }
        for await event in stream {
            if case .evicted(let model, _, _) = event { gone.append(String(model.dropFirst(6))) }
            if gone.count == evictions { break }
        }
        return gone
    }

    @Test("a warning frees idle models, low priorities first, and spares pinned and high ones")
    func warning() async throws {
        let crowd = try Crowd()
        for name in ["a", "b", "c", "d"] {
            crowd.arranged.runtime.setBytes(0, ofPathsEndingIn: "\(name)/1.0.0")
        }
        try await crowd.use("a", .normal)
        try await crowd.use("b", .low)
        try await crowd.use("c", .high)
        try await crowd.use("d", .normal, pinned: true)
        let stream = await crowd.arranged.library.events()
        crowd.arranged.library.report(.warning)
        #expect(await acted(stream, evictions: 2) == ["b", "a"])
        #expect(crowd.resident == ["c", "d"])
        let again = await crowd.arranged.library.events()
        crowd.arranged.library.report(.warning)
        #expect(await acted(again, evictions: 1) == ["c"])
    }

    @Test("a critical level frees all that is not in use and refuses loads until it is over")
    func critical() async throws {
        let crowd = try Crowd()
        let library = crowd.arranged.library
        try await crowd.use("a", pinned: true)
        let stream = await library.events()
        try await library.withModel(try ModelRequest("crowd/b")) { _ in
            library.report(.critical)
            _ = await acted(stream, evictions: 1)
            #expect(crowd.resident == ["b"])
            await #expect(throws: ModelLibraryError.underPressure(model: "crowd/c")) {
                try await crowd.use("c")
            }
        }
        #expect(crowd.resident.isEmpty)
        library.report(.normal)
        let events = await told(stream) { $0 == .pressure(.normal) }
        #expect(events.contains(.pressure(.normal)))
        try await crowd.use("c")
    }

    @Test("a storm of reports returns at once and is acted upon as one")
    func storm() async throws {
        let crowd = try Crowd()
        try await crowd.use("a")
        let stream = await crowd.arranged.library.events()
        let clock = ContinuousClock()
        let began = clock.now
        for round in 0..<10_000 { crowd.arranged.library.report(round % 2 == 0 ? .warning : .critical) }
        let took = clock.now - began
        #expect(took < .seconds(10), "a report returns within a millisecond on average")
        let events = await told(stream) { $0 == .pressure(.critical) }
        #expect(events.count < 10_000)
        crowd.arranged.library.report(.normal)
        _ = await told(stream) { $0 == .pressure(.normal) }
        try await crowd.use("a")
        #expect(crowd.resident == ["a"])
    }

    @Test("a source and a lifecycle are followed")
    func followed() async throws {
        let crowd = try Crowd()
        let signals = ReportedSignals()
        let library = crowd.arranged.library
        library.follow(pressure: signals)
        library.follow(lifecycle: signals)
        try await crowd.use("a")
        try await crowd.use("b", pinned: true)
        var stream = await library.events()
        signals.report(.background)
        #expect(await acted(stream, evictions: 1) == ["a"])
        stream = await library.events()
        signals.report(androidTrimLevel: 80)
        #expect(await acted(stream, evictions: 1) == ["b"])
    }

    @Test("an idle model goes when its time is over, a pinned one stays")
    func idle() async throws {
        let crowd = try Crowd { $0.idleTimeout = .seconds(30) }
        try await crowd.use("a")
        try await crowd.use("b", pinned: true)
        let stream = await crowd.arranged.library.events()
        await crowd.arranged.clock.sleeping()
        crowd.arranged.clock.advance(by: .seconds(31))
        #expect(await acted(stream, evictions: 1) == ["a"])
        #expect(crowd.resident == ["b"])
    }

    @Test("a residency policy keeps the models that were used last, and a rule of the moment fewer")
    func residency() async throws {
        let crowd = try Crowd { $0.residency = .mostRecent(2) }
        for name in ["a", "b", "a", "c"] { try await crowd.use(name) }
        #expect(crowd.resident == ["a", "c"])
        await crowd.arranged.library.evict(keeping: .onlyActive)
        #expect(crowd.resident == ["c"])
        await crowd.arranged.library.clear()
        #expect(crowd.resident.isEmpty)
    }
}
