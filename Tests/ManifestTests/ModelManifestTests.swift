import CanonicalJSON
import Manifest
import Names
import Testing

@Suite("Manifest document")
struct ModelManifestTests {
    @Test("what was written is read back, and written the same")
    func roundTrip() throws {
        let manifest = try Samples.manifest()
        let bytes = try manifest.encoded()
        let read = try ModelManifest(canonical: bytes, at: "vision/detector/1.4.0.json")
        #expect(read == manifest)
        #expect(read.canonical == bytes)
    }

    @Test("folders without files are carried, and only where no file is")
    func folders() throws {
        var manifest = try Samples.manifest()
        func read(_ folders: [String]) throws -> ModelManifest {
            manifest.variants[0].folders = try folders.map { try #require(FilePath($0)) }
            return try ModelManifest(canonical: manifest.canonical)
        }
        #expect(try read(["empty", "labels/empty"]) == manifest)
        for clash in [
            ["labels"], ["model.onnx"], ["model.onnx/x"], ["EMPTY", "empty"], ["empty", "empty/x"],
        ] {
            #expect(throws: ManifestError.self, "\(clash)") { try read(clash) }
        }
        let empty = try Samples.manifest().json.with(["variants", 0, "folders"], .array([]))
        #expect(throws: ManifestError.self) { try ModelManifest(json: empty) }
        let climbing = try Samples.manifest().json.with(["variants", 0, "folders"], .array([.text("../x")]))
        #expect(throws: ManifestError.self) { try ModelManifest(json: climbing) }
    }

    @Test("only the canonical form is taken")
    func canonical() throws {
        let bytes = try Samples.manifest().canonical
        for changed in [bytes + [0x0A], [0x20] + bytes, Array("{ ".utf8) + bytes.dropFirst()] {
            #expect(throws: ManifestError.notCanonical(.manifest)) { try ModelManifest(canonical: changed) }
        }
        let escaped = String(decoding: bytes, as: UTF8.self).replacing(
            "Apache-2.0\"",
            with: "Apache\\u002d2.0\""
        )
        #expect(throws: ManifestError.notCanonical(.manifest)) {
            try ModelManifest(canonical: Array(escaped.utf8))
        }
        #expect(throws: ManifestError.self) { try ModelManifest(canonical: Array("{\"type\":1.0}".utf8)) }
    }

