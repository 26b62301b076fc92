import Foundation
import Glibc
import Manifest
import ModelFormats
import Names
import Publishing
import Support
import Testing

@Suite("What is published as one variant")
struct InspectedVariantTests {
    static let fixtures = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Fixtures/models").path(percentEncoded: false)

    private func source(_ path: String) throws -> VariantSource {
        VariantSource(name: try #require(VariantName("default")), path: path)
    }

    private func manifest(_ path: String, card: Card? = nil) async throws -> ModelManifest {
        let version = try await VersionSource.read([try source(path)], card: card)
        return try version.manifest(
            of: try #require(ModelName("a/b")),
            version: ModelVersion(major: 1, minor: 0, patch: 0),
            created: UnixTime(rawValue: 0),
            card: card
        )
    }

    private func refusal(_ path: String) async throws -> String {
        let error = await #expect(throws: PublishingError.self) {
            try await InspectedVariant.inspect(source(path))
        }
        return error.map { "\($0)" } ?? ""
    }

    @Test("a Core ML package keeps its name, and its manifest is its own canonical form")
    func package() async throws {
        let found = try await manifest(Self.fixtures + "/coreml/mlprogram_state.mlpackage")
        #expect(found.variants.map(\.format) == [.coreMLPackage])
        #expect(found.variants.map(\.entry.description) == ["mlprogram_state.mlpackage/Manifest.json"])
        #expect(found.interface.states.count == 1)
        #expect(try ModelManifest(canonical: found.canonical) == found)
    }

    @Test("a folder of safetensors with an index is one variant, with a digest of its tensors")
    func safetensors() async throws {
        let found = try await manifest(Self.fixtures + "/safetensors/set")
        #expect(found.variants.map(\.entry.description) == ["model-00001-of-00002.safetensors"])
        #expect(found.variants.map(\.files.count) == [3])
        #expect(found.interface.tensors?.count == 3)
        #expect(try ModelManifest(canonical: found.canonical) == found)
    }

    @Test("a refusal begins with the folder, and with a file in it where it is about one")
    func places() async throws {
        let scratch = Scratch()
        let folder = scratch.path("two")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        for name in ["a", "b"] {
            try FileManager.default.copyItem(
                atPath: Self.fixtures + "/gguf/tiny_llama.gguf",
                toPath: "\(folder)/\(name).gguf"
            )
        }
        #expect(try await refusal(folder).hasPrefix("\(folder) is not taken: there are 2 models"))
        try FileManager.default.removeItem(atPath: "\(folder)/b.gguf")
        try Data("GGUF".utf8).write(to: URL(filePath: "\(folder)/a.gguf"))
        try Data().write(to: URL(filePath: "\(folder)/NOTES"))
        #expect(try await refusal(folder).hasPrefix("\(folder): a.gguf is not taken: not a valid gguf file"))
    }

    @Test("a cache of links is followed")
    func links() async throws {
        let scratch = Scratch()
        let manager = FileManager.default
        for folder in ["m/blobs", "m/snapshots/1"] {
            try manager.createDirectory(atPath: scratch.path(folder), withIntermediateDirectories: true)
        }
        let blob = scratch.path("m/blobs/abc")
        try manager.copyItem(atPath: Self.fixtures + "/gguf/tiny_llama.gguf", toPath: blob)
        try manager.createSymbolicLink(
            atPath: scratch.path("m/snapshots/1/model.gguf"),
            withDestinationPath: "../../blobs/abc"
        )
        let found = try await InspectedVariant.inspect(source(scratch.path("m/snapshots/1")))
        #expect(found.inspection.format == .gguf)
        #expect(found.length > 0)
    }

