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

    @Test("a key that stands twice is named, with its place")
    func twice() throws {
        let broken = text.replacing(
            #""compute": ["gpu", "cpu"]"#,
            with: #""compute": [], "compute": ["cpu"]"#
        )
        let place = try #require(broken.utf8.firstRange(of: Array(#""compute": ["cpu"]"#.utf8)))
        let offset = broken.utf8.distance(from: broken.startIndex, to: place.lowerBound)
        #expect { try Card(bytes: Array(broken.utf8)) } throws: { error in
            "\(error)".contains("`variants.onnx-cpu.compute` (byte \(offset))")
        }
    }

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

    @Test("a card adds what an app must do, and cannot say another thing of what the model does itself")
    func inside() throws {
        let inside = JSONValue.members(["x": .members(["scaler": .members(["red_bias": .text("0.5")])])])
        var manifest = try Samples.manifest()
        manifest.interface.preprocessing = .members([Interface.insideKey: inside])
        var card = Card()
        #expect(try card.merged(into: manifest).interface.preprocessing == manifest.interface.preprocessing)
        card.preprocessing = .members(["resize": .text("bilinear")])
        let merged = try card.merged(into: manifest).interface
        #expect(
            merged.preprocessing == .members([Interface.insideKey: inside, "resize": .text("bilinear")])
        )
        #expect(merged.hasPreprocessing(of: manifest.interface))
        card.preprocessing = .members([Interface.insideKey: .members(["x": .text("none")])])
        #expect(throws: ManifestError.self) { try card.merged(into: manifest) }
        manifest.interface.preprocessing = nil
        #expect(!merged.hasPreprocessing(of: manifest.interface))
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

    @Test(
        "labels of a function are said beside its name, and refused where they contradict or it is not there"
    )
    func functionLabels() throws {
        func card(_ members: String) throws -> Card {
            let card = try Card(
                bytes: Array(#"{"type":"sealift/card@1","function_labels":\#(members)}"#.utf8)
            )
            #expect(try Card(json: card.json) == card)
            return card
        }
        var manifest = try Samples.manifest()
        manifest.interface = try InterfaceTests.everything()
        manifest.interface.functions[0].labels = nil
        let named = try card(#"{"batch4":["x","y"]}"#)
        let merged = try named.merged(into: manifest)
        let labels = ClassLabels.texts([JSONText("x"), JSONText("y")])
        #expect(merged.interface.functions[0].labels == labels)
        #expect(merged.interface.labels == manifest.interface.labels)
        manifest.interface.functions[0].labels = labels
        #expect(try named.merged(into: manifest).interface == manifest.interface)
        func refusal(_ members: String) throws -> String? {
            let card = try card(members)
            do { _ = try card.merged(into: manifest) } catch { return "\(error)" }
            return nil
        }
        #expect(
            try refusal(#"{"batch4":["y","x"]}"#)?.contains("differs from the class labels of `batch4`")
                == true
        )
        #expect(try refusal(#"{"other":[1]}"#)?.contains("function `other`; the model has batch4") == true)
        #expect(try refusal(#"{"single":[1]}"#)?.contains("say its labels in `labels`") == true)
        for broken in [#"{"f":[]}"#, #"{"f":[1,"a"]}"#, #"{"f":"a"}"#, #"{"":[1]}"#, "[]"] {
            #expect(throws: ManifestError.self) { try card(broken) }
        }
    }

    @Test(
        "a licence that SPDX could write is taken",
        arguments: [
            "MIT", "Apache-2.0 OR MIT", "(MIT AND (BSD-3-Clause OR ISC))", "GPL-2.0-or-later",
            "GPL-2.0-only WITH Classpath-exception-2.0", "LicenseRef-llama3.1",
            "DocumentRef-spdx.x:LicenseRef-a", "",
        ]
    )
    func license(_ license: String) throws {
        let bytes = Array("{\"type\":\"sealift/card@1\",\"license\":\"\(license)\"}".utf8)
        #expect(try Card(bytes: bytes).description.license == license)
    }

    @Test(
        "a licence is written as SPDX writes it, each name of an expression by itself",
        arguments: [
            ("mit", "MIT"), ("mit OR apache-2.0", "MIT OR Apache-2.0"), ("(MIT)", "(MIT)"),
            ("( bsd-3-clause AND mit )  OR  isc", "(BSD-3-Clause AND MIT) OR ISC"),
            ("gpl-2.0+ WITH Classpath-exception-2.0", "GPL-2.0-or-later WITH Classpath-exception-2.0"),
            ("Gpl-3.0", "GPL-3.0-only"), ("no-such-name", "no-such-name"),
            ("LicenseRef-mit", "LicenseRef-mit"),
        ]
    )
    func spelling(_ written: String, _ signed: String) throws {
        let bytes = Array("{\"type\":\"sealift/card@1\",\"license\":\"\(written)\"}".utf8)
        #expect(try Card(bytes: bytes).description.license == signed)
    }

    @Test(
        "a licence that is no SPDX expression is refused by name",
        arguments: [
            "not a (license", "MIT\\u0000", "mit or apache", "MIT OR", "OR MIT", "MIT MIT", "(MIT", "MIT)",
            "()",
            "MIT WITH", "MIT WITH (X)", "Apache 2.0", "MIT\\n", "LicenseRef-", "x:LicenseRef-a", "+", "MIT++",
            "m\u{456}t", "MIT, ISC", " ",
        ]
    )
    func badLicense(_ license: String) {
        let bytes = Array("{\"type\":\"sealift/card@1\",\"license\":\"\(license)\"}".utf8)
        #expect {
            try Card(bytes: bytes)
        } throws: { error in
            guard case ManifestError.invalid(.card, "license", _, _) = error else { return false }
            return true
        }
    }

    private func card(_ members: String) throws -> Card {
        try Card(bytes: Array("{\"type\":\"sealift/card@1\",\(members)}".utf8))
    }

    @Test(
        "a member of the wrong shape is refused where it stands",
        arguments: [
            (#""checks":[{"zzz":1}]"#, "checks[0].inputs"),
            (#""checks":[{"inputs":{},"outputs":{}}]"#, "checks[0].inputs"),
            (
                #""checks":[{"inputs":{"x":{"base64":"AA=="}},"outputs":{"y":{"hex":"00"}}}]"#,
                "checks[0].outputs.y.base64"
            ),
            (
                #""checks":[{"inputs":{"x":{"base64":"AA=="}},"outputs":{"y":{"base64":"AA=="}},"relative":"1e-3"}]"#,
                "checks[0].relative"
            ),
            (
                #""checks":[{"inputs":{"x":{"base64":"AA=="}},"outputs":{"y":{"base64":"AA=="}},"argmax":false}]"#,
                "checks[0].argmax"
            ),
            (
                #""variants":{"default":{"memory":{"resident":10,"peak":1,"measured":"x"}}}"#,
                "variants.default.memory.peak"
            ),
        ]
    )
    func shape(_ members: String, _ member: String) {
        #expect {
            try card(members)
        } throws: { error in
            "\(error)".contains("`\(member)`")
        }
    }

    @Test("words about inputs, outputs and files that are not there are refused")
    func strangers() throws {
        var manifest = try Samples.manifest()
        let type = ValueType.tensor(TensorType(element: .float32, shape: .fixed([1])))
        manifest.interface = Interface(
            inputs: [Feature(name: try #require(FeatureName("x")), type: type)],
            outputs: [Feature(name: try #require(FeatureName("y")), type: type)]
        )
        let digest = manifest.variants[0].files[0].sha256.hex
        let zeros = String(repeating: "0", count: 64)
        func check(_ input: String, _ output: String) -> String {
            #""checks":[{"inputs":{"\#(input)":{"base64":"AA=="}},"outputs":{"\#(output)":{"base64":"AA=="}}}]"#
        }
        let good = [
            #""preprocessing":{"x":{"mean":"0.5"}}"#, #""preprocessing":{"mean":"0.5"}"#,
            #""tokenizers":[{"name":"t","sha256":"\#(digest)"}]"#, check("x", "y"),
        ]
        for members in good { #expect(throws: Never.self) { try card(members).merged(into: manifest) } }
        #expect(try card(check("x", "y")).merged(into: manifest).checks.count == manifest.checks.count + 1)
        let bad: [(String, String)] = [
            (#""preprocessing":{"nope":{"mean":"0.5"}}"#, "speaks of input `nope`; the model has x"),
            (#""tokenizers":[{"name":"t","sha256":"\#(zeros)"}]"#, "tokenizer `t`: no file of variant"),
            (check("nope", "y"), "speaks of input `nope`"), (check("x", "nope"), "speaks of output `nope`"),
            (
                #""checks":[{"inputs":{"x":{"file":"no.bin"}},"outputs":{"y":{"base64":"AA=="}}}]"#,
                "wants the file no.bin"
            ),
        ]
        for (members, reason) in bad {
            #expect {
                try card(members).merged(into: manifest)
            } throws: { error in
                "\(error)".contains(reason)
            }
        }
    }
}
