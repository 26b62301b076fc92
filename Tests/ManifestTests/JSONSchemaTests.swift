import CanonicalJSON
import Manifest
import Names
import Support
import Testing

@Suite("JSON Schemas")
struct JSONSchemaTests {
    static func schema(_ name: String) throws -> SchemaReading {
        let text = try #require(JSONSchemas.text(name))
        return SchemaReading(root: try JSONParser.parse(Array(text.utf8), maximumLength: 1 << 20))
    }

    private static func expectation() throws -> JSONValue {
        var expectation = Manifest.Expectation.satisfied(
            by: try InterfaceTests.everything(),
            of: try Samples.model(),
            accepts: VersionRange(">=2.1 <3")
        )
        expectation.adaptations = [.cast, .transpose, .resize]
        expectation.formats = [.onnx, .gguf]
        expectation.isPositional = true
        expectation.hasOpenLabels = true
        expectation.usesBundledTokenizers = true
        expectation.isStateAgnostic = true
        expectation.tensors = TensorTable(count: 3, sha256: try Samples.digest(2))
        return expectation.json
    }

    private static func card() throws -> JSONValue {
        var card = Card(description: try Samples.manifest().description)
        card.labels = .integers([1, 2])
        card.functionLabels[try #require(FeatureName("f"))] = .texts([JSONText("a")])
        card.tokenizers = try InterfaceTests.everything().tokenizers
        let value = JSONValue.members(["a": .members(["base64": .text("AA==")])])
        let check = JSONValue.members(["inputs": value, "outputs": value, "absolute": .text("0.5")])
        let checked = JSONValue.members(["type": .text("sealift/card@1"), "checks": .array([check])])
        card.checks = try Card(json: checked).checks
        let memory = MemoryNeed(resident: 1, peak: 2, measured: "by hand")
        card.variants = [
            try #require(VariantName("cpu")): Card.VariantNotes(compute: [.cpu, .npu], memory: memory)
        ]
        if let name = VariantName("cpu") {
            card.variants[name]?.format = .opaque
            card.variants[name]?.entry = FilePath("a/model.bin")
        }
        return card.json
    }

    static func document(_ name: String) throws -> JSONValue {
        switch name {
        case "card": return try card()
        case "expectation": return try expectation()
        default:
            var manifest = try Samples.manifest()
            manifest.variants[0].interface = try InterfaceTests.everything()
            manifest.variants[0].interface?.tensors = TensorTable(count: 3, sha256: try Samples.digest(4))
            manifest.variants[0].requires.operatingSystem = Requirements.Minimum(name: "macOS", minimum: nil)
            return manifest.json
        }
    }

    @Test("each accepts what is written with every member", arguments: JSONSchemas.names)
    func accepted(_ name: String) throws {
        let fault = try Self.schema(name).fault(try Self.document(name))
        #expect(fault == nil)
    }

    static let wrong: [(String, [PathStep], JSONValue?)] = [
        ("card", ["type"], .text("sealift/card@2")), ("card", ["licence"], .text("MIT")),
        ("card", ["variants", "cpu", "compute"], .array([.text("tpu")])),
        ("card", ["tokenizers", 0, "sha256"], .text("00")), ("card", ["labels"], .array([])),
        ("card", ["function_labels", "f"], .array([])),
        ("manifest", ["variants", 0, "interface", "functions", 0, "labels"], .array([])),
        ("expectation", ["inputs"], nil), ("expectation", ["positional"], .bool(false)),
        ("expectation", ["adaptations"], .array([.text("guess")])),
        ("expectation", ["inputs", 0, "kind"], .text("matrix")),
        ("expectation", ["inputs", 0, "shape"], .array([.integer(4)])),
        ("expectation", ["inputs", 0, "shape"], .array([.members(["fixed": .integer(-1)])])),
        ("expectation", ["network", "context_length"], .integer(-1)),
        ("expectation", ["tensors", "count"], .text("3")),
        ("manifest", ["variants", 0, "interface", "network", "eos"], .integer(1)),
        ("manifest", ["variants"], .array([])), ("manifest", ["created"], .text("today")),
        ("manifest", ["variants", 0, "format"], .text("pickle")),
        ("manifest", ["variants", 0, "files", 0, "sha256"], .text("x")), ("manifest", ["extra"], .bool(true)),
    ]

    @Test("each refuses what its reader refuses too", arguments: wrong.indices)
    func refused(_ index: Int) throws {
        let (name, path, value) = Self.wrong[index]
        let broken = try Self.document(name).with(path, value)
        #expect(try Self.schema(name).fault(broken) != nil)
        switch name {
        case "card": #expect(throws: ManifestError.self) { try Card(json: broken) }
        case "expectation":
            #expect(throws: ManifestError.self) { try Manifest.Expectation(json: broken) }
        default: #expect(throws: ManifestError.self) { try ModelManifest(json: broken) }
        }
    }
}