    static let parts = [
        (
            "safetensors/set/model-00001-of-00002.safetensors",
            "model-00002-of-00002.safetensors (with the index model.safetensors.index.json)"
        ),
        ("gguf/set-00001-of-00003.gguf", "needs set-00002-of-00003.gguf"),
        ("onnx/external_data.onnx", "needs external_data.weights"),
        ("coreml/mlprogram.mlpackage/Data/com.apple.CoreML/model.mlmodel", "needs weights/weight.bin"),
    ]

    @Test("one file of several is refused, and it is said that their folder must be given", arguments: parts)
    func part(_ path: String, _ words: String) async throws {
        let said = try await refusal("\(Self.fixtures)/\(path)")
        #expect(
            said.contains(words)
                && said.hasSuffix("; give the folder that holds all of them in place of the one file"),
            "\(said)"
        )
    }

    @Test("a part of a set alone in a folder is refused, and the folder is not blamed on the person")
    func partInFolder() async throws {
        let scratch = Scratch()
        let name = "model-00001-of-00002.safetensors"
        let bytes = try Data(contentsOf: URL(filePath: "\(Self.fixtures)/safetensors/set/\(name)"))
        try scratch.write("m/\(name)", Array(bytes))
        let said = try await refusal(scratch.path("m"))
        #expect(
            said.contains("needs model-00002-of-00002.safetensors") && !said.contains("give the folder"),
            "\(said)"
        )
    }

    @Test("a link that leads nowhere is told with where it leads, alone and in a folder")
    func brokenLink() async throws {
        let scratch = Scratch()
        try scratch.write("m/model.onnx", [1])
        let link = scratch.path("m/weights.bin")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "../gone/abc")
        for path in [link, scratch.path("m")] {
            let said = try await refusal(path)
            #expect(said.contains("m/weights.bin is a link to ../gone/abc, which is not there"), "\(said)")
        }
    }

    @Test("a link that leads back to itself is told as that, to a folder and alone")
    func circularLinks() async throws {
        let scratch = Scratch()
        try scratch.write("m/a/model.onnx", [1])
        for (name, target) in [("m/a/up", ".."), ("m/a/here", "."), ("m/a/self", "self")] {
            let link = scratch.path(name)
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: target)
            let said = try await refusal(scratch.path("m"))
            #expect(said.contains(name) && said.contains("leads back to itself; "), "\(said)")
            try FileManager.default.removeItem(atPath: link)
        }
        let twice = scratch.path("m/b")
        try FileManager.default.createSymbolicLink(atPath: twice, withDestinationPath: "a")
        #expect(try await !refusal(scratch.path("m")).contains("leads back"))
    }

    @Test("a name that is not UTF-8, or decomposed, is what is wrong, and how to rename it is said")
    func names() async throws {
        let scratch = Scratch()
        try scratch.write("m/e\u{301}t\u{E9}.onnx", [1])
        let decomposed = try await refusal(scratch.path("m"))
        #expect(decomposed.contains("is decomposed (NFD)") && decomposed.contains("convmv"), "\(decomposed)")
        let composed = Array(decomposed.utf8).firstRange(of: Array("to ‘\u{E9}t\u{E9}.onnx’".utf8))
        #expect(composed != nil, "\(decomposed)")
        try scratch.write("n/model.onnx", [1])
        let place = scratch.path("n/caf").utf8CString.dropLast()
        let path = place + [CChar(truncatingIfNeeded: 0xE9), 0]
        let file = open(Array(path), O_WRONLY | O_CREAT, 0o600)
        #expect(file >= 0)
        close(file)
        let foreign = try await refusal(scratch.path("n"))
        #expect(foreign.contains("is not UTF-8") && foreign.contains("rename the file"), "\(foreign)")
    }

    @Test("an empty folder that a package lists is carried, and is missed when it is not there or not empty")
    func emptyFolder() async throws {
        let scratch = Scratch()
        let package = scratch.path("m.mlpackage")
        try FileManager.default.copyItem(
            atPath: Self.fixtures + "/coreml/mlprogram.mlpackage",
            toPath: package
        )
        let list = "\(package)/Manifest.json"
        let extra =
            #"{"x": {"author": "a", "description": "d", "name": "n", "path": "com.apple.CoreML/other"},"#
        let text = try String(contentsOfFile: list, encoding: .utf8)
            .replacing("\"itemInfoEntries\": {", with: "\"itemInfoEntries\": " + extra)
        try Data(text.utf8).write(to: URL(filePath: list))
        #expect(
            try await refusal(package).contains("Data/com.apple.CoreML/other, a folder that may be empty")
        )
        let folder = "\(package)/Data/com.apple.CoreML/other"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        for hidden in [false, true] {
            if hidden { try Data().write(to: URL(filePath: "\(folder)/.DS_Store")) }
            let found = try await manifest(package)
            let folders = found.variants.map { $0.folders.map(\.description) }
            #expect(folders == [["m.mlpackage/Data/com.apple.CoreML/other"]])
            #expect(try ModelManifest(canonical: found.canonical) == found)
        }
    }

    @Test("a whole cache is not taken for a model; its snapshots are named")
    func wholeCache() async throws {
        let scratch = Scratch()
        try scratch.write("m/blobs/abc", [1])
        try scratch.write("m/snapshots/f00d/model.onnx", [1])
        try scratch.write("hub/models--org--name/blobs/abc", [1])
        try scratch.write("hub/models--org--name/snapshots/f00d/model.onnx", [1])
        for (folder, named) in [("m", "m/snapshots/f00d"), ("hub", "models--org--name/snapshots/f00d")] {
            let said = try await refusal(scratch.path(folder))
            #expect(said.contains("more than once") && said.contains(named), "\(said)")
        }
    }

    @Test("a folder without an entry gets a whole card")
    func guidance() async throws {
        let scratch = Scratch()
        for name in ["a.bin", "b.bin"] { try scratch.write("m/\(name)", Array("text".utf8)) }
        let said = try await refusal(scratch.path("m"))
        let card =
            #"{"type": "sealift/card@1", "variants": {"default": {"format": "opaque", "entry": "FILE"}}}"#
        #expect(said.contains(card), "\(said)")
        let read = try Card(bytes: Array(card.replacing("FILE", with: "a.bin").utf8))
        let found = try await manifest(scratch.path("m"), card: read)
        #expect(found.variants.map(\.entry.description) == ["a.bin"])
    }

    @Test("the card that is proposed for a file that runs code can be used as it stands, whatever its name")
    func quotedName() async throws {
        let scratch = Scratch()
        let name = #"a "b" \#("\u{E9}").pt"#
        try scratch.write("m/\(name)", [0x80, 2, 0x7D])
        try scratch.write("m/notes.txt", Array("text".utf8))
        let said = try await refusal(scratch.path("m"))
        let start = try #require(said.firstRange(of: "{\"type\""), "\(said)").lowerBound
        let card = try Card(bytes: Array(said[start...].utf8))
        let found = try await manifest(scratch.path("m"), card: card)
        #expect(found.variants.map(\.entry.description) == [name])
    }

    @Test("a pickle is refused, unless the card says that the variant is opaque")
    func pickle() async throws {
        let scratch = Scratch()
        try Data([0x80, 2, 0x7D]).write(to: URL(filePath: scratch.path("model.pt")))
        let refused = await #expect(throws: PublishingError.self) {
            try await manifest(scratch.path("model.pt"))
        }
        #expect(refused.map { "\($0)" }?.contains("declare the variant opaque") == true)
        let text = #"{"type": "sealift/card@1", "variants": {"default": {"format": "opaque"}}}"#
        let card = try Card(bytes: Array(text.utf8))
        #expect(try Card(json: card.json) == card)
        let found = try await manifest(scratch.path("model.pt"), card: card)
        #expect(found.variants.map(\.format) == [.opaque])
        #expect(found.interface.isDeclared)
    }
}
