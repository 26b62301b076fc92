import Testing

@testable import ModelRuntimes

@Suite("What Core ML opens")
struct CoreMLPlaceTests {
    @Test(
        "the folder around an entry in a package or a compiled model, and a single file itself",
        arguments: [
            ("/d/versions/a/b/1/Photo.mlpackage/Manifest.json", "/d/versions/a/b/1/Photo.mlpackage"),
            ("/d/versions/a/b/1/x/Photo.mlmodelc/coremldata.bin", "/d/versions/a/b/1/x/Photo.mlmodelc"),
            ("/d/versions/a/b/1/Photo.mlmodel", "/d/versions/a/b/1/Photo.mlmodel"),
        ]
    )
    func model(entry: String, expected: String) {
        #expect(CoreMLPlace.model(ofEntry: entry) == expected)
    }

    @Test("only a compiled model needs no compiling")
    func compiled() {
        #expect(CoreMLPlace.isCompiled("/d/Photo.mlmodelc"))
        #expect(!CoreMLPlace.isCompiled("/d/Photo.mlpackage"))
        #expect(!CoreMLPlace.isCompiled("/d/Photo.mlmodel"))
    }
}
