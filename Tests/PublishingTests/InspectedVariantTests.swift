import Foundation
import Manifest
import ModelFormats
import Names
import Publishing
import Support
import Testing

@Suite("What is published as one variant")
struct InspectedVariantTests {
    private static let fixtures = URL(filePath: #filePath)
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
