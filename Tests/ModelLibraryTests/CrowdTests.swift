import Inference
import ModelLibraryTesting
import Testing

@testable import ModelLibrary

/// Many callers at once, on clocks that go and memory that is short.
@Suite("Model library: crowds", .serialized, .timeLimit(.minutes(3)))
struct CrowdTests {
    private static func version(_ library: ModelLibrary, _ request: ModelRequest) async throws -> String {
        try await library.withModel(request) { $0.version }
    }

    @Test(
        "three thousand callers of a cold model, a third of them cancelled, cause one load and leave no lease"
    )
    func callers() async throws {
        let (device, gate) = (FakeDevice(), Gate())
        try device.activate(Arrangement.model, "1.0.0")
        let runtime = FakeRuntime(gate: gate)
        let library = ModelLibrary(device: device, runtimes: [runtime])
        let tasks = (0..<3_000).map { number in
            Task {
                let request = try ModelRequest(
                    Arrangement.model,
                    priority: ModelPriority.allCases[number % 3],
                    isPinned: number % 7 == 0
                )
                return try await Self.version(library, request)
            }
        }
        await gate.reached()
        for number in stride(from: 0, to: 3_000, by: 3) { tasks[number].cancel() }
        await gate.open()
        var (fine, cancelled, wrong) = (0, 0, 0)
        for task in tasks {
            switch await task.result {
            case .success: fine += 1
            case .failure(is CancellationError): cancelled += 1
            case .failure: wrong += 1
            }
        }
        #expect(wrong == 0)
        #expect(fine >= 2_000)
        #expect(fine + cancelled == 3_000)
        #expect(runtime.counts.loads.count == 1)
        #expect(await eventually { library.residents.map(\.leases) == [0] })
    }

    @Test("a lease within a lease is lent, of another model as far as there is room")
    func nested() async throws {
        let arranged = try Arrangement { configuration in
            configuration.memory.budget = 100 << 20
            configuration.memory.patience = .seconds(2)
            configuration.residency = .onlyActive
        }
        for name in ["a/a", "a/b"] {
            try arranged.device.activate(name, "1.0.0")
            arranged.runtime.setBytes(80 << 20, ofPathsEndingIn: "\(name)/1.0.0")
        }
        let (outer, other) = (try ModelRequest("a/a"), try ModelRequest("a/b"))
        let clock = arranged.clock
        let library = arranged.library
        try await library.withModel(outer) { _ in
            let again = try await Self.version(library, outer)
            #expect(again == "1.0.0")
            let inner = Task { try await Self.version(library, other) }
            #expect(await eventually { await !library.roomWaiters.isEmpty })
            // The timer of its patience, beside the sweep and the deadline.
            await clock.sleeping(3)
            clock.advance(by: .seconds(3))
            let error = await #expect(throws: ModelLibraryError.self) { try await inner.value }
            guard case .doesNotFit("a/b", _, _, _, _) = error else {
                Issue.record("another error: \(String(describing: error))")
                return
            }
        }
        #expect(try await Self.version(library, other) == "1.0.0")
    }

