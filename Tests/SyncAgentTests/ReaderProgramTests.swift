import Durable
import Glibc
import Manifest
import Names
import Support
import SyncAgent
import Testing

@Suite("Reading received models in another process")
struct ReaderProgramTests {
    private let fixture: SyncFixture
    private let manifest: ModelManifest

    init() async throws {
        fixture = try SyncFixture()
        manifest = try fixture.registry.release("1.0.0")
        try await fixture.sync()
        try fixture.registry.release("1.1.0")
    }

    /// What an honest program answers about either version, which have one interface.
    private var truth: Reading.Facts {
        let variant = manifest.variants[0]
        return Reading.Facts(
            entry: variant.entry,
            format: variant.format,
            interface: manifest.interface,
            requires: variant.requires
        )
    }

    /// Syncs with a shell script in the place of the program.
    private func sync(_ script: String, deadline: Double = 30) async throws -> SyncReport {
        let path = try fixture.scratch.write("reader", Array("#!/bin/sh\n\(script)\n".utf8), mode: 0o755)
        return try await fixture.sync { configuration in
            configuration.readerProgram = path
            configuration.reader?.limits.deadline = deadline
            configuration.reader?.limits.memory = .mebibytes(64)
        }
    }

    private func sync(answering answer: [UInt8]) async throws -> SyncReport {
        let file = try fixture.scratch.write("answer.json", answer)
        return try await sync("exec cat \(file)")
    }

    private func expectRefusal(_ report: SyncReport, _ text: String) throws {
        let failure = try require(report.models[0].failure)
        #expect(failure.kind == .refused && report.exitCode == 1 && report.outcome == .unchanged)
        #expect(failure.message.contains("vision/detector 1.1.0, model.onnx"), "\(failure)")
        #expect(failure.message.contains(text), "\(failure)")
        #expect(report.models[0].active == "1.0.0")
        #expect(try fixture.activeVersion() == "1.0.0")
        let why = try SyncedDevice(directory: fixture.directory).why("vision/detector")
        #expect(why.failure == failure)
    }

    @Test("an honest answer activates the version")
    func honest() async throws {
        let report = try await sync(answering: Reading(.read(truth)).canonical)
        #expect(report.exitCode == 0, "\(report)")
        #expect(try fixture.activeVersion() == "1.1.0")
    }

    @Test("a manifest of before more was computed is taken, and one that says less than the file is not")
    func statedVersions() async throws {
        try fixture.registry.release("1.2.0", specification: 7)
        var facts = truth
        facts.requires.specificationVersion = 9
        facts.statedVersion = 8
        let less = try await sync(answering: Reading(.read(facts)).canonical)
        #expect(less.models[0].failure?.message.contains("needs another runtime") == true, "\(less)")
        #expect(try fixture.activeVersion() == "1.0.0")
        facts.statedVersion = 7
        let same = try await sync(answering: Reading(.read(facts)).canonical)
        #expect(same.exitCode == 0, "\(same)")
        #expect(try fixture.activeVersion() == "1.2.0")
    }

    @Test(
        "one that crashes, ends badly, takes more memory than it may, or never ends is refused",
        arguments: [
            ("kill -SEGV $$", "was ended by signal 11"), ("kill -ILL $$", "was ended by signal 4"),
            ("kill -KILL $$", "was ended by the system"),
            ("echo no stack >&2; exit 70", "ended with exit code 70; it said: no stack"),
            ("exec grep -a x /dev/zero", "memory exhausted"),
            ("while :; do :; done", "did not end within 0.5 seconds"),
            ("sleep 60", "did not end within 0.5 seconds"),
            // A limit that the parent sets comes a moment after the child has begun.
            (
                "while [ \"$(ulimit -f)\" = unlimited ]; do :; done; echo x > \"$0.out\"",
                "was ended by signal 25"
            ),
        ]
    )
    func broken(_ script: String, _ text: String) async throws {
        let isEndless = text.contains("did not end")
        try expectRefusal(try await sync(script, deadline: isEndless ? 0.5 : 30), text)
    }

