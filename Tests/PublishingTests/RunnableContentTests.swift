import Foundation
import Manifest
import ModelFormats
import Names
import Publishing
import Support
import Testing

@Suite("Content that runs code")
struct RunnableContentTests {
    private static func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    private static let calling = bytes("cos\nsystem\n(S'true'\ntR.")

    /// Protocol 4: a frame, `os`, `system`, STACK_GLOBAL, a text, TUPLE1, REDUCE, STOP.
    private static let framed = joined([
        [0x80, 4, 0x95, 20, 0, 0, 0, 0, 0, 0, 0, 0x8C, 2], bytes("os"), [0x94, 0x8C, 6], bytes("system"),
        [0x94, 0x93, 0x94, 0x8C, 1, 0x78, 0x94, 0x85, 0x94, 0x52, 0x94, 0x2E],
    ])

    private static let hdf5: [UInt8] = [0x89, 0x48, 0x44, 0x46, 0x0D, 0x0A, 0x1A, 0x0A]

    private static func joined(_ parts: [[UInt8]]) -> [UInt8] { Array(parts.joined()) }

    private static func array(_ header: String) -> [UInt8] {
        let start: [UInt8] = [0x93, 0x4E, 0x55, 0x4D, 0x50, 0x59, 1, 0, UInt8(header.utf8.count), 0]
        return joined([start, bytes(header), [0, 0, 0, 0]])
    }

    /// An archive whose members are stored, or said to be packed.
    private static func archive(_ members: [(String, [UInt8])], isPacked: Bool = false) -> [UInt8] {
        func little(_ value: Int, _ width: Int) -> [UInt8] {
            (0..<width).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        }
        let method = little(isPacked ? 8 : 0, 2)
        var body: [UInt8] = []
        var list: [UInt8] = []
        for (name, content) in members {
            let sizes = joined([
                little(content.count, 4), little(content.count, 4), little(name.utf8.count, 2),
            ])
            list += joined([
                [0x50, 0x4B, 1, 2], little(20, 2), little(20, 2), little(0, 2), method, little(0, 8), sizes,
                little(0, 12 - 4), little(0, 4), little(body.count, 4), bytes(name),
            ])
            body += joined([
                [0x50, 0x4B, 3, 4], little(20, 2), little(0, 2), method, little(0, 8), sizes, little(0, 2),
                bytes(name), content,
            ])
        }
        return joined([
            body, list, [0x50, 0x4B, 5, 6], little(0, 4), little(members.count, 2), little(members.count, 2),
            little(list.count, 4), little(body.count, 4), little(0, 2),
        ])
    }