    @Test(
        "a device that switches all the time fails no call",
        arguments: [
            SwapPolicy.beside, .oldFirst, .besideWithoutWaiting,
        ]
    )
    func switching(policy: SwapPolicy) async throws {
        let device = FakeDevice()
        try device.activate(Arrangement.model, "1.0.0")
        let runtime = RoughRuntime(onLoad: { _ in await pause(0.005) })
        var configuration = LibraryConfiguration()
        configuration.swap = policy
        configuration.recheck = .zero
        let library = ModelLibrary(device: device, runtimes: [runtime], configuration: configuration)
        let request = try ModelRequest(Arrangement.model)
        let end = SystemClock().now + .seconds(2)
        let failures = await withTaskGroup(of: [String].self) { group in
            for _ in 0..<8 {
                group.addTask {
                    var failures: [String] = []
                    while SystemClock().now < end {
                        let outcome = await timed { _ = try await Self.version(library, request) }
                        if let error = outcome.error { failures.append("\(error)") }
                    }
                    return failures
                }
            }
            group.addTask {
                var number = 0
                while SystemClock().now < end {
                    number += 1
                    try? device.activate(Arrangement.model, "1.\(number).0")
                    await pause(0.05)
                }
                return []
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
        #expect(Set(failures) == [])
        _ = try await Self.version(library, request)
        #expect(await eventually { library.residents.map(\.leases) == [0] })
    }

    @Test(
        "chaos leaves no lease, no model and no byte, and no error without a type",
        arguments: [true, false]
    )
    func chaos(isFirst: Bool) async throws {
        let names = (0..<5).map { "m/m\($0)" }
        let (device, memory) = (FakeDevice(), FakeMemory(limit: 4 << 30))
        let runtime = FakeRuntime(memory: memory)
        for name in names {
            try device.activate(name, "1.0.0")
            runtime.setBytes(70 << 20, ofPathsEndingIn: "\(name)/1.0.0")
            runtime.setBytes(90 << 20, ofPathsEndingIn: "\(name)/1.1.0")
            runtime.failLoads(ofPathsEndingIn: "\(name)/1.2.0")
        }
        var configuration = LibraryConfiguration()
        configuration.memory.budget = 300 << 20
        configuration.memory.patience = .milliseconds(200)
        configuration.recheck = isFirst ? .zero : .milliseconds(5)
        configuration.retryAfter = .milliseconds(50)
        configuration.idleTimeout = .milliseconds(40)
        configuration.residency = isFirst ? .everything : .mostRecent(3)
        configuration.swap = isFirst ? .beside : .oldFirst
        let library = ModelLibrary(
            device: device,
            runtimes: [runtime],
            configuration: configuration,
            memory: memory
        )
        let end = SystemClock().now + .seconds(4)
        let outcomes = await withTaskGroup(of: [String: Int].self) { group in
            for worker in 0..<24 {
                group.addTask { await Self.work(library, names, until: end, cancelling: worker % 4 == 0) }
            }
            group.addTask {
                await Self.disturb(library, device, names, until: end)
                return [:]
            }
            return await group.reduce(into: [String: Int]()) { $0.merge($1) { $0 + $1 } }
        }
        #expect((outcomes["answered"] ?? 0) > 50, "\(outcomes)")
        #expect(outcomes["untyped"] == nil, "\(outcomes)")
        await library.clear()
        #expect(await eventually { library.residents.isEmpty && runtime.counts.alive.isEmpty })
        #expect(memory.taken == 0)
    }

    private static func work(
        _ library: ModelLibrary,
        _ names: [String],
        until end: Duration,
        cancelling: Bool
    ) async -> [String: Int] {
        var outcomes: [String: Int] = [:]
        while SystemClock().now < end {
            let name = names[Int.random(in: 0..<names.count)]
            let task = Task {
                var request = try ModelRequest(name, priority: ModelPriority.allCases[Int.random(in: 0..<3)])
                if Int.random(in: 0..<4) == 0 { request.deadline = .milliseconds(Int.random(in: 0..<20)) }
                if Int.random(in: 0..<20) == 0 { request.isPinned = true }
                return try await library.withModel(request) { lease in
                    _ = try await lease.run(["x": try Tensor([Float(1), 2], shape: [2])])
                    await pause(Double.random(in: 0..<0.01))
                }
            }
            if cancelling {
                await pause(Double.random(in: 0..<0.01))
                task.cancel()
            }
            let outcome =
                switch await task.result {
                case .success: "answered"
                case .failure(is CancellationError) where cancelling: "cancelled"
                case .failure(is ModelLibraryError): "refused"
                case .failure: "untyped"
                }
            outcomes[outcome, default: 0] += 1
        }
        return outcomes
    }

    private static func disturb(
        _ library: ModelLibrary,
        _ device: FakeDevice,
        _ names: [String],
        until end: Duration
    ) async {
        while SystemClock().now < end {
            let name = names[Int.random(in: 0..<names.count)]
            switch Int.random(in: 0..<12) {
            case 0: library.report(MemoryPressure.allCases[Int.random(in: 0..<3)])
            case 1: library.report(.background)
            case 2: library.report(.foreground)
            case 3: if let request = try? ModelRequest(name) { await library.unload(request) }
            case 4: await library.clear()
            case 5: await library.evict(keeping: .onlyActive)
            case 6...8: try? device.activate(name, ["1.0.0", "1.1.0", "1.2.0"][Int.random(in: 0..<3)])
            default: library.report(.normal)
            }
            await pause(Double.random(in: 0..<0.01))
        }
        library.report(.normal)
    }
}
