import CanonicalJSON
import Manifest
import Names
import Testing

@Suite("Card")
struct CardTests {
    private let text = """
        { "type": "sealift/card@1", "summary": "Names files", "license": "MIT",
          "provenance": { "paper": "https://example.org" },
          "labels": ["a", "b"], "preprocessing": { "mean": "0.5" },
          "variants": { "onnx-cpu": { "compute": ["gpu", "cpu"],
                        "memory": { "resident": 1, "peak": 2, "measured": "by hand" } } } }
        """

    @Test("a card is any valid JSON, and its words go into the manifest")
    func merged() throws {
        let card = try Card(bytes: Array(text.utf8))
        let merged = try card.merged(into: try Samples.manifest())
        #expect(merged.description.license == "MIT")
        #expect(merged.description.notes == nil)
        #expect(merged.interface.labels == .texts(["a", "b"].map { JSONText($0) }))
        #expect(merged.interface.preprocessing == .members(["mean": .text("0.5")]))
        #expect(merged.interface.inputs == (try Samples.interface()).inputs)
        #expect(merged.variants[0].compute == [.gpu, .cpu])
        #expect(merged.variants[0].memory?.peak == 2)
        #expect(try ModelManifest(canonical: merged.encoded()) == merged)
        #expect(try Card(json: card.json) == card)
    }

    @Test("a typing mistake is refused instead of dropping a licence")
    func unknown() {
        let bytes = Array("{\"type\":\"sealift/card@1\",\"licence\":\"MIT\"}".utf8)
        #expect(throws: ManifestError.unknown(.card, member: "licence")) { try Card(bytes: bytes) }
    }

    @Test("a variant that does not exist, and labels that the file contradicts, are refused")
    func refused() throws {
        var card = Card()
        card.variants[try #require(VariantName("other"))] = Card.VariantNotes(compute: [.npu])
        let manifest = try Samples.manifest()
        #expect(throws: ManifestError.self) { try card.merged(into: manifest) }
        var labelled = manifest
        labelled.interface.labels = .integers([1, 2])
        let withLabels = try Card(bytes: Array(text.utf8))
        #expect(throws: ManifestError.self) { try withLabels.merged(into: labelled) }
    }
}