    private static func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }

    /// A tape archive as `tar` writes it.
    private static func tape(_ members: [(String, [UInt8])]) -> [UInt8] {
        func octal(_ number: Int, _ width: Int) -> [UInt8] {
            let digits = String(number, radix: 8)
            return bytes(String(repeating: "0", count: width - 1 - digits.count) + digits) + [0]
        }
        var archive: [UInt8] = []
        for (name, content) in members {
            var header = bytes(name) + zeros(512 - name.utf8.count)
            header.replaceSubrange(124..<136, with: octal(content.count, 12))
            header.replaceSubrange(257..<263, with: bytes("ustar\u{0}"))
            header.replaceSubrange(148..<156, with: [UInt8](repeating: 0x20, count: 8))
            let sum = header.reduce(0) { $0 + Int($1) }
            header.replaceSubrange(148..<156, with: octal(sum, 7) + [0x20])
            archive += header + content + zeros((512 - content.count % 512) % 512)
        }
        return archive + zeros(1_024)
    }

    static let refused: [(String, [UInt8])] = [
        ("protocol 4", framed), ("protocol 0 that calls", calling),
        ("protocol 0 of data", bytes("(dp0\nVa\np1\nI1\ns.")),
        ("protocol 2, cut off behind its call", Array(framed.dropLast(2))),
        ("a call behind harmless steps", joined([bytes("N0"), [0x80, 2], calling])),
        ("an instance of protocol 0", bytes("(S'x'\nios\nsystem\n.")),
        ("PyTorch's archive", archive([("archive/data.pkl", framed), ("archive/version", [0x33])])),
        ("PyTorch's archive behind other bytes", joined([bytes("#!"), archive([("a/data.pkl", framed)])])),
        ("an archive with a pickle of another name", archive([("notes.txt", framed)])),
        ("an archive in an archive", archive([("inner", archive([("x/data.pkl", framed)]))])),
        ("an archive cut off", Array(archive([("a", [1])]).prefix(40))),
        ("an array of objects", array("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }")),
        ("a row with an object", array("{'descr': [('a', '<f4'), ('b', \"O8\")], 'shape': (1,), }")),
        ("an object in escapes", array("{'descr': '\\x4f', 'fortran_order': False, 'shape': (1,), }")),
        ("an object in two halves", array("{'descr': '|' 'O', 'fortran_order': False, 'shape': (1,), }")),
        ("arrays with one of objects", archive([("a.npy", array("{'descr': 'object', 'shape': (1,)}"))])),
        ("arrays that are packed", archive([("a.npy", [1, 2])], isPacked: true)),
        ("an archive that is packed", archive([("labels.txt", [1, 2])], isPacked: true)),
        ("a tape archive", tape([("labels.txt", bytes("cat\n")), ("x", framed)])),
        ("a tape archive in an archive", archive([("inner", tape([("x", calling)]))])),
        (
            "a tape archive that is no more one",
            joined([Array(tape([("a", [1])]).dropLast(1_024)), [7], zeros(511)])
        ),
        ("gzip", [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 2, 3, 0x4B, 0xCE, 0x2F]),
        ("zlib of one block", [0x78, 0x9C, 0x4B, 0xCE, 0x2F, 0xE6, 0x2A, 0xAE, 0x2C, 0x2E]),
        (
            "zlib with codes of its own",
            [
                0x78, 0x9C, 0xB5, 0x57, 0xF9, 0x3F, 0xD4, 0x6B, 0x1B, 0x26, 0x85, 0x4A, 0x2A, 0x52, 0xA7,
                0x74,
            ]
        ),
        ("bzip2", bytes("BZh9") + [0x31, 0x41, 0x59, 0x26, 0x53, 0x59, 0x7F, 0xB8]),
        ("xz", [0xFD, 0x37, 0x7A, 0x58, 0x5A, 0, 0, 4]), ("zstd", [0x28, 0xB5, 0x2F, 0xFD, 4, 0]),
        ("lzma", [0x5D, 0, 0, 0x80, 0] + [UInt8](repeating: 0xFF, count: 8) + [0, 0x31, 0x9B]),
        ("lz4", [0x04, 0x22, 0x4D, 0x18, 0x64]),
        ("Keras", archive([("metadata.json", [0x7B]), ("config.json", [0x7B]), ("model.weights.h5", [0])])),
        ("HDF5", hdf5), ("HDF5 behind a block", joined([[UInt8](repeating: 0, count: 1_024), hdf5])),
    ]

    @Test("it is found by content", arguments: refused)
    func isFound(_ what: String, _ content: [UInt8]) throws {
        #expect(try RunnableContent.found(in: MemorySource(content)) != nil, "\(what)")
    }

    /// A tape archive of a pickle with a header like no other, and its sum as `sum` writes it.
    private static func strangeTape(
        _ change: (inout [UInt8]) -> Void = { _ in },
        sum: (Int) -> [UInt8]
    ) -> [UInt8] {
        var archive = tape([("x", calling)])
        change(&archive)
        archive.replaceSubrange(148..<156, with: [UInt8](repeating: 0x20, count: 8))
        let field = sum(archive[..<512].reduce(0) { $0 + Int($1) })
        archive.replaceSubrange(148..<156, with: field + zeros(8 - field.count))
        return archive
    }

    private static func octal(_ number: Int) -> [UInt8] { bytes(String(number, radix: 8)) }

    static let strangeTapes: [(String, [UInt8])] = [
        ("a sum of signed bytes", strangeTape({ $0[0] = 0xFF }, sum: { octal($0 - 256) })),
        ("a sum with its base", strangeTape(sum: { bytes("0o") + octal($0) })),
        ("a sum behind a tab", strangeTape(sum: { bytes("\t") + octal($0) })),
        ("a sum in two parts", strangeTape(sum: { octal($0 / 8) + bytes("_") + octal($0 % 8) })),
        (
            "a sum of base 256",
            strangeTape(sum: { joined([[0x80], zeros(5), [UInt8($0 / 256), UInt8($0 % 256)]]) })
        ),
        ("no name", strangeTape({ $0[0] = 0 }, sum: { octal($0) })),
        (
            "a length below nothing",
            strangeTape(
                { $0.replaceSubrange(124..<136, with: [UInt8](repeating: 0xFF, count: 12)) },
                sum: { octal($0) }
            )
        ),
        // Readers step over a folder by its header alone, whatever length it claims.
        (
            "folders that claim what follows",
            (0..<5).reduce(tape([("x", calling)])) { rest, _ in tape([("d/", rest)]) }
        ),
        (
            "a broken tape archive in an archive",
            archive([("inner", joined([Array(tape([("x", calling)]).dropLast(1_024)), [7], zeros(511)]))])
        ),
    ]

    @Test("a tape archive is found however its headers are written", arguments: strangeTapes)
    func isFoundInTape(_ what: String, _ content: [UInt8]) throws {
        #expect(try RunnableContent.found(in: MemorySource(content)) != nil, "\(what)")
    }

    @Test("what is packed inside of an archive is told by its name there")
    func packedInside() throws {
        let gzip: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 2, 3, 0x4B, 0xCE, 0x2F]
        for content in [Self.tape([("a.gz", gzip)]), Self.archive([("a.gz", gzip)])] {
            let found = try RunnableContent.found(in: MemorySource(content))
            #expect(found == .packedMember("a.gz"))
        }
    }

    static let taken: [(String, [UInt8])] = [
        ("nothing", []), ("a word", bytes("N.")), ("a list of words", bytes("cat\ndog\nRun\n(t.\n")),
        ("words like a name", bytes("cos\nsystem\n(t\nR")), ("a number in a line", bytes("I1\n.")),
        ("JSON", bytes("{\"a\": [1, 2]}")), ("JSON of a list", bytes("[\"cat\"]")),
        ("brackets", bytes("[].")),
        ("weights that begin like protocol 2", [0x80, 2, 0, 0, 0x80, 0x3F]),
        ("zeros", [UInt8](repeating: 0, count: 4_096)), ("ones", [UInt8](repeating: 0xFF, count: 4_096)),
        ("an array", array("{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }")),
        ("a row with fields", array("{'descr': [('Out', '<f4'), ('object_id', '<i8')], 'shape': (1,), }")),
        ("an archive of labels", archive([("labels.txt", bytes("cat\ndog\n"))])),
        ("a tape archive of labels", tape([("labels.txt", bytes("cat\ndog\n")), ("empty", [])])),
        ("text that begins like zlib", bytes("x^2 + y^2 is the distance, and z is not asked")),
        ("weights that begin like zlib", [0x78, 0x9C, 0x85, 0x3F, 0, 0, 0x80, 0x3F, 0, 0, 0x80, 0x3F]),
        ("safetensors with a header of 131,448 bytes", [0x78, 1, 2, 0, 0, 0, 0, 0] + bytes("{\"a\": {}")),
        ("an archive of arrays", archive([("a.npy", array("{'descr': '<f4', 'shape': (1,), }"))])),
        ("a merges file", bytes("#version: 0.2\ni n\nt h\n")), ("CSV", bytes("c,d\n1,2\n")),
    ]

    @Test("what runs nothing is not taken for it", arguments: taken)
    func isTaken(_ what: String, _ content: [UInt8]) throws {
        #expect(try RunnableContent.found(in: MemorySource(content)) == nil, "\(what)")
    }

    @Test("no bytes by a seed, and no file of the readers, are taken for code")
    func falseAlarms() throws {
        var random = SeededRandom(seed: 4)
        for _ in 0..<2_000 {
            let content = (0..<512).map { _ in UInt8.random(in: .min ... .max, using: &random) }
            #expect(try RunnableContent.found(in: MemorySource(content)) == nil, "\(content.prefix(16))")
        }
        let models = try #require(FileManager.default.enumerator(atPath: PublishingFixtures.models))
        var count = 0
        for case let name as String in models {
            guard let content = FileManager.default.contents(atPath: "\(PublishingFixtures.models)/\(name)")
            else { continue }
            count += 1
            #expect(try RunnableContent.found(in: MemorySource(Array(content))) == nil, "\(name)")
        }
        #expect(count > 10)
    }

    @Test("it is refused beside a model, under any name, also when opaque is said, and taken as opaque alone")
    func folder() async throws {
        for (name, content) in [("vocab.txt", Self.framed), ("x.dat", Self.calling)] {
            let scratch = Scratch()
            try scratch.write("m/\(name)", content)
            try Data(contentsOf: URL(filePath: PublishingFixtures.onnx))
                .write(to: URL(filePath: scratch.path("m/model.onnx")))
            let source = VariantSource(name: try #require(VariantName("default")), path: scratch.path("m"))
            let error = await #expect(throws: PublishingError.self) {
                try await InspectedVariant.inspect(source)
            }
            let said = error.map { "\($0)" } ?? ""
            let remedy = "or leave it out, with --exclude \(name): model.onnx is the model there"
            #expect(said.contains("\(name) is a Python pickle") && said.contains(remedy), "\(said)")
            var notes = Card.VariantNotes()
            notes.format = .opaque
            notes.entry = FilePath(name)
            let hidden = await #expect(throws: PublishingError.self) {
                try await InspectedVariant.inspect(source, notes: notes)
            }
            let found = hidden.map { "\($0)" } ?? ""
            #expect(found.contains("m/model.onnx is declared opaque, and its content is onnx"), "\(found)")
            try FileManager.default.removeItem(atPath: scratch.path("m/model.onnx"))
            let lonely = await #expect(throws: PublishingError.self) {
                try await InspectedVariant.inspect(source)
            }
            let card =
                #"{"type": "sealift/card@1", "variants": {"default": {"format": "opaque"}}}"#
            #expect(lonely.map { "\($0)" }?.contains(card) == true, "the card is whole")
            #expect(throws: Never.self) { try Card(bytes: Array(card.utf8)) }
            #expect(try await InspectedVariant.inspect(source, notes: notes).inspection.format == .opaque)
        }
    }

    @Test("what can be read is not taken as opaque, and what is broken is")
    func opaque() async throws {
        let scratch = Scratch()
        let content = Array(try Data(contentsOf: URL(filePath: PublishingFixtures.onnx)))
        var notes = Card.VariantNotes()
        notes.format = .opaque
        for name in ["model.onnx", "weights.dat"] {
            let path = try scratch.write(name, content)
            let source = VariantSource(name: try #require(VariantName("default")), path: path)
            let error = await #expect(throws: PublishingError.self) {
                try await InspectedVariant.inspect(source, notes: notes)
            }
            #expect(error.map { "\($0)" }?.contains("its content is onnx, which can be read; take") == true)
        }
        let broken = try scratch.write("broken.onnx", Array(content.dropLast(3)))
        let source = VariantSource(name: try #require(VariantName("default")), path: broken)
        #expect(try await InspectedVariant.inspect(source, notes: notes).inspection.format == .opaque)
    }
}

/// Models that the repository has.
enum PublishingFixtures {
    static let models = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Fixtures/models").path(percentEncoded: false)

    static let onnx = models + "/onnx/two_inputs.onnx"
}
