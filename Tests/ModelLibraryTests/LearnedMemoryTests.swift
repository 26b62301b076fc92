import Inference
import Manifest
import ModelLibraryTesting
import Names
import Testing

@testable import ModelLibrary

@Suite("Model library: what loads take, learned", .timeLimit(.minutes(2)))
struct LearnedMemoryTests {
    private let request: ModelRequest

    init() throws { request = try ModelRequest("a/a") }

    private func library(
        _ probe: WrittenProbe,
        _ memory: MemoryNeed? = nil,
        budget: UInt64? = nil
    ) throws -> ModelLibrary {
        let device = FakeDevice()
        try device.activate("a/a", "1.0.0")
        try device.setLength(60 << 20, of: "a/a")
        var configuration = LibraryConfiguration()
        configuration.memory.budget = budget
        configuration.memory.headroomShare = 0
        return ModelLibrary(
            source: RoughDevice(device: device, memory: memory),
            runtimes: [FakeRuntime()],
            configuration: configuration,
            probe: probe,
            turn: LoadTurn()
        )
    }

    private func use(_ library: ModelLibrary) async throws { try await library.withModel(request) { _ in } }

    @Test("what the app itself takes while a model loads is not the model's")
    func ownAllocations() async throws {
        let library = try library(WrittenProbe([100 << 20, (100 << 20) + (2 << 30)]), budget: 700 << 20)
        try await use(library)
        await library.clear()
        try await use(library)
    }

    @Test("what several loads took is believed, whatever one of them seemed to take")
    func several() async throws {
        var list: [UInt64] = []
        for bytes: UInt64 in [90, 900, 92, 0, 91] { list += [0, bytes << 20] }
        let library = try library(WrittenProbe(list))
        for _ in 0..<5 {
            try await use(library)
            await library.clear()
        }
        try await use(library)
        // The last load found nothing, which moves the middle by one at the most.
        let bytes = library.residents.map(\.bytes)
        #expect(bytes == [90 << 20] || bytes == [91 << 20], "\(bytes)")
    }

    @Test("a load that takes more each time than any guess is believed after three")
    func consistent() async throws {
        var list: [UInt64] = []
        for _ in 0..<3 { list += [0, 3 << 30] }
        let library = try library(WrittenProbe(list))
        try await use(library)
        #expect(library.residents.map { $0.bytes < 1 << 30 } == [true])
        for _ in 0..<2 {
            await library.clear()
            try await use(library)
        }
        #expect(library.residents.map(\.bytes) == [3 << 30])
    }

    @Test("a model that was freed while another loaded does not make that one cost nothing")
    func freedMeanwhile() async throws {
        let gate = Gate(open: true)
        let arranged = try Arrangement(gate: gate) { $0.memory.budget = 190 << 20 }
        for name in ["a/a", "a/b", "a/c"] {
            try arranged.device.activate(name, "1.0.0")
            try arranged.device.setLength(50 << 20, of: name)
            arranged.runtime.setBytes(90 << 20, ofPathsEndingIn: "\(name)/1.0.0")
        }
        _ = try await arranged.answer(try ModelRequest("a/a"))
        await gate.close()
        let second = Task { try await arranged.answer(try ModelRequest("a/b")) }
        await gate.reached(2)
        await arranged.library.unload(try ModelRequest("a/a"))
        await gate.open()
        _ = try await second.value
        let bytes = try #require(arranged.library.residents.map(\.bytes).first)
        #expect(bytes >= 50 << 20, "\(bytes)")
    }

    @Test("what a model holds afterwards does not take the place of the peak that its publisher states")
    func statedPeak() async throws {
        let probe = WrittenProbe([0, 100 << 20], limit: 4 << 30, available: 2 << 30)
        let need = MemoryNeed(resident: 100 << 20, peak: 800 << 20, measured: "test")
        let library = try library(probe, need)
        try await use(library)
        #expect(library.residents.map(\.bytes) == [100 << 20])
        await library.clear()
        probe.setAvailable(300 << 20)
        let error = await #expect(throws: ModelLibraryError.self) { try await use(library) }
        guard case .doesNotFit(_, _, 838_860_800, _, _) = error else {
            Issue.record("another error: \(String(describing: error))")
            return
        }
    }

    @Test("one measurement says no more than the publisher states, and no less than a part of the files")
    func bounds() throws {
        let version = try FakeDevice.version("a/a", "1.0.0")
        var opened = OpenedModel(
            version: version,
            directory: "/",
            entryPath: "/a",
            format: "fake",
            ports: .fake
        )
        opened.length = 64 << 20
        let circumstances = MemoryCosts.Circumstances(
            manifest: version.manifest,
            runtime: "fake 1",
            options: "speed"
        )
        var costs = MemoryCosts()
        costs.learn(0, in: circumstances)
        #expect(costs.held(opened, in: circumstances) == 2 << 20)
        opened.memory = MemoryNeed(resident: 50 << 20, peak: 70 << 20, measured: "test")
        costs = MemoryCosts()
        #expect(costs.held(opened, in: circumstances) == 50 << 20)
        costs.learn(5 << 30, in: circumstances)
        #expect(costs.held(opened, in: circumstances) == 70 << 20)
        #expect(costs.estimate(opened, in: circumstances) == 84 << 20)
    }
}