    @Test("a manifest above 1 MiB is refused before it is parsed")
    func length() {
        let bytes = Array(repeating: UInt8(ascii: "["), count: (1 << 20) + 1)
        #expect(throws: ManifestError.tooLong(.manifest, found: bytes.count, limit: 1 << 20)) {
            try ModelManifest(canonical: bytes)
        }
    }

    @Test("a manifest is only taken at its own place")
    func misplaced() throws {
        let bytes = try Samples.manifest().canonical
        for path in ["vision/detector/1.4.1.json", "vision/other/1.4.0.json", "vision/detector/1.4.0"] {
            #expect(
                throws: ManifestError.misplaced(
                    .manifest,
                    expected: "vision/detector/1.4.0.json",
                    found: path
                )
            ) { try ModelManifest(canonical: bytes, at: path) }
        }
    }

    static let tooLong: JSONValue = .integer(1 << 41)

    static let broken = [
        Broken("another type", ["type"], .text("sealift/manifest@2"), named: "type"),
        Broken("no type", ["type"], nil, named: "type"),
        Broken("an unknown member", ["colour"], .text("red"), named: "colour"),
        Broken(
            "an unknown member of a file",
            ["variants", 0, "files", 0, "mode"],
            .integer(7),
            named: "variants[0].files[0].mode"
        ),
        Broken("a model that is no name", ["model"], .text("Vision/detector"), named: "model"),
        Broken("a version with a leading zero", ["version"], .text("1.04.0"), named: "version"),
        Broken("a time with a fraction", ["created"], .text("2026-11-30T02:38:00.5Z"), named: "created"),
        Broken("a summary that is a number", ["summary"], .integer(1), named: "summary"),
        Broken("provenance that is no object", ["provenance"], .text("git"), named: "provenance"),
        Broken("no checks", ["checks"], nil, named: "checks"),
        Broken("a check that is no object", ["checks", 0], .integer(1), named: "checks[0]"),
        Broken(
            "an attestation without length",
            ["attestations", 0, "length"],
            nil,
            named: "attestations[0].length"
        ),
        Broken("no variants", ["variants"], .array([]), named: "variants"),
        Broken("an unknown format", ["variants", 0, "format"], .text("pickle"), named: "variants[0].format"),
        Broken(
            "an unknown unit",
            ["variants", 0, "compute", 0],
            .text("tpu"),
            named: "variants[0].compute[0]"
        ),
        Broken("a unit twice", ["variants", 0, "compute", 1], .text("cpu"), named: "variants[0].compute[1]"),
        Broken("no unit", ["variants", 0, "compute"], .array([]), named: "variants[0].compute"),
        Broken(
            "an entry that is no file",
            ["variants", 0, "entry"],
            .text("other.onnx"),
            named: "variants[0].entry"
        ),
        Broken("no files", ["variants", 0, "files"], .array([]), named: "variants[0].files"),
        Broken(
            "a path that climbs",
            ["variants", 0, "files", 1, "path"],
            .text("../x"),
            named: "variants[0].files[1].path"
        ),
        Broken(
            "a path that differs in case",
            ["variants", 0, "files", 1, "path"],
            .text("Model.ONNX"),
            named: "variants[0].files[1].path"
        ),
        Broken(
            "a file that is also a folder",
            ["variants", 0, "files", 1, "path"],
            .text("MODEL.onnx/a"),
            named: "variants[0].files[1].path"
        ),
        Broken(
            "a file above 1 TiB",
            ["variants", 0, "files", 1, "length"],
            tooLong,
            named: "variants[0].files[1].length"
        ),
        Broken(
            "a negative length",
            ["variants", 0, "files", 1, "length"],
            .integer(-1),
            named: "variants[0].files[1].length"
        ),
        Broken(
            "an upper-case digest",
            ["variants", 0, "files", 1, "sha256"],
            .text(String(repeating: "A", count: 64)),
            named: "variants[0].files[1].sha256"
        ),
        Broken(
            "no blocks for a large file",
            ["variants", 0, "files", 0, "blocks"],
            nil,
            named: "variants[0].files[0].blocks"
        ),
        Broken(
            "blocks of another size",
            ["variants", 0, "files", 0, "blocks", "size"],
            .integer(131_072),
            named: "variants[0].files[0].blocks.size"
        ),
        Broken(
            "a list of another length",
            ["variants", 0, "files", 0, "blocks", "list", "length"],
            .integer(32),
            named: "variants[0].files[0].blocks.list.length"
        ),
        Broken(
            "one blob of two lengths",
            ["variants", 0, "files", 1, "sha256"],
            .text(String(repeating: "01", count: 32)),
            named: "variants[0].files[1]"
        ),
        Broken(
            "an opset that is text",
            ["variants", 0, "requires", "opsets", "ai.onnx"],
            .text("15"),
            named: "variants[0].requires.opsets.ai.onnx"
        ),
        Broken(
            "an empty requirement",
            ["variants", 0, "requires", "opsets"],
            .members([:]),
            named: "variants[0].requires.opsets"
        ),
        Broken(
            "memory without a word on how",
            ["variants", 0, "memory", "measured"],
            nil,
            named: "variants[0].memory.measured"
        ),
        Broken("no interface", ["interface"], nil, named: "interface"),
    ]

    @Test("each rule that is broken is refused, by the member's name", arguments: broken)
    func rules(_ example: Broken) throws {
        let error = example.error(changing: try Samples.manifest())
        #expect(error?.member == example.named, "\(String(describing: error))")
    }

    @Test("blocks of a file under 64 KiB are refused")
    func needlessBlocks() throws {
        var manifest = try Samples.manifest()
        let list = BlobReference(sha256: try Samples.digest(5), length: 32)
        manifest.variants[0].files[1].blocks = BlockListReference(size: 65_536, list: list)
        let error = #expect(throws: ManifestError.self) { try manifest.encoded() }
        #expect(error?.member == "variants[0].files[1].blocks")
    }

    @Test("there are at most 256 variants, each name once, and 4,096 files in each")
    func counts() throws {
        var manifest = try Samples.manifest()
        manifest.variants.append(manifest.variants[0])
        let twice = #expect(throws: ManifestError.self) { try manifest.encoded() }
        #expect(twice?.member == "variants[1].name")
        manifest.variants = Array(repeating: manifest.variants[0], count: 257)
        let crowded = #expect(throws: ManifestError.self) { try ModelManifest(json: manifest.json) }
        #expect(crowded?.member == "variants")
        manifest.variants = [manifest.variants[0]]
        let blob = try Samples.digest(2)
        manifest.variants[0].files += try (0..<4_095).map { index in
            ManifestFile(path: try #require(FilePath("f\(index)")), length: 100, sha256: blob, blocks: nil)
        }
        let many = #expect(throws: ManifestError.self) { try ModelManifest(json: manifest.json) }
        #expect(many?.member == "variants[0].files")
    }

    @Test("every blob is named once, with the block lists")
    func blobs() throws {
        let manifest = try Samples.manifest()
        #expect(manifest.blobs.map(\.length) == [3_163_737, 49 * 32, 100, 70])
        #expect(manifest.variants[0].length == 3_163_837)
    }

    @Test("a variant without an interface of its own has the manifest's")
    func interfaces() throws {
        var manifest = try Samples.manifest()
        #expect(manifest.interface(of: manifest.variants[0]) == manifest.interface)
        manifest.variants[0].interface = Interface(inputs: [], outputs: [])
        #expect(try ModelManifest(canonical: manifest.encoded()) == manifest)
        #expect(manifest.interface(of: manifest.variants[0]).inputs.isEmpty)
    }

    @Test("an error says what, where, what was expected and what was found")
    func words() throws {
        let error = Broken("", ["version"], .text("1"), named: "").error(changing: try Samples.manifest())
        #expect(
            error?.description
                == "sealift/manifest@1: `version` must be a semantic version without build metadata, found \"1\""
        )
    }
}
