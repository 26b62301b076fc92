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

    @Test("a compiled model goes when its version is collected, and when the system is another one")
    func stale() {
        let build = "Version 18.1 (Build 22B83)"
        let there = "/d/versions/a/b/1.1.0-x/Photo.mlpackage"
        let gone = "/d/versions/a/b/1.0.0-x/Photo.mlpackage"
        let kept = [
            CoreMLPlace.kept(there, build: build, compute: "any"),
            CoreMLPlace.kept(there, build: build, compute: "cpu"),
            CoreMLPlace.kept(there, build: "Version 18.0 (Build 22A1)", compute: "any"),
            CoreMLPlace.kept(gone, build: build, compute: "any"),
        ]
        #expect(Set(kept).count == 4)
        #expect(CoreMLPlace.stale(kept, build: build) { $0 == there } == Array(kept.dropFirst(2)))
    }

    @Test(
        "what somebody else compiled stays, wherever it lies",
        arguments: [
            "stray.mlmodelc", "/stray.mlmodelc", "/Photo-any.mlmodelc", "/mine/Photo.mlmodelc",
            "/mine/Photo-cpu.mlmodelc", "/d/a/1.0.0-x/Photo.mlpackage/Photo.mlmodelc",
        ]
    )
    func foreign(path: String) {
        #expect(CoreMLPlace.stale([path], build: "Version 18.1") { _ in false } == [])
    }

    @Test("what a killed process left half put together goes after a day, and nothing that is somebody's")
    func leftOver() {
        let id = "0F8FAD5B-D9CB-469F-A165-70867728950E"
        let partial = CoreMLPlace.partial("/d/versions/a/b/1.0.0-x/Photo.mlpackage", id: id)
        #expect(CoreMLPlace.isPartial(partial))
        #expect(CoreMLPlace.isLeftOver(partial, age: 86_401))
        for age in [-5, 0, 86_400.0] { #expect(!CoreMLPlace.isLeftOver(partial, age: age)) }
        for path in [
            "/\(id).partial", "/mine/\(id).partial", "/d/Photo.mlpackage/mine.partial",
            "/d/Photo.mlpackage/\(id)",
            "/d/Photo.mlpackage/\(id)x.partial", "/d/Photo.mlpackage/.partial", "", "/",
        ] {
            #expect(!CoreMLPlace.isLeftOver(path, age: 1e9), "\(path)")
        }
    }

    @Test(
        "a full disk and the like are the system's fault, however deep they stand; what Core ML refuses is not"
    )
    func faults() {
        func passes(_ links: (String, Int)...) -> Bool {
            CoreMLFault.isPassing(links.map { CoreMLFault.Link(domain: $0.0, code: $0.1) })
        }
        let refusal = ("com.apple.CoreML", 0)
        #expect(passes(("NSCocoaErrorDomain", 640)))
        #expect(passes(refusal, ("NSCocoaErrorDomain", 512), ("NSPOSIXErrorDomain", 28)))
        #expect(passes(refusal, ("NSPOSIXErrorDomain", 12)))
        #expect(passes(("com.apple.CoreML", 3)))
        #expect(!passes(refusal))
        #expect(!passes(("NSCocoaErrorDomain", 4)))
        #expect(!passes(("another", 28)))
        #expect(!passes())
    }

    @Test("only a compiled model needs no compiling")
    func compiled() {
        #expect(CoreMLPlace.isCompiled("/d/Photo.mlmodelc"))
        #expect(!CoreMLPlace.isCompiled("/d/Photo.mlpackage"))
        #expect(!CoreMLPlace.isCompiled("/d/Photo.mlmodel"))
    }
}