    @Test("one that lies, or answers what is no answer, is refused", arguments: Lie.allCases)
    func lying(_ lie: Lie) async throws {
        try expectRefusal(try await sync(answering: try lie.answer(truth)), lie.text)
    }

    @Test("one that answers more than an answer may have is not listened to")
    func talkative() async throws {
        let report = try await sync("exec head -c 3000000 /dev/zero")
        try expectRefusal(report, "1048577 bytes, the limit is 1048576")
    }

    @Test("a refusal of the file is passed on, and bytes that could not be had are an outage")
    func refusals() async throws {
        try expectRefusal(
            try await sync(answering: Reading(.refused("a bad field")).canonical),
            ": a bad field"
        )
        let outage = try await sync(answering: Reading(.unreadable("the disk")).canonical)
        #expect(outage.exitCode == 75 && outage.models[0].failure?.message.hasSuffix(": the disk") == true)
    }

    @Test("a program that is not there is the caller's mistake, and nothing is read in its stead")
    func missing() async throws {
        let report = try await fixture.sync { $0.readerProgram = "/nowhere/sealift" }
        #expect(report.models[0].failure?.kind == .usage, "\(report)")
        #expect(try fixture.activeVersion() == "1.0.0")
    }

    @Test("the program inherits nothing: no variable, no descriptor, and may write no file")
    func inheritance() async throws {
        let forgotten = open("/dev/null", O_RDONLY)
        defer { close(forgotten) }
        let script = "echo $(env | grep -c HOME=) $(ls /proc/self/fd | wc -w) $(cat | wc -c) >&2; exit 9"
        let said = try require(try await sync(script).models[0].failure?.message)
        // `ls` itself has the folder open beside the three streams.
        let expected = "it said: 0 4 "
        #expect(said.contains(expected), "\(said)")
    }
}

/// Answers that must not be believed.
enum Lie: CaseIterable {
    case nothing, noJSON, spaces, anotherDocument, twoOutcomes, unknownMember, anotherInterface, anotherEntry
    case anotherFormat, otherOperators, endlessReason

    var text: String {
        switch self {
        case .nothing, .noJSON, .spaces, .anotherDocument, .twoOutcomes, .unknownMember, .endlessReason:
            "gave no sound answer"
        case .anotherInterface: "the file's own inputs and outputs are not those"
        case .anotherEntry, .anotherFormat: "the files are "
        case .otherOperators: "needs another runtime than the signed manifest says"
        }
    }

    func answer(_ truth: Reading.Facts) throws -> [UInt8] {
        var facts = truth
        let honest = String(decoding: Reading(.read(truth)).canonical, as: UTF8.self)
        switch self {
        case .nothing: return []
        case .noJSON: return Array("ok".utf8)
        case .spaces: return Array((honest + "\n").utf8)
        case .anotherDocument:
            return Array(honest.replacing("sealift/reading@1", with: "sealift/card@1").utf8)
        case .twoOutcomes: return Array(#"{"refused":"a","type":"sealift/reading@1","unreadable":"b"}"#.utf8)
        case .unknownMember:
            return Array(#"{"refused":"a","trusted":true,"type":"sealift/reading@1"}"#.utf8)
        case .endlessReason:
            let reason = String(repeating: "a", count: Reading.longestReason + 1)
            return Array("{\"refused\":\"\(reason)\",\"type\":\"sealift/reading@1\"}".utf8)
        case .anotherInterface: facts.interface.outputs = []
        case .anotherEntry: facts.entry = try require(FilePath("labels/en.txt"))
        case .anotherFormat: facts.format = .tflite
        case .otherOperators: facts.requires.opsets = ["ai.onnx": 5]
        }
        return Reading(.read(facts)).canonical
    }
}
