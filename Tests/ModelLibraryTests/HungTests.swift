import Blocking
import Foundation
import Inference
import ModelLibraryTesting
import Names
import Testing

@testable import ModelLibrary

/// What never comes back holds up itself, and callers no longer than they wish.
@Suite("Model library: what does not come back", .timeLimit(.minutes(2)))
struct HungTests {
    private func library(
        _ source: any ModelSource,
        _ runtime: RoughRuntime = RoughRuntime(),
        turn: LoadTurn = LoadTurn(),
        _ configure: (inout LibraryConfiguration) -> Void = { _ in }
    ) -> ModelLibrary {
        var configuration = LibraryConfiguration()
        configuration.recheck = .zero
        configure(&configuration)
        return ModelLibrary(
            source: source,
            runtimes: [runtime],
            configuration: configuration,
            probe: FakeMemory(limit: nil),
            turn: turn
        )
    }

    private func device(_ names: [String]) throws -> FakeDevice {
        let device = FakeDevice()
        for name in names { try device.activate(name, "1.0.0") }
        return device
    }

    private func request(_ name: String, _ milliseconds: Int = 300) throws -> ModelRequest {
        try ModelRequest(name, deadline: .milliseconds(milliseconds))
    }

    @Test(
        "a look at a disk that does not answer holds no caller past its deadline, nor one that is cancelled"
    )
    func look() async throws {
        let hold = Cancellation()
        defer { hold.cancel() }
        let source = RoughDevice(
            device: try device(["a/hangs", "a/fine"]),
            beforeLook: { if $0.description == "a/hangs" { _ = hold.wait(seconds: 60) } }
        )
        let library = library(source)
        let late = await timed { try await library.withModel(try request("a/hangs")) { _ in } }
        #expect(late.took < .seconds(10))
        guard case .timedOut("a/hangs", _) = late.error as? ModelLibraryError else {
            Issue.record("another outcome: \(late)")
            return
        }
        let cancelled = Task { try await library.withModel(try ModelRequest("a/hangs")) { _ in } }
        await pause(0.1)
        cancelled.cancel()
        let ended = await timed { try await cancelled.value }
        #expect(ended.took < .seconds(10))
        #expect(ended.error is CancellationError)
        let fine = await timed { try await library.withModel(try request("a/fine", 10_000)) { _ in } }
        #expect(fine.error == nil)
    }

