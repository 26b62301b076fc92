import CanonicalJSON
import Manifest
import ModelFormats
import Names
import Support
import Testing

@Suite("JSON Schemas of what readers find")
struct FixtureSchemaTests {
    private static func schema(_ name: String) throws -> SchemaReading {
        let text = try #require(JSONSchemas.text(name))
        return SchemaReading(root: try JSONParser.parse(Array(text.utf8), maximumLength: 1 << 20))
    }

    private static func manifest(_ inspection: Inspection) throws -> ModelManifest {
        let path = try #require(FilePath("model"))
        let digest = try #require(Digest(hex: String(repeating: "ab", count: 32)))
        let variant = Variant(
            name: try #require(VariantName("default")),
            format: inspection.format,
            entry: path,
            requires: inspection.requires,
            files: [ManifestFile(path: path, length: 1, sha256: digest, blocks: nil)]
        )
        return ModelManifest(
            model: try #require(ModelName("a/b")),
            version: ModelVersion(major: 1, minor: 0, patch: 0),
            created: UnixTime(rawValue: 0),
            interface: inspection.interface,
            variants: [variant]
        )
    }

    @Test(
        "the manifest and the expectation made of every fixture are taken by reader and schema",
        arguments: MutationTests.files ?? []
    )
    func accepted(_ name: String) throws {
        // A part of a set is nothing by itself, and has an interface all the same.
        let inspection = try Fixtures.inspect(name)
        let manifest = try Self.manifest(inspection)
        #expect(try ModelManifest(canonical: manifest.canonical) == manifest)
        #expect(try Self.schema("manifest").fault(manifest.json) == nil)
        let expectation = Manifest.Expectation.satisfied(by: inspection.interface)
        #expect(try Manifest.Expectation(canonical: expectation.canonical) == expectation)
        #expect(try Self.schema("expectation").fault(expectation.json) == nil)
    }
}
