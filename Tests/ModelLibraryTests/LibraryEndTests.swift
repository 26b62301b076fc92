import Blocking
import ModelLibrary
import ModelLibraryTesting
import Testing

@Suite("Model library: its end", .timeLimit(.minutes(2)))
struct LibraryEndTests {
    /// A source that tells nothing and notes when nobody listens any more.
    private final class QuietSource: PressureSource, LifecycleSource {
        let ended = Guarded(0)
        private let kept = Guarded<[@Sendable () -> Void]>([])

        func levels() -> AsyncStream<MemoryPressure> { stream() }
        func phases() -> AsyncStream<LifecyclePhase> { stream() }

        private func stream<Element: Sendable>() -> AsyncStream<Element> {
            let (stream, continuation) = AsyncStream.makeStream(of: Element.self)
            let ended = ended
            continuation.onTermination = { _ in ended.withLock { $0 += 1 } }
            // Nobody calls it: what is kept could still tell something.
            kept.withLock { $0.append { continuation.finish() } }
            return stream
        }
    }

    /// A clock on which nobody wakes before being cancelled, and that counts who sleeps.
    private final class StandingClock: LibraryClock {
        let now = Duration.zero
        private let count = Guarded(0)

        var sleepers: Int { count.withLock { $0 } }

        func sleep(until time: Duration) async throws {
            count.withLock { $0 += 1 }
            defer { count.withLock { $0 -= 1 } }
            try await Blocking.sleep(seconds: 86_400)
        }
    }

    private let runtime = FakeRuntime()

    /// Uses a library that nobody keeps afterwards.
    private func use<Kept>(_ listen: (ModelLibrary) async -> Kept) async throws -> Kept {
        let device = FakeDevice()
        try device.activate("a/a", "1.0.0")
        let library = ModelLibrary(device: device, runtimes: [runtime])
        let kept = await listen(library)
        _ = try await library.withModel(try ModelRequest("a/a")) { $0.version }
        #expect(runtime.counts.alive.count == 1)
        return kept
    }

    private func gone() async { while !runtime.counts.alive.isEmpty { await Task.yield() } }

    @Test("a stream of events that is kept and never read keeps no library and no model, and ends")
    func keptStream() async throws {
        let stream = try await use { await $0.events() }
        await gone()
        var last: ModelLibraryEvent?
        for await event in stream { last = event }
        guard case .loaded = last else {
            Issue.record("the stream did not end with the load, but with \(String(describing: last))")
            return
        }
    }

    @Test("a task that reads events ends with the library")
    func readStream() async throws {
        let reader = try await use { library in
            let stream = await library.events()
            return Task { for await _ in stream {} }
        }
        await gone()
        await reader.value
    }

    @Test("a library that is gone sleeps for nothing")
    func timers() async throws {
        let (device, clock) = (FakeDevice(), StandingClock())
        try device.activate("a/a", "1.0.0")
        var library: ModelLibrary? = ModelLibrary(device: device, runtimes: [runtime], clock: clock)
        try await library?.withModel(try ModelRequest("a/a")) { _ in }
        #expect(await eventually { clock.sleepers == 1 }, "it looks after what is idle")
        library = nil
        await gone()
        #expect(await eventually { clock.sleepers == 0 })
    }

    @Test("a library that is gone listens to no source")
    func sources() async throws {
        let source = QuietSource()
        try await use { library in
            library.follow(pressure: source)
            library.follow(lifecycle: source)
        }
        await gone()
        while source.ended.withLock({ $0 }) < 2 { await Task.yield() }
    }
}