    @Test("looks that hang use up neither their threads nor those of this process")
    func manyLooks() async throws {
        let (hold, calls) = (Cancellation(), Guarded(0))
        defer { hold.cancel() }
        let source = RoughDevice(
            device: try device(["a/hangs", "a/fine"]),
            beforeLook: { name in
                guard name.description == "a/hangs" else { return }
                calls.withLock { $0 += 1 }
                _ = hold.wait(seconds: 60)
            }
        )
        let library = library(source)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<60 {
                group.addTask {
                    _ = await timed { try await library.withModel(try request("a/hangs", 200)) { _ in } }
                }
            }
        }
        #expect(calls.withLock { $0 } == 1, "one look answers for all who wait for one")
        let fine = await timed { try await library.withModel(try request("a/fine", 10_000)) { _ in } }
        #expect(fine.error == nil)
        let pool = await timed { await BlockingPool.shared.run {} }
        #expect(pool.took < .seconds(10))
    }

    @Test("questions that hang are as few at a time as looks, and hold no caller past its deadline")
    func manyQuestions() async throws {
        let (hold, calls) = (Cancellation(), Guarded(0))
        let names = (0..<12).map { "a/m\($0)" }
        let device = try device(names)
        let source = RoughDevice(
            device: device,
            beforeAnswer: { _ in
                calls.withLock { $0 += 1 }
                _ = hold.wait(seconds: 60)
            }
        )
        let gate = Cancellation()
        defer { gate.cancel() }
        let runtime = RoughRuntime(onLoad: { path in
            if path.hasSuffix("1.1.0") {
                await BlockingPool.shared.run { _ = gate.wait(seconds: 60) }
            }
        })
        let library = library(source, runtime) { $0.swap = .besideWithoutWaiting }
        for name in names { try await library.withModel(try ModelRequest(name)) { _ in } }
        for name in names { try device.activate(name, "1.1.0") }
        let late = await withTaskGroup(of: Bool.self) { group in
            for name in names {
                group.addTask {
                    let call = await timed { try await library.withModel(try request(name, 500)) { _ in } }
                    return call.error is ModelLibraryError && call.took < .seconds(10)
                }
            }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(late == names.count)
        #expect(calls.withLock { $0 } <= 4, "as many as looks")
        hold.cancel()
        // Nobody waits for those that never began.
        let standing = await timed {
            let version = try await library.withModel(try request("a/m0", 20_000)) { $0.version }
            #expect(version == "1.0.0")
        }
        #expect(standing.error == nil, "\(standing)")
        #expect(calls.withLock { $0 } <= 6)
    }

    @Test("calls that fill the threads of this process hold up no deadline, no look and no cancellation")
    func pool() async throws {
        let hold = Cancellation()
        defer { hold.cancel() }
        for _ in 0..<16 {
            Task { await BlockingPool.shared.run { _ = hold.wait(seconds: 60) } }
        }
        let library = library(try device(["a/a", "a/b"]))
        let cold = await timed { try await library.withModel(try request("a/a", 20_000)) { _ in } }
        #expect(cold.error == nil)
        let freed = await timed { await library.clear() }
        #expect(freed.took < .seconds(10))
        #expect(library.residents.isEmpty)
    }

    @Test("an engine that takes long to free a model holds up nobody who waits for the next version")
    func free() async throws {
        let hold = Cancellation()
        defer { hold.cancel() }
        let device = try device(["a/a"])
        let library = library(device, RoughRuntime(onFree: { _ in _ = hold.wait(seconds: 60) }))
        try await library.withModel(try ModelRequest("a/a")) { _ in }
        try device.activate("a/a", "1.1.0")
        let next = await timed {
            let version = try await library.withModel(try request("a/a", 5_000)) { $0.version }
            #expect(version == "1.1.0")
        }
        #expect(next.error == nil)
        #expect(next.took < .seconds(5))
        #expect(library.residents.map(\.version) == ["1.1.0"])
        library.report(.critical)
        #expect(await eventually { await library.pressure == .critical })
        library.report(.normal)
        #expect(await eventually { await library.pressure == .normal && library.residents.isEmpty })
    }

    @Test("a lease whose model is slow to be freed ends when its caller is done or cancelled")
    func lastLease() async throws {
        let hold = Cancellation()
        defer { hold.cancel() }
        let library = library(try device(["a/a"]), RoughRuntime(onFree: { _ in _ = hold.wait(seconds: 60) }))
        let caller = Task {
            try await library.withModel(try ModelRequest("a/a")) { _ in await library.clear() }
        }
        let ended = await timed { try await caller.value }
        #expect(ended.took < .seconds(20))
        #expect(ended.error == nil)
    }

    @Test("who waits behind a load that never returns hears whose it is, in this library and in others")
    func culprit() async throws {
        let (gate, turn) = (Gate(), LoadTurn())
        let device = try device(["a/hangs", "a/fine"])
        let runtime = RoughRuntime(onLoad: { if $0.contains("hangs") { await gate.pass() } })
        let (library, other) = (library(device, runtime, turn: turn), library(device, runtime, turn: turn))
        let first = Task { try await library.withModel(try ModelRequest("a/hangs")) { _ in } }
        await gate.reached()
        for waiting in [library, other] {
            let late = await timed { try await waiting.withModel(try request("a/fine")) { _ in } }
            guard case .behind("a/fine", _, let culprit)? = late.error as? ModelLibraryError else {
                Issue.record("another outcome: \(late)")
                continue
            }
            #expect(culprit == "a/hangs 1.0.0")
        }
        await gate.open()
        try await first.value
        try await library.withModel(try ModelRequest("a/fine")) { _ in }
        try await other.withModel(try ModelRequest("a/fine")) { _ in }
    }

    @Test("a version whose opening never returns passes the turn on like a runtime that does not")
    func opening() async throws {
        let hold = Cancellation()
        defer { hold.cancel() }
        let source = RoughDevice(
            device: try device(["a/hangs", "a/fine"]),
            beforeOpening: { if $0.description == "a/hangs" { _ = hold.wait(seconds: 60) } }
        )
        let library = library(source) { $0.longLoad = .milliseconds(200) }
        let stream = await library.events()
        let first = Task { try await library.withModel(try request("a/hangs", 2_000)) { _ in } }
        let fine = await timed {
            await pause(0.1)
            try await library.withModel(try request("a/fine", 20_000)) { _ in }
        }
        #expect(fine.error == nil)
        let expected = ModelLibraryEvent.longLoad(
            model: "a/hangs",
            version: "1.0.0",
            after: .milliseconds(200)
        )
        #expect(await told(stream) { $0 == expected }.last == expected)
        await #expect(throws: ModelLibraryError.self) { try await first.value }
    }

    @Test("a load that others may load beside counts for the budget as what is loaded does")
    func budget() async throws {
        let gate = Gate()
        let arranged = try Arrangement(gate: gate) { configuration in
            configuration.memory.budget = 500 << 20
            configuration.longLoad = .seconds(10)
        }
        let callers = try ["a/slow", "a/other"].map { name in
            try arranged.device.activate(name, "1.0.0")
            try arranged.device.setLength(250 << 20, of: name)
            arranged.runtime.setBytes(250 << 20, ofPathsEndingIn: "\(name)/1.0.0")
            return try ModelRequest(name, deadline: .seconds(1_000))
        }
        let slow = Task { try await arranged.answer(callers[0]) }
        await gate.reached()
        let stream = await arranged.library.events()
        let other = Task { try await arranged.answer(callers[1]) }
        arranged.clock.advance(by: .seconds(11))
        _ = await told(stream) { if case .longLoad = $0 { true } else { false } }
        #expect(await eventually { await !arranged.library.roomWaiters.isEmpty })
        #expect(arranged.runtime.counts.loads.count == 1)
        await gate.open()
        #expect(try await slow.value.hasSuffix("slow/1.0.0"))
        #expect(try await other.value.hasSuffix("other/1.0.0"))
        #expect(arranged.resident == ["a/other 1.0.0"])
    }

    @Test("a broken version without waiting is not loaded again at each call")
    func brokenWithoutWaiting() async throws {
        let (device, count) = (try device(["a/a"]), Guarded(0))
        let runtime = RoughRuntime(onLoad: { path in
            guard path.hasSuffix("1.1.0") else { return }
            count.withLock { $0 += 1 }
            throw FakeFailure(text: "not now", isModelAtFault: false)
        })
        let library = library(device, runtime) { $0.swap = .besideWithoutWaiting }
        try await library.withModel(try ModelRequest("a/a")) { _ in }
        try device.activate("a/a", "1.1.0")
        for _ in 0..<100 {
            let version = try await library.withModel(try ModelRequest("a/a")) { $0.version }
            #expect(version == "1.0.0")
            await pause(0.002)
        }
        #expect(count.withLock { $0 } == 1)
    }

    @Test(
        "times of nothing, or less, make nobody look all the time",
        arguments: [Duration.zero, .microseconds(1), .seconds(-1)],
        [true, false]
    )
    func sweeping(time: Duration, isIdle: Bool) async throws {
        let clock = CountingClock()
        var configuration = LibraryConfiguration()
        if isIdle { configuration.idleTimeout = time } else { configuration.longLease = time }
        let library = ModelLibrary(
            device: try device(["a/a"]),
            runtimes: [FakeRuntime()],
            configuration: configuration,
            clock: clock
        )
        try await library.withModel(try ModelRequest("a/a")) { _ in await pause(1) }
        #expect(clock.sleeps < 40)
        if isIdle { #expect(await eventually { library.residents.isEmpty }) }
    }
}
