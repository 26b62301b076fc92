import Durable
import Inference
import ModelLibraryTesting
import Support
import Testing

@testable import ModelLibrary

@Suite("Model library: metrics and record")
struct RecordTests {
    @Test("metrics count what happened, and Prometheus can read them")
    func metrics() async throws {
        let arranged = try Arrangement()
        for _ in 0..<3 { _ = try await arranged.answer() }
        await #expect(throws: ModelLibraryError.self) {
            try await arranged.answer(try ModelRequest("vision/missing"))
        }
        try arranged.device.activate("vision/broken", "1.0.0")
        arranged.runtime.failLoads(ofPathsEndingIn: "broken/1.0.0")
        await #expect(throws: ModelLibraryError.self) {
            try await arranged.answer(try ModelRequest("vision/broken"))
        }
        await arranged.library.clear()
        let metrics = await arranged.library.metrics()
        let detector = try #require(metrics.first { $0.model == Arrangement.model })
        #expect((detector.requests, detector.inferences, detector.loads) == (3, 3, 1))
        #expect(detector.evictions == ["all": 1])
        #expect(metrics.first { $0.model == "vision/broken" }?.refusals == 1)
        let text = await arranged.library.prometheusText()
        #expect(text.contains("# TYPE sealift_library_requests_total counter\n"))
        #expect(text.contains("sealift_library_requests_total{model=\"vision/detector\"} 3\n"))
        #expect(
            text.contains("sealift_library_evictions_total{model=\"vision/detector\",reason=\"all\"} 1\n")
        )
    }

    @Test("a version that is loaded in two ways makes two series")
    func series() async throws {
        let arranged = try Arrangement()
        for options in [LoadOptions(), LoadOptions(threads: 2, compute: .cpu)] {
            _ = try await arranged.answer(try ModelRequest(Arrangement.model, loadOptions: options))
        }
        let text = await arranged.library.prometheusText()
        let rows = text.split(separator: "\n").filter { $0.contains("resident_bytes{") }
        let labels = #"model="vision/detector",version="1.0.0",variant="default",options="#
        #expect(Set(rows).count == 2)
        #expect(rows.contains { $0.contains(labels + #""speed, any"}"#) }, "\(rows)")
        #expect(rows.contains { $0.contains(labels + #""speed, cpu, 2 threads"}"#) }, "\(rows)")
    }

    @Test("a record is read back as it was written, and adds up over runs")
    func record() async throws {
        let folder = Scratch()
        let file = folder.path("library.json")
        for run in 1...2 {
            let arranged = try Arrangement(limit: 1_000 << 20) { $0.recordFile = file }
            arranged.runtime.setBytes(100 << 20, ofPathsEndingIn: "1.0.0")
            for _ in 0..<2 { _ = try await arranged.answer() }
            await arranged.library.saveRecord()
            let model = try #require(LibraryRecord.read(file)?.models.first)
            #expect(
                (model.model, model.requests, model.loads, model.runs)
                    == (Arrangement.model, Int64(2 * run), Int64(run), Int64(run))
            )
            #expect(model.bytes == 100 << 20)
            let costs = LibraryRecord.read(file)?.costs.samples.values.first
            #expect(costs == [UInt64](repeating: 100 << 20, count: run))
        }
    }

    @Test("of records that are written at the same time the one with the newest counts stands")
    func overlapping() async throws {
        let folder = Scratch()
        let file = folder.path("library.json")
        let arranged = try Arrangement { $0.recordFile = file }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<100 {
                _ = try await arranged.answer()
                group.addTask { await arranged.library.saveRecord() }
            }
            try await group.waitForAll()
        }
        #expect(LibraryRecord.read(file)?.models.first?.requests == 100)
    }

    @Test(
        "a record that is missing, damaged or foreign is none, and one that cannot be written stops nothing"
    )
    func noRecord() async throws {
        let folder = Scratch()
        #expect(LibraryRecord.read(folder.path("none.json")) == nil)
        let file = folder.path("odd.json")
        for text in [
            "{", "hello", "[]", "{\"type\":\"sealift/state@1\"}", "{\"type\":\"sealift/library@2\"}",
        ] {
            try Durable.writeAtomically(file, Array(text.utf8), mode: 0o644)
            #expect(throws: LibraryRecordError.foreign(path: file)) { try LibraryRecord.load(file) }
            #expect(LibraryRecord.read(file) == nil)
        }
        for text in ["", "{\"type\":\"sealift/library@1\"}"] {
            try Durable.writeAtomically(file, Array(text.utf8), mode: 0o644)
            #expect(try LibraryRecord.load(file) == nil, "ours, and of no use")
        }
        let arranged = try Arrangement { $0.recordFile = "/nowhere/at/all/library.json" }
        #expect(try await arranged.answer().hasSuffix("1.0.0"))
    }

    @Test("counts that no run can have are passed over", arguments: [Int64.max, Int64.min, -1])
    func absurd(count: Int64) async throws {
        let folder = Scratch()
        let file = folder.path("library.json")
        let text = """
            {"type":"sealift/library@1","costs":[],"models":[{"model":"\(Arrangement.model)","requests":\(count),
            "loads":\(count),"load_milliseconds":\(count),"failures":\(count),"bytes":\(count)}]}
            """
        try Durable.writeAtomically(file, Array(text.utf8), mode: 0o644)
        let arranged = try Arrangement { $0.recordFile = file }
        _ = try await arranged.answer()
        await arranged.library.saveRecord()
        #expect(LibraryRecord.read(file)?.models.map(\.requests) == [1])
    }

    @Test("measured use proposes what to preload and what to pin")
    func suggestion() {
        func model(
            _ name: String,
            _ requests: Int64,
            _ loads: Int64,
            _ milliseconds: Int64,
            runs: Int64 = 1
        ) -> LibraryRecord.Model {
            LibraryRecord.Model(
                model: name,
                requests: requests,
                loads: loads,
                runs: runs,
                loadMilliseconds: milliseconds,
                failures: 0,
                bytes: 1
            )
        }
        let advice = LibrarySuggestion.advice([
            model("a/slow", 100, 2, 800), model("a/fast", 100, 2, 10), model("a/thrashed", 10, 5, 2_000),
            model("a/unused", 0, 0, 0), model("a/once", 50, 50, 50, runs: 50),
        ])
        #expect(
            advice.map { "\($0.action) \($0.model)" } == [
                "pin a/thrashed", "preload a/slow", "drop a/unused",
            ]
        )
        #expect(advice[0].reason == "40 % of its requests load it again, 400 ms each")
    }

    @Test("a preload loads what the plan names for this machine and makes nobody else go")
    func preload() async throws {
        let crowd = try Crowd()
        let library = crowd.arranged.library
        try await crowd.use("a")
        try await crowd.use("b")
        let requests = try ["c", "d", "b"].map { try ModelRequest("crowd/\($0)", isPinned: true) }
        // A thousand MiB make a small device.
        let outcomes = await library.preload([.small: requests, .large: []])
        #expect(outcomes.map { $0.failure == nil } == [true, false, true])
        #expect(crowd.resident == ["a", "b", "c"])
        #expect(library.residents.map(\.priority) == [.normal, .normal, .normal])
        #expect(library.residents.map(\.isPinned) == [false, true, true])
    }

    @Test("a library asks the probe that its app gives it")
    func ownProbe() async {
        let memory = FakeMemory(limit: 5 << 30)
        let library = ModelLibrary(directory: "/nowhere/at/all", runtimes: [], probe: memory)
        #expect(await library.memoryState().source == "the fake machine")
        #expect(await library.deviceClass == .medium)
    }

    @Test(
        "a machine's class follows from its limit",
        arguments: [(2, DeviceClass.small), (4, .medium), (12, .large), (nil, .small)]
            as [(UInt64?, DeviceClass)]
    )
    func deviceClass(gibibytes: UInt64?, expected: DeviceClass) {
        let state = MemoryState(available: nil, limit: gibibytes.map { $0 << 30 }, source: "a test")
        #expect(DeviceClass(state) == expected)
    }
}
