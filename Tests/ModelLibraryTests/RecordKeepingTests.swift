import Blocking
import Durable
import Glibc
import Inference
import ModelLibraryTesting
import Names
import Support
import Testing

@testable import ModelLibrary

@Suite("Model library: keeping its record", .timeLimit(.minutes(2)))
struct RecordKeepingTests {
    private let folder = Scratch()
    private var file: String { folder.path("library.json") }

    private func requests() -> Int64? { LibraryRecord.read(file)?.models.first?.requests }

    private func write(costs bytes: UInt64) throws {
        let version = try FakeDevice.version(Arrangement.model, "1.0.0")
        let text = """
            {"type":"sealift/library@1","models":[],"costs":[{"manifest":"\(version.manifest.hex)",
            "runtime":"fake 1.0.0","options":"\(LoadOptions())","bytes":\(bytes),
            "samples":[\(bytes),\(bytes),\(bytes)]}]}
            """
        try Durable.writeAtomically(file, Array(text.utf8), mode: 0o644)
    }

    @Test("what is no record stays as it is, and an event says so once")
    func foreign() async throws {
        let precious = Array("hello".utf8)
        try Durable.writeAtomically(file, precious, mode: 0o644)
        let arranged = try Arrangement { $0.recordFile = file }
        let stream = await arranged.library.events()
        for _ in 0..<2 {
            _ = try await arranged.answer()
            await arranged.library.saveRecord()
        }
        let expected = LibraryRecordError.foreign(path: file)
        #expect(await arranged.library.recordFailure == expected)
        #expect(try Durable.readFile(file, maximum: .mebibytes(1)) == precious)
        await arranged.library.clear()
        let events = await told(stream) { if case .evicted = $0 { true } else { false } }
        let notKept = ModelLibraryEvent.recordNotKept(file: file, reason: expected.description)
        #expect(events.filter { $0 == notKept }.count == 1)
    }

