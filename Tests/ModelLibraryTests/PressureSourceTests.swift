import Blocking
import ModelLibrary
import ModelLibraryTesting
import Testing

@Suite("Model library: sources of pressure", .timeLimit(.minutes(2)))
struct PressureSourceTests {
    private func isCritical(_ arranged: Arrangement) async -> Bool {
        do {
            _ = try await arranged.answer()
            return false
        } catch {
            return error as? ModelLibraryError == .underPressure(model: Arrangement.model)
        }
    }

    @Test("of several sources the worst counts, and one that falls back hides no other")
    func worst() async throws {
        let arranged = try Arrangement()
        let (one, two) = (ReportedSignals(), ReportedSignals())
        let stream = await arranged.library.events()
        arranged.library.follow(pressure: one)
        arranged.library.follow(pressure: two)
        one.report(.critical)
        _ = await told(stream) { $0 == .pressure(.critical) }
        two.report(.warning)
        two.report(.normal)
        arranged.library.report(.normal)
        await pause(0.3)
        #expect(await isCritical(arranged), "the first source still says so")
        one.report(.normal)
        _ = await told(stream) { $0 == .pressure(.normal) }
        #expect(await !isCritical(arranged))
    }

    @Test("a source that ends says nothing any more")
    func ended() async throws {
        let arranged = try Arrangement()
        let stream = await arranged.library.events()
        let (levels, source) = AsyncStream.makeStream(of: MemoryPressure.self)
        arranged.library.follow(pressure: PassingPressure(stream: levels))
        source.yield(.critical)
        _ = await told(stream) { $0 == .pressure(.critical) }
        source.finish()
        _ = await told(stream) { $0 == .pressure(.normal) }
        #expect(await !isCritical(arranged))
    }

    @Test("a warning of two sources is no second warning of one")
    func warnedTwice() async throws {
        let arranged = try Arrangement()
        let high = try ModelRequest(Arrangement.model, priority: .high)
        _ = try await arranged.answer(high)
        let (one, two) = (ReportedSignals(), ReportedSignals())
        let stream = await arranged.library.events()
        arranged.library.follow(pressure: one)
        arranged.library.follow(pressure: two)
        one.report(.warning)
        _ = await told(stream) { $0 == .pressure(.warning) }
        two.report(.warning)
        await pause(0.3)
        #expect(arranged.library.residents.count == 1)
        two.report(.warning)
        #expect(await eventually { arranged.library.residents.isEmpty })
    }

    @Test(
        "the foreground ends what a trim level of Android said of an app that nobody sees",
        arguments: [15, 80]
    )
    func foreground(level: Int) async throws {
        let arranged = try Arrangement()
        let signals = ReportedSignals()
        let stream = await arranged.library.events()
        arranged.library.follow(pressure: signals)
        arranged.library.follow(lifecycle: signals)
        signals.report(androidTrimLevel: 20)
        signals.report(androidTrimLevel: level)
        _ = await told(stream) { $0 == .pressure(.critical) }
        #expect(await isCritical(arranged))
        signals.report(.foreground)
        #expect(await eventually { await !isCritical(arranged) })
    }

    @Test("a trim level whose end nobody tells passes, and one that the app reports itself does not")
    func passing() async throws {
        let clock = ManualLibraryClock()
        let arranged = try Arrangement()
        let signals = ReportedSignals(clock: clock)
        let stream = await arranged.library.events()
        arranged.library.follow(pressure: signals)
        signals.report(androidTrimLevel: 15)
        _ = await told(stream) { $0 == .pressure(.critical) }
        await clock.sleeping()
        // Said again, so that it counts from now on.
        clock.advance(by: .seconds(20))
        signals.report(androidTrimLevel: 15)
        await clock.sleeping(2)
        clock.advance(by: .seconds(11))
        await pause(0.2)
        #expect(await isCritical(arranged))
        clock.advance(by: .seconds(20))
        #expect(await eventually { await !isCritical(arranged) })
        signals.report(.critical)
        #expect(await eventually { await isCritical(arranged) })
        clock.advance(by: .seconds(3_600))
        signals.report(.foreground)
        await pause(0.2)
        #expect(await isCritical(arranged))
    }

    @Test("a milder trim level ends a critical one")
    func milder() async throws {
        let arranged = try Arrangement()
        let signals = ReportedSignals()
        let stream = await arranged.library.events()
        arranged.library.follow(pressure: signals)
        signals.report(androidTrimLevel: 15)
        _ = await told(stream) { $0 == .pressure(.critical) }
        signals.report(androidTrimLevel: 5)
        #expect(await eventually { await !isCritical(arranged) })
    }

    @Test("a model in use under critical pressure goes with its last lease, also when leases overlap")
    func overlapping() async throws {
        let arranged = try Arrangement()
        let library = arranged.library
        try await library.withModel(arranged.request) { _ in
            library.report(.critical)
            #expect(await eventually { library.residents.map(\.isLeaving) == [true] })
            // It is there, and costs nothing more; but it is on its way out.
            _ = try await arranged.answer()
            #expect(library.residents.map(\.isLeaving) == [true])
        }
        #expect(library.residents.isEmpty)
        #expect(arranged.runtime.counts.alive.isEmpty)
    }

    @Test("a load that is in progress when memory becomes critically scarce goes with those who wait for it")
    func loading() async throws {
        let gate = Gate()
        let arranged = try Arrangement(gate: gate)
        let stream = await arranged.library.events()
        let caller = Task { try await arranged.answer() }
        await gate.reached()
        arranged.library.report(.critical)
        _ = await told(stream) { $0 == .pressure(.critical) }
        await gate.open()
        #expect(try await caller.value.hasSuffix("1.0.0"))
        #expect(await eventually { arranged.library.residents.isEmpty })
    }

    @Test("what an app unloads goes with its last lease, also when leases overlap", arguments: [0, 1, 2])
    func unloaded(way: Int) async throws {
        let arranged = try Arrangement()
        let library = arranged.library
        try await library.withModel(arranged.request) { _ in
            switch way {
            case 0: await library.unloadAll(reason: "the app says so")
            case 1: await library.clear()
            default: await library.unload(arranged.request)
            }
            _ = try await arranged.answer()
            #expect(arranged.runtime.counts.loads.count == 1, "it is not loaded twice")
        }
        #expect(library.residents.isEmpty)
        #expect(arranged.runtime.counts.alive.isEmpty)
        _ = try await arranged.answer()
        #expect(arranged.runtime.counts.loads.count == 2)
    }
}

/// What a test says, until it says no more.
private struct PassingPressure: PressureSource {
    let stream: AsyncStream<MemoryPressure>

    func levels() -> AsyncStream<MemoryPressure> { stream }
}
