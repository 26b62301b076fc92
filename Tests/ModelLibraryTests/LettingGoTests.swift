import Blocking
import Durable
import Inference
import ModelLibraryTesting
import Support
import Testing

@testable import ModelLibrary

@Suite("Model library: letting go of models", .timeLimit(.minutes(2)))
struct LettingGoTests {
    private let other = ModelPorts(inputs: [], outputs: [])

    private func device(_ names: [String]) throws -> FakeDevice {
        let device = FakeDevice()
        for name in names { try device.activate(name, "1.0.0") }
        return device
    }

    @Test("an engine that takes long to free a model that was refused holds up no other model")
    func refused() async throws {
        let (hold, frees) = (Cancellation(), Cancellation())
        defer { hold.cancel() }
        let device = try device(["a/lies", "a/fine"])
        try device.setPorts(other, of: "a/lies")
        let runtime = RoughRuntime(onFree: { entry in
            guard entry.contains("lies") else { return }
            frees.cancel()
            _ = hold.wait(seconds: 30)
        })
        let library = ModelLibrary(device: device, runtimes: [runtime])
        let refused = Task { try await library.withModel(try ModelRequest("a/lies")) { _ in } }
        #expect(await eventually { frees.isCancelled })
        let fine = await timed {
            try await library.withModel(try ModelRequest("a/fine", deadline: .seconds(20))) { _ in }
        }
        #expect(fine.error == nil)
        #expect(fine.took < .seconds(15))
        hold.cancel()
        await #expect(throws: ModelLibraryError.self) { try await refused.value }
    }

    @Test("what a refused model took is given back to the system before the next one is loaded")
    func givenBack() async throws {
        let arranged = try Arrangement(ports: other)
        await #expect(throws: ModelLibraryError.self) { try await arranged.answer() }
        #expect(arranged.runtime.counts.alive.isEmpty)
        #expect(arranged.memory.timesGivenBack == 1)
    }

    @Test("a record that cannot be written yet keeps no model in memory")
    func record() async throws {
        let scratch = Scratch()
        let file = scratch.path("library.json")
        let arranged = try Arrangement { $0.recordFile = file }
        let lock = try DirectoryLock(file + ".lock")
        defer { withExtendedLifetime(lock) {} }
        _ = try await arranged.answer()
        #expect(await eventually { await arranged.library.keeping.last != nil })
        await arranged.library.clear()
        #expect(arranged.runtime.counts.alive.isEmpty)
    }

    @Test("a question to the device that is not answered keeps no model in memory")
    func question() async throws {
        let (hold, asks, freed) = (Cancellation(), Cancellation(), Cancellation())
        defer { hold.cancel() }
        let fake = try device(["a/a"])
        let source = RoughDevice(
            device: fake,
            beforeAnswer: { _ in
                asks.cancel()
                _ = hold.wait(seconds: 30)
            }
        )
        var configuration = LibraryConfiguration()
        configuration.recheck = .zero
        configuration.swap = .besideWithoutWaiting
        let runtime = RoughRuntime(
            onLoad: { path in
                if path.hasSuffix("1.1.0") { _ = await BlockingPool.shared.run { hold.wait(seconds: 30) } }
            },
            onFree: { if $0.hasSuffix("1.0.0") { freed.cancel() } }
        )
        let library = ModelLibrary(
            source: source,
            runtimes: [runtime],
            configuration: configuration,
            probe: FakeMemory(limit: nil),
            turn: LoadTurn()
        )
        try await library.withModel(try ModelRequest("a/a")) { _ in }
        try fake.activate("a/a", "1.1.0")
        let caller = Task { try await library.withModel(try ModelRequest("a/a")) { $0.version } }
        #expect(await eventually { asks.isCancelled })
        await library.clear()
        #expect(freed.isCancelled)
        hold.cancel()
        #expect(try await caller.value == "1.1.0")
    }

    @Test("a critical level frees all at once, though an engine is still busy with what a warning freed")
    func pressure() async throws {
        let (hold, frees) = (Cancellation(), Cancellation())
        defer { hold.cancel() }
        let runtime = RoughRuntime(onFree: { entry in
            guard entry.contains("slow") else { return }
            frees.cancel()
            _ = hold.wait(seconds: 60)
        })
        // Its clock stands still, so that nothing is waited for in vain.
        let library = ModelLibrary(
            device: try device(["a/slow", "a/pinned"]),
            runtimes: [runtime],
            clock: ManualLibraryClock()
        )
        try await library.withModel(try ModelRequest("a/slow")) { _ in }
        try await library.withModel(try ModelRequest("a/pinned", isPinned: true)) { _ in }
        library.report(.warning)
        #expect(await eventually { frees.isCancelled })
        #expect(library.residents.map(\.model) == ["a/pinned"])
        library.report(.critical)
        #expect(await eventually { library.residents.isEmpty })
        library.report(.background)
        library.report(.normal)
        #expect(await eventually { await library.pressure == .normal })
    }

    @Test("disks that do not take a note of a load hold up no question about memory")
    func notes() async throws {
        let hold = Cancellation()
        defer { hold.cancel() }
        func library(_ note: (any LoadNote)?) throws -> ModelLibrary {
            ModelLibrary(
                source: RoughDevice(device: try device(["a/a"]), note: note),
                runtimes: [RoughRuntime()],
                probe: FakeMemory(limit: nil),
                turn: LoadTurn()
            )
        }
        let note = HungNote(hold: hold)
        let stuck = try (0..<4).map { _ in try library(note) }
        let callers = stuck.map { library in
            Task { try await library.withModel(try ModelRequest("a/a")) { _ in } }
        }
        #expect(await eventually { note.begun.withLock { $0 } == 4 })
        let fine = try library(nil)
        let took = await timed {
            try await fine.withModel(try ModelRequest("a/a", deadline: .seconds(10))) { _ in }
        }
        #expect(took.error == nil)
        hold.cancel()
        for caller in callers { try await caller.value }
    }
}

/// A note on a disk that does not answer before the test says so.
private final class HungNote: LoadNote {
    let begun = Guarded(0)
    private let hold: Cancellation

    init(hold: Cancellation) { self.hold = hold }

    func begin() {
        begun.withLock { $0 += 1 }
        _ = hold.wait(seconds: 30)
    }

    func end(hasLoaded: Bool) {}
}