    @Test("a pipe, a device, a link and a folder are refused before anything is run, and stay")
    func notRegular() throws {
        #expect(mkfifo(file, 0o600) == 0)
        let link = folder.path("link")
        #expect(symlink("/etc/hostname", link) == 0)
        for path in [file, "/dev/full", link, Durable.parent(of: file)] {
            #expect(throws: LibraryRecordError.disk(.notRegularFile(path: path))) {
                try LibraryRecord.check(path)
            }
        }
        #expect(try Durable.kind(of: file) == .other)
        let nowhere = folder.path("nowhere/at/all.json")
        #expect(throws: LibraryRecordError.self) { try LibraryRecord.check(nowhere) }
        try LibraryRecord.check(folder.path("new.json"))
        try LibraryRecord.check("new.json")
    }

    @Test("uses after a load are written half a minute later, without another load")
    func later() async throws {
        let arranged = try Arrangement { $0.recordFile = file }
        _ = try await arranged.answer()
        await arranged.library.saveRecord()
        #expect(requests() == 1)
        for _ in 0..<9 { _ = try await arranged.answer() }
        #expect(requests() == 1)
        while requests() == 1 {
            arranged.clock.advance(by: .seconds(31))
            await Task.yield()
        }
        #expect(requests() == 10)
    }

    @Test("on the way to the background the record is written")
    func background() async throws {
        let arranged = try Arrangement { $0.recordFile = file }
        for _ in 0..<3 { _ = try await arranged.answer() }
        arranged.library.report(.background)
        while requests() != 3 { await Task.yield() }
        #expect(LibraryRecord.read(file)?.models.first?.loads == 1)
    }

    @Test("a record that is held up by another writer holds up no report of pressure")
    func heldUp() async throws {
        let arranged = try Arrangement { $0.recordFile = file }
        let library = arranged.library
        let lock = try DirectoryLock(file + ".lock")
        defer { withExtendedLifetime(lock) {} }
        library.report(.background)
        #expect(await eventually { await library.keeping.last != nil })
        library.report(.critical)
        #expect(await eventually { await library.pressure == .critical })
        #expect(await library.recordFailure == nil, "the record waits on")
    }

    @Test("a library that goes writes what is not written yet")
    func end() async throws {
        func use() async throws {
            let arranged = try Arrangement { $0.recordFile = file }
            for _ in 0..<5 { _ = try await arranged.answer() }
        }
        try await use()
        while requests() != 5 { await Task.yield() }
    }

    @Test("libraries that share a file add up")
    func shared() async throws {
        let pair = try [Arrangement { $0.recordFile = file }, Arrangement { $0.recordFile = file }]
        for _ in 0..<3 {
            for arranged in pair {
                _ = try await arranged.answer()
                await arranged.library.saveRecord()
            }
        }
        let model = try #require(LibraryRecord.read(file)?.models.first)
        #expect((model.requests, model.loads, model.runs) == (6, 2, 2))
    }

    @Test("of many writers at once none loses what another counted, and nobody reads half a record")
    func writers() async throws {
        let file = file
        var metrics = ModelMetrics(model: Arrangement.model)
        metrics.requests = 1
        let version = try FakeDevice.version(Arrangement.model, "1.0.0")
        let counts = metrics
        await withTaskGroup(of: Void.self) { group in
            for writer in 0..<4 {
                group.addTask {
                    for _ in 0..<10 {
                        var news = RecordKeeping.News()
                        let circumstances = MemoryCosts.Circumstances(
                            manifest: version.manifest,
                            runtime: "fake \(writer)",
                            options: "speed"
                        )
                        news.costs.learn(7, in: circumstances)
                        news.proven.insert(circumstances)
                        let save = RecordSave([counts], since: [:], news, to: file)
                        let failure = await LibraryThreads.files.run { save?.write() }
                        #expect(failure == nil)
                        #expect(LibraryRecord.read(file) != nil)
                    }
                }
            }
        }
        let record = try #require(LibraryRecord.read(file))
        #expect(record.models.map(\.requests) == [40])
        #expect(record.costs.samples.values.map(\.count) == [5, 5, 5, 5])
        #expect(record.proven.order.count == 4)
    }

    @Test("the record is read before the first load, and not while the app makes the library")
    func reading() async throws {
        let arranged = try Arrangement(limit: 1_000 << 20) { $0.recordFile = file }
        try write(costs: 999 << 20)
        let error = await #expect(throws: ModelLibraryError.self) { try await arranged.answer() }
        guard case .neverFits = error else {
            Issue.record("another error: \(String(describing: error))")
            return
        }
    }

    @Test("a cost beyond what the machine has is measured again")
    func absurdCost() async throws {
        try write(costs: 1 << 62)
        let arranged = try Arrangement(limit: 1_000 << 20) { $0.recordFile = file }
        arranged.runtime.setBytes(100 << 20, ofPathsEndingIn: "1.0.0")
        _ = try await arranged.answer()
        await arranged.library.saveRecord()
        #expect(LibraryRecord.read(file)?.costs.samples.values.first == [100 << 20])
    }

    @Test("a refusal by a remembered cost names the file that remembers it")
    func namedCost() async throws {
        try write(costs: 999 << 20)
        let arranged = try Arrangement(limit: 1_000 << 20) { $0.recordFile = file }
        let error = await #expect(throws: ModelLibraryError.self) { try await arranged.answer() }
        #expect(
            error?.description.contains("what \(file) remembers of earlier loads") == true,
            "\(error as Any)"
        )
    }

    @Test("a record never grows beyond what is read again, and what was used last stays")
    func bounded() {
        func model(_ number: Int) -> LibraryRecord.Model {
            LibraryRecord.Model(
                model: "many/m\(number)",
                requests: Int64(number),
                loads: 0,
                runs: 0,
                loadMilliseconds: 0,
                failures: 0,
                bytes: 0
            )
        }
        var record = LibraryRecord(models: (0..<9_000).map(model), costs: MemoryCosts())
        record.add([model(3)], MemoryCosts())
        #expect(record.models.count == 4_000)
        #expect(
            record.models.first
                == LibraryRecord.Model(
                    model: "many/m3",
                    requests: 6,
                    loads: 0,
                    runs: 0,
                    loadMilliseconds: 0,
                    failures: 0,
                    bytes: 0
                )
        )
        #expect(record.models.contains { $0.model == "many/m8999" })
    }
}
