import Inference
import ModelLibrary
import ModelLibraryTesting
import Testing

@Suite("Model library: leaving memory")
struct ResidencyTests {
    @Test("unloading frees an idle model, and the next request loads it again")
    func unload() async throws {
        let arranged = try Arrangement()
        _ = try await arranged.answer()
        #expect(arranged.runtime.counts.alive.count == 1)
        await arranged.library.unload(arranged.request)
        #expect(arranged.runtime.counts.alive.isEmpty)
        #expect(arranged.library.residents.isEmpty)
        _ = try await arranged.answer()
        #expect(arranged.runtime.counts.loads.count == 2)
    }

    @Test("a model in use is not freed before its last lease ends")
    func inUse() async throws {
        let arranged = try Arrangement()
        try await arranged.library.withModel(arranged.request) { lease in
            await arranged.library.unloadAll(reason: "memory warning")
            #expect(arranged.runtime.counts.alive.count == 1)
            #expect(arranged.library.residents.map(\.isLeaving) == [true])
            let answer = try await arranged.answer(lease)
            #expect(answer == "/models/vision/detector/1.0.0")
        }
        #expect(arranged.runtime.counts.alive.isEmpty)
    }

    @Test("a version that is active again while it leaves stays, and is not loaded twice")
    func revived() async throws {
        let arranged = try Arrangement()
        try await arranged.library.withModel(arranged.request) { _ in
            try arranged.activate("1.1.0")
            _ = try await arranged.answer()
            try arranged.activate("1.0.0")
            _ = try await arranged.answer()
        }
        #expect(arranged.library.residents.map(\.isLeaving) == [false])
        #expect(arranged.runtime.counts.loads.count == 2)
    }

    @Test("one that leaves for another version goes all the same when the app unloads the model meanwhile")
    func unloadedWhileLeaving() async throws {
        let arranged = try Arrangement()
        try await arranged.library.withModel(arranged.request) { _ in
            try arranged.activate("1.1.0")
            _ = try await arranged.answer()
            await arranged.library.unload(arranged.request)
            try arranged.activate("1.0.0")
            _ = try await arranged.answer()
            #expect(arranged.library.residents.map(\.isLeaving) == [true])
        }
        #expect(arranged.library.residents.isEmpty)
        #expect(arranged.runtime.counts.alive.isEmpty)
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
        #expect(arranged.library.residents.isEmpty)
        #expect(arranged.runtime.counts.alive.isEmpty)
    }

    @Test("a new version is loaded beside the old, which goes when its lease ends")
    func swap() async throws {
        let arranged = try Arrangement()
        try await arranged.library.withModel(arranged.request) { old in
            try arranged.activate("1.1.0")
            #expect(try await arranged.answer() == "/models/vision/detector/1.1.0")
            #expect(try await arranged.answer(old) == "/models/vision/detector/1.0.0")
            #expect(arranged.runtime.counts.alive.count == 2)
        }
        #expect(arranged.runtime.counts.alive == ["/models/vision/detector/1.1.0"])
        #expect(arranged.library.residents.map(\.version) == ["1.1.0"])
    }

    @Test(
        "an old version that leaves with its last lease takes no place from those that stay",
        arguments: [ResidencyPolicy.onlyActive, .mostRecent(2)]
    )
    func leaving(policy: ResidencyPolicy) async throws {
        let arranged = try Arrangement { $0.residency = policy }
        let other = try ModelRequest("a/other")
        try arranged.device.activate("a/other", "1.0.0")
        if policy != .onlyActive { _ = try await arranged.answer(other) }
        try await arranged.library.withModel(arranged.request) { _ in
            try arranged.activate("1.1.0")
            arranged.clock.advance(by: .seconds(1))
            _ = try await arranged.answer()
            arranged.clock.advance(by: .seconds(1))
        }
        let rest = policy == .onlyActive ? [] : ["a/other 1.0.0"]
        #expect(arranged.resident == rest + ["vision/detector 1.1.0"])
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
                try arranged.activate("1.\(minor).0")
                _ = try await arranged.answer()
            }
            let calls = try await group.reduce(0, +)
            #expect(calls == 400)
        }
        #expect(try await arranged.answer() == "/models/vision/detector/1.50.0")
        #expect(arranged.library.residents.map(\.version) == ["1.50.0"])
        #expect(await eventually { arranged.runtime.counts.alive == ["/models/vision/detector/1.50.0"] })
    }

    @Test("events tell loads, refusals and departures in order")
    func events() async throws {
        let arranged = try Arrangement()
        let stream = await arranged.library.events()
        _ = try await arranged.answer()
        arranged.runtime.failNextLoad("broken")
        try arranged.activate("1.1.0")
        _ = try await arranged.answer()
        let departures = await arranged.library.events()
        try arranged.activate("1.2.0")
        _ = try await arranged.answer()
        // Freed after the answer, which no engine holds up.
        _ = await told(departures) { event in
            if case .evicted(_, "1.0.0", _) = event { true } else { false }
        }
        await arranged.library.unloadAll(reason: "background")
        let events = await told(stream) { event in
            if case .evicted(_, "1.2.0", _) = event { true } else { false }
        }
        let words = events.map { event in
            switch event {
            case .loaded(let record): "loaded \(record.version) by \(record.runtime)"
            case .refused(_, let version, _): "refused \(version)"
            case .evicted(_, let version, let reason): "evicted \(version) \(reason)"
            case .fellBack(_, let from, let to, _): "\(to) for \(from)"
            default: "\(event)"
            }
        }
        #expect(
            words == [
                "loaded 1.0.0 by fake 1.0.0", "refused 1.1.0", "1.0.0 for 1.1.0",
                "loaded 1.2.0 by fake 1.0.0", "evicted 1.0.0 replaced", "evicted 1.2.0 all(\"background\")",
            ]
        )
    }
}
