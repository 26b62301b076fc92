import Manifest
import Names
import Testing

@Suite("What programs open of a variant")
struct VariantOpeningTests {
    @Test(
        "a package's folder, a sharded model's index, else the entry",
        arguments: [
            (ModelFormat.onnx, "model.onnx", ["model.onnx", "weights.bin"], "model.onnx"),
            (.coreMLPackage, "a.mlpackage/Manifest.json", ["a.mlpackage/Manifest.json"], "a.mlpackage"),
            (.coreMLCompiled, "b/a.mlmodelc/coremldata.bin", ["b/a.mlmodelc/coremldata.bin"], "b/a.mlmodelc"),
            (.coreMLPackage, "Manifest.json", ["Manifest.json", "Data/weights"], ""),
            (
                .safetensors, "m/x-00001-of-00002.safetensors",
                [
                    "m/x-00001-of-00002.safetensors", "m/x-00002-of-00002.safetensors",
                    "m/x.safetensors.index.json", "other.safetensors.index.json",
                ],
                "m/x.safetensors.index.json"
            ),
            (.safetensors, "x.safetensors", ["x.safetensors", "config.json"], "x.safetensors"),
        ]
    )
    func opened(_ format: ModelFormat, _ entry: String, _ files: [String], _ expected: String) throws {
        let variant = Variant(
            name: try #require(VariantName("default")),
            format: format,
            entry: try #require(FilePath(entry)),
            files: try files.map { path in
                ManifestFile(
                    path: try #require(FilePath(path)),
                    length: 1,
                    sha256: try #require(Digest(hex: String(repeating: "a", count: 64))),
                    blocks: nil
                )
            }
        )
        #expect(variant.opened == expected)
    }
}
