import Inference
import ModelLibraryTesting
import Testing

@testable import ModelLibrary

@Suite("Model library: hot swap")
struct SwapTests {
    @Test("when a new version cannot be loaded, the one in memory answers on, and it is tried again later")
    func standingAnswers() async throws {
        let arranged = try Arrangement { $0.retryAfter = .seconds(60) }
        _ = try await arranged.answer()
        arranged.runtime.failNextLoad("broken")
        try arranged.activate("1.1.0")
        for _ in 0..<5 { #expect(try await arranged.answer().hasSuffix("1.0.0")) }
        #expect(arranged.runtime.counts.loads.count == 2)
        arranged.clock.advance(by: .seconds(61))
        #expect(try await arranged.answer().hasSuffix("1.1.0"))
        #expect(arranged.resident == ["vision/detector 1.1.0"])
    }

    @Test("when nothing is in memory, the version before answers for one that is refused")
    func earlierAnswers() async throws {
        let arranged = try Arrangement()
        try arranged.activate("1.1.0")
        try arranged.device.damage(Arrangement.model, "1.1.0")
        #expect(try await arranged.answer().hasSuffix("1.0.0"))
        try arranged.activate("1.2.0")
        #expect(try await arranged.answer().hasSuffix("1.2.0"))
    }

    @Test("a recalled version does not answer for a broken one")
    func recalledDoesNot() async throws {
        let arranged = try Arrangement()
        _ = try await arranged.answer()
        try arranged.activate("1.1.0")
        arranged.runtime.failLoads(ofPathsEndingIn: "1.1.0")
        try arranged.device.recall(Arrangement.model, "1.0.0")
        let error = await #expect(throws: ModelLibraryError.self) { try await arranged.answer() }
        guard case .failed(_, "1.1.0", _) = error else {
            Issue.record("another error: \(String(describing: error))")
            return
        }
    }

    @Test("a caller that is cancelled while an earlier version loads hears of that alone")
    func cancelledFallback() async throws {
        let gate = Gate()
        let arranged = try Arrangement(gate: gate)
        try arranged.activate("1.1.0")
        try arranged.device.damage(Arrangement.model, "1.1.0")
        let caller = Task { try await arranged.answer() }
        await gate.reached()
        caller.cancel()
        await #expect(throws: CancellationError.self) { try await caller.value }
        await gate.open()
    }

    @Test("without waiting, calls get the old version until the new one is in memory")
    func withoutWaiting() async throws {
        let gate = Gate(open: true)
        let arranged = try Arrangement(gate: gate) { $0.swap = .besideWithoutWaiting }
        _ = try await arranged.answer()
        let stream = await arranged.library.events()
        await gate.close()
        try arranged.activate("1.1.0")
        for _ in 0..<3 { #expect(try await arranged.answer().hasSuffix("1.0.0")) }
        await gate.reached(2)
        await gate.open()
        _ = await told(stream) { event in
            if case .evicted(_, "1.0.0", .replaced) = event { true } else { false }
        }
        #expect(try await arranged.answer().hasSuffix("1.1.0"))
    }

    @Test("without waiting, a version that is recalled answers no more while the next one loads")
    func withoutWaitingRecalled() async throws {
        let gate = Gate(open: true)
        let arranged = try Arrangement(gate: gate) { $0.swap = .besideWithoutWaiting }
        _ = try await arranged.answer()
        await gate.close()
        try arranged.activate("1.1.0")
        try arranged.device.recall(Arrangement.model, "1.0.0")
        let caller = Task { try await arranged.answer() }
        await gate.reached(2)
        await gate.open()
        #expect(try await caller.value.hasSuffix("1.1.0"))
    }

    @Test("when the old one goes first, there is never more than one in memory")
    func oldFirst() async throws {
        let arranged = try Arrangement(limit: 1_000 << 20) { $0.swap = .oldFirst }
        arranged.runtime.setBytes(500 << 20, ofPathsEndingIn: "1.0.0")
        _ = try await arranged.answer()
        let gate = arranged.runtime.gate
        await gate.close()
        try arranged.activate("1.1.0")
        async let next = arranged.answer()
        await gate.reached(2)
        #expect(arranged.memory.taken == 0)
        #expect(arranged.runtime.counts.alive.isEmpty)
        await gate.open()
        #expect(try await next.hasSuffix("1.1.0"))
    }

    @Test("the old version makes room when memory does not allow both")
    func noRoomForBoth() async throws {
        let arranged = try Arrangement(limit: 1_000 << 20)
        try arranged.device.setLength(500 << 20, of: Arrangement.model)
        for version in ["1.0.0", "1.1.0"] { arranged.runtime.setBytes(600 << 20, ofPathsEndingIn: version) }
        _ = try await arranged.answer()
        try arranged.activate("1.1.0")
        #expect(try await arranged.answer().hasSuffix("1.1.0"))
        #expect(arranged.memory.taken == 600 << 20)
    }

    @Test("a call between two looks at the device asks the device nothing")
    func recheck() async throws {
        let arranged = try Arrangement { $0.recheck = .seconds(1) }
        _ = try await arranged.answer()
        try arranged.activate("1.1.0")
        #expect(try await arranged.answer().hasSuffix("1.0.0"))
        arranged.clock.advance(by: .seconds(1))
        #expect(try await arranged.answer().hasSuffix("1.1.0"))
    }
}

@Suite("Model library: deadlines and priorities")
struct WaitTests {
    @Test("a caller waits no longer than its deadline, and the load goes on for the next")
    func deadline() async throws {
        let gate = Gate()
        let arranged = try Arrangement(gate: gate)
        let request = try ModelRequest(Arrangement.model, deadline: .seconds(5))
        let caller = Task { try await arranged.answer(request) }
        await gate.reached()
        await arranged.clock.sleeping()
        arranged.clock.advance(by: .seconds(5))
        await #expect(throws: ModelLibraryError.timedOut(model: Arrangement.model, after: .seconds(5))) {
            try await caller.value
        }
        await gate.open()
        #expect(try await arranged.answer().hasSuffix("1.0.0"))
        #expect(arranged.runtime.counts.loads.count == 1)
    }

    @Test("a runtime that never comes back from a new version leaves the old one answering")
    func hungRuntime() async throws {
        let gate = Gate(open: true)
        let arranged = try Arrangement(gate: gate)
        _ = try await arranged.answer()
        await gate.close()
        try arranged.activate("1.1.0")
        let caller = Task { try await arranged.answer() }
        await gate.reached(2)
        // The sweep of idle models sleeps too.
        await arranged.clock.sleeping(2)
        arranged.clock.advance(by: .seconds(61))
        #expect(try await caller.value.hasSuffix("1.0.0"))
        await gate.open()
    }

    @Test("who waits no longer gets the version before, and those who wait on get the new one")
    func impatient() async throws {
        let gate = Gate(open: true)
        let arranged = try Arrangement(gate: gate)
        _ = try await arranged.answer()
        await gate.close()
        try arranged.activate("1.1.0")
        let patient = Task { try await arranged.answer() }
        await gate.reached(2)
        let hasty = try ModelRequest(Arrangement.model, deadline: .seconds(1))
        let caller = Task { try await arranged.answer(hasty) }
        // Both wait for the load, so that no look at the device is under way.
        #expect(await eventually { await arranged.library.loads.values.map(\.waiters.count) == [2] })
        await arranged.clock.sleeping(4)
        arranged.clock.advance(by: .seconds(2))
        #expect(try await caller.value.hasSuffix("1.0.0"))
        await gate.open()
        #expect(try await patient.value.hasSuffix("1.1.0"))
        #expect(try await arranged.answer().hasSuffix("1.1.0"))
        #expect(arranged.runtime.counts.loads.count == 2)
    }

    @Test("a runtime that never comes back holds up its own model and no other")
    func hungElsewhere() async throws {
        let gate = Gate()
        let arranged = try Arrangement(gate: gate) { $0.longLoad = .seconds(30) }
        try arranged.device.activate("vision/other", "1.0.0")
        let other = try ModelRequest("vision/other")
        let stream = await arranged.library.events()
        let first = Task { try await arranged.answer() }
        await gate.reached()
        let second = Task { try await arranged.answer(other) }
        // The deadlines of both, and the load that is too long.
        await arranged.clock.sleeping(3)
        arranged.clock.advance(by: .seconds(31))
        await gate.reached(2)
        let events = await told(stream) { event in
            if case .longLoad = event { true } else { false }
        }
        #expect(events.last == .longLoad(model: Arrangement.model, version: "1.0.0", after: .seconds(30)))
        await gate.open()
        #expect(try await first.value.hasSuffix("1.0.0"))
        #expect(try await second.value.hasSuffix("other/1.0.0"))
    }

    @Test("of loads that wait for their turn those of high priority come first")
    func priorities() async throws {
        let gate = Gate()
        let runtime = FakeRuntime(gate: gate)
        let device = FakeDevice()
        // A turn of its own, since tests of other libraries wait for that of this process.
        let turn = LoadTurn()
        let library = ModelLibrary(
            source: device,
            runtimes: [runtime],
            probe: FakeMemory(limit: nil),
            clock: ManualLibraryClock(),
            turn: turn
        )
        let requests = try ModelPriority.allCases.map {
            try ModelRequest("vision/p\($0.rawValue)", priority: $0)
        }
        for request in requests { try device.activate(request.model, "1.0.0") }
        try device.activate(Arrangement.model, "1.0.0")
        let first = Task { try await library.withModel(try ModelRequest(Arrangement.model)) { _ in } }
        await gate.reached()
        var callers: [Task<Void, any Error>] = []
        for (index, request) in requests.enumerated() {
            callers.append(Task { try await library.withModel(request) { _ in } })
            while turn.waiting.count <= index { await Task.yield() }
        }
        await gate.open()
        try await first.value
        for caller in callers { try await caller.value }
        let order = runtime.counts.loads.dropFirst().map { $0.split(separator: "/")[2] }
        #expect(order == ["p2", "p1", "p0"])
        #expect(runtime.counts.greatest == 1)
    }

    @Test("a lease that is never given back is told once, and other models go on")
    func longLease() async throws {
        let arranged = try Arrangement { $0.longLease = .seconds(30) }
        let stream = await arranged.library.events()
        let gate = Gate()
        let holder = Task {
            try await arranged.library.withModel(arranged.request) { _ in await gate.pass() }
        }
        await gate.reached()
        await arranged.clock.sleeping()
        arranged.clock.advance(by: .seconds(31))
        let events = await told(stream) { event in
            if case .longLease = event { true } else { false }
        }
        #expect(events.last == .longLease(model: Arrangement.model, version: "1.0.0", held: .seconds(31)))
        try arranged.device.activate("vision/other", "1.0.0")
        #expect(try await arranged.answer(try ModelRequest("vision/other")).hasSuffix("other/1.0.0"))
        await gate.open()
        try await holder.value
    }

    @Test("sessions end before their engine does")
    func order() async throws {
        var runtime: FakeRuntime? = FakeRuntime()
        weak let engine = runtime
        let device = FakeDevice()
        try device.activate(Arrangement.model, "1.0.0")
        var library: ModelLibrary? = runtime.map { ModelLibrary(device: device, runtimes: [$0]) }
        try await library?.withModel(try ModelRequest(Arrangement.model)) { _ in }
        let counts = try #require(runtime).counts
        #expect(counts.alive.count == 1)
        runtime = nil
        #expect(engine != nil)
        await library?.clear()
        #expect(engine?.counts.alive.isEmpty == true)
        library = nil
    }
}
