import Inference
import ModelLibraryTesting
import Testing

@testable import ModelLibrary

@Suite("Model library: callers who join a load", .timeLimit(.minutes(2)))
struct JoiningTests {
    @Test("one of high priority raises the load that it joins in the queue for the turn")
    func turn() async throws {
        let gate = Gate()
        let runtime = FakeRuntime(gate: gate)
        let device = FakeDevice()
        let turn = LoadTurn()
        let library = ModelLibrary(
            source: device,
            runtimes: [runtime],
            probe: FakeMemory(limit: nil),
            turn: turn
        )
        for name in ["a/first", "a/joined", "a/other"] { try device.activate(name, "1.0.0") }
        let first = Task { try await library.withModel(try ModelRequest("a/first")) { _ in } }
        await gate.reached()
        let preload = Task { await library.preload([try ModelRequest("a/joined")]) }
        #expect(await eventually { turn.waiting.count == 1 })
        let other = Task { try await library.withModel(try ModelRequest("a/other")) { _ in } }
        #expect(await eventually { turn.waiting.count == 2 })
        let joined = Task {
            try await library.withModel(try ModelRequest("a/joined", priority: .high)) { _ in }
        }
        #expect(await eventually { turn.waiting.first?.priority == .high })
        await gate.open()
        try await first.value
        try await joined.value
        try await other.value
        #expect(try await preload.value.map { $0.failure == nil } == [true])
        #expect(runtime.counts.loads.dropFirst().map { $0.split(separator: "/")[2] } == ["joined", "other"])
    }

    @Test("one of high priority lets the preload that it joins make room")
    func room() async throws {
        let gate = Gate(open: true)
        let arranged = try Arrangement(gate: gate) { $0.memory.budget = 200 << 20 }
        for name in ["a/a", "a/b", "a/c"] { try arranged.device.activate(name, "1.0.0") }
        try arranged.device.setLength(60 << 20, of: "a/b")
        arranged.runtime.setBytes(120 << 20, ofPathsEndingIn: "a/a/1.0.0")
        _ = try await arranged.answer(try ModelRequest("a/a"))
        await gate.close()
        let holder = Task { try await arranged.answer(try ModelRequest("a/c")) }
        await gate.reached(2)
        let preload = Task { await arranged.library.preload([try ModelRequest("a/b")]) }
        await pause(0.2)
        let joined = Task { try await arranged.answer(try ModelRequest("a/b", priority: .high)) }
        await pause(0.2)
        await gate.open()
        _ = try await holder.value
        #expect(try await joined.value.hasSuffix("a/b/1.0.0"))
        #expect(try await preload.value.map { $0.failure == nil } == [true])
    }

    @Test("of those who join a load, the one who asked last says how much the model matters from then on")
    func lastOne() async throws {
        for last in [ModelPriority.high, .low] {
            let gate = Gate()
            let arranged = try Arrangement(gate: gate)
            var callers: [Task<String, any Error>] = []
            for number in 1...12 {
                let priority = number == 12 ? last : .normal
                let request = try ModelRequest(Arrangement.model, priority: priority)
                callers.append(Task { try await arranged.answer(request) })
                #expect(
                    await eventually { await arranged.library.loads.values.first?.waiters.count == number }
                )
            }
            await gate.open()
            for caller in callers { _ = try await caller.value }
            #expect(arranged.library.residents.map(\.priority) == [last])
        }
    }

    @MainActor
    @Test("who calls on the main actor uses the model there, and a load holds the main actor up for nothing")
    func mainActor() async throws {
        let gate = Gate()
        let arranged = try Arrangement(gate: gate)
        var uses = 0
        let ticker = Task { @MainActor in
            await gate.reached()
            await gate.open()
        }
        try await arranged.library.withModel(arranged.request) { lease in
            MainActor.assertIsolated()
            uses += 1
            _ = try await arranged.answer(lease)
            MainActor.assertIsolated()
        }
        await ticker.value
        #expect(uses == 1)
    }

    @Test("a pin stays through plain requests, swaps and warnings, until the app ends it")
    func pins() async throws {
        let arranged = try Arrangement()
        let library = arranged.library
        let pinned = try ModelRequest(Arrangement.model, isPinned: true)
        await library.preload([pinned])
        _ = try await arranged.answer()
        #expect(library.residents.map(\.isPinned) == [true])
        try arranged.activate("1.1.0")
        _ = try await arranged.answer()
        #expect(library.residents.map { "\($0.version) \($0.isPinned)" } == ["1.1.0 true"])
        library.report(.background)
        await pause(0.2)
        #expect(library.residents.map(\.isPinned) == [true])
        library.unpin(arranged.request)
        #expect(library.residents.map(\.isPinned) == [false])
        _ = try await arranged.answer()
        #expect(library.residents.map(\.isPinned) == [false])
    }

    @Test("unloading ends a pin; a lack of memory does not")
    func pinsAfterwards() async throws {
        let arranged = try Arrangement()
        let library = arranged.library
        _ = try await arranged.answer(try ModelRequest(Arrangement.model, isPinned: true))
        library.report(.critical)
        #expect(await eventually { library.residents.isEmpty })
        library.report(.normal)
        #expect(await eventually { (try? await arranged.answer()) != nil })
        #expect(library.residents.map(\.isPinned) == [true])
        await library.unload(arranged.request)
        _ = try await arranged.answer()
        #expect(library.residents.map(\.isPinned) == [false])
    }

    @Test("a preload makes nobody else go, whatever the residency policy", arguments: [1, 2])
    func preload(count: Int) async throws {
        let arranged = try Arrangement { $0.residency = count == 1 ? .onlyActive : .mostRecent(count) }
        let names = ["a/a", "a/b", "a/c"]
        for name in names { try arranged.device.activate(name, "1.0.0") }
        for name in names.prefix(count) {
            _ = try await arranged.answer(try ModelRequest(name, priority: .low))
        }
        let before = arranged.resident
        let outcomes = await arranged.library.preload([
            try ModelRequest("a/c"), try ModelRequest("a/unknown"), try ModelRequest("a/a"),
        ])
        #expect(arranged.resident == before)
        #expect(outcomes.map { $0.failure == nil } == [false, false, true])
        #expect(outcomes[0].failure as? ModelLibraryError == .notPreloaded(model: "a/c", kept: count))
        #expect(arranged.runtime.counts.loads.count == count, "nothing is loaded in vain")
        // Pinned ones come on top.
        let pinned = await arranged.library.preload([try ModelRequest("a/c", isPinned: true)])
        #expect(pinned.map { $0.failure == nil } == [true])
        #expect(arranged.resident.count == count + 1)
    }
}
