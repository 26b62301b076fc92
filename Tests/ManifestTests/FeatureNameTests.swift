import CanonicalJSON
import Manifest
import Names
import Testing

@Suite("Names of inputs and outputs as keys")
struct FeatureNameTests {
    private static let composed = "\u{E9}"
    private static let decomposed = "e\u{301}"

    /// Names that models have, and their keys.
    private static let known: [(String, String)] = [
        ("x", "x"), ("input ids:0", "input ids:0"), ("50%", "50%25"), ("größe", "gr%C3%B6%C3%9Fe"),
        ("出力", "%E5%87%BA%E5%8A%9B"), (composed, "%C3%A9"), (decomposed, "e%CC%81"), ("a%25b", "a%2525b"),
        (String(repeating: "é", count: 512), String(repeating: "%C3%A9", count: 512)),
    ]

    @Test("each name has one key of ASCII, and no other text is one")
    func keys() throws {
        for (name, key) in Self.known {
            #expect(try #require(FeatureName(name)).key == key)
            #expect(FeatureName.isKey(key), "\(key)")
        }
        let others = [
            "größe", "%", "%2", "%c3%a9", "%C3", "%41", "%FF", "a%2Gb", "", "a\n", "%00", "%0A", "%+1",
            String(repeating: "%C3%A9", count: 513),
        ]
        for text in others { #expect(!FeatureName.isKey(text), "\(text)") }
    }

    @Test("names are in the order of their bytes, ASCII or not")
    func order() throws {
        let texts = [
            "", "a", "aa", "ab", "b", "e", Self.decomposed, "z", Self.composed, "出力", "\u{FFFD}", "\u{10000}",
        ]
        let names = texts.compactMap { FeatureName($0) }
        for (index, name) in names.enumerated() {
            for (place, other) in names.enumerated() {
                #expect((name < other) == (index < place), "\(name) \(other)")
                #expect((name == other) == (index == place), "\(name) \(other)")
            }
        }
    }

    @Test(
        "an answer that names an output otherwise than by its key is refused, and one by keys is read again"
    )
    func answers() throws {
        for (_, key) in Self.known {
            let answer = CheckAnswer(.recorded([[key: [1, 2, 3]]]))
            #expect(try CheckAnswer(canonical: answer.canonical) == answer)
        }
        for name in ["größe", "50%", "a\rb", ""] {
            let outputs = JSONValue.members([:]).with([.key(name)], .text("AAAA"))
            let value = JSONValue.members([
                "type": .text("sealift/check-answer@1"), "recorded": .array([outputs]),
            ])
            #expect(throws: ManifestError.self, "\(name)") { try CheckAnswer(json: value) }
        }
    }

    /// A manifest whose model takes `input` and gives `output`.
    private func manifest(_ input: String, _ output: String) throws -> ModelManifest {
        let type = ValueType.tensor(TensorType(element: .float32, shape: .fixed([1])))
        var manifest = try Samples.manifest()
        manifest.interface = Interface(
            inputs: [Feature(name: try #require(FeatureName(input)), type: type)],
            outputs: [Feature(name: try #require(FeatureName(output)), type: type)]
        )
        return manifest
    }

    private func card(_ members: String) throws -> Card {
        try Card(bytes: Array(#"{"type": "sealift/card@1", \#(members)}"#.utf8))
    }

    private func checks(_ input: String, _ output: String) -> String {
        let value = #"{"base64": "AACAPw=="}"#
        return #""checks": [{"inputs": {"\#(input)": \#(value)}, "outputs": {"\#(output)": \#(value)}}]"#
    }

    @Test(
        "a card may say the name or its key, and the manifest has the key and can be signed",
        arguments: known
    )
    func ofCard(_ name: String, _ key: String) throws {
        let manifest = try manifest(name, name)
        for said in [name, key] {
            let words = checks(said, said) + #", "preprocessing": {"\#(said)": {"mean": "0.5"}}"#
            let merged = try card(words).merged(into: manifest)
            #expect(merged.checks.last?["inputs"]?.object?.keys == [key])
            #expect(merged.checks.last?["outputs"]?.object?.keys == [key])
            #expect(merged.interface.preprocessing?.object?.keys == [key])
            #expect(try ModelManifest(canonical: merged.encoded()) == merged)
        }
    }

    @Test("a name that is written with other code points than the model's is not taken for it")
    func normalForms() throws {
        let manifest = try manifest(Self.decomposed, "y")
        #expect(throws: ManifestError.self) {
            try card(checks(Self.composed, "y")).merged(into: manifest)
        }
        #expect(throws: ManifestError.self) {
            try card(#""preprocessing": {"\#(Self.composed)": {"mean": "0.5"}}"#).merged(into: manifest)
        }
        let twice = checks("y", "y").replacing(
            #""inputs": {"#,
            with: #""inputs": {"\#(Self.decomposed)": {"base64": ""}, "#
        )
        #expect(throws: ManifestError.self) { try card(twice).merged(into: manifest) }
    }

    @Test("one input said twice, by its name and by its key, is refused")
    func twice() throws {
        let value = #"{"base64": "AACAPw=="}"#
        let words =
            #""checks": [{"inputs": {"é": \#(value), "%C3%A9": \#(value)}, "outputs": {"y": \#(value)}}]"#
        #expect {
            try card(words).merged(into: try manifest("é", "y"))
        } throws: { error in
            "\(error)".contains("speaks twice of input `é`")
        }
    }

    @Test("what cannot be signed is named with its place: a key beyond ASCII, or a number beyond 2^53 - 1")
    func unsigned() throws {
        let bad: [(String, String)] = [
            (
                #""provenance": {"runs": [{"größe": "1"}]}"#,
                "`provenance.runs[0].größe` must be named in ASCII alone"
            ),
            (#""provenance": {"seed": 9007199254740992}"#, "`provenance.seed` must be an integer from"),
            (
                #""provenance": {"seed": 123456789012345678901234567890}"#,
                "`provenance.seed` must be an integer from"
            ),
            (
                #""postprocessing": {"größe": "1"}"#,
                "`interface.postprocessing.größe` must be named in ASCII alone"
            ),
            (
                #""preprocessing": {"größe": "224"}"#,
                "`interface.preprocessing.größe` must be named in ASCII alone"
            ),
        ]
        for (words, reason) in bad {
            let merged = try card(words).merged(into: try manifest("x", "y"))
            #expect {
                try merged.encoded()
            } throws: { error in
                "\(error)".contains(reason)
            }
        }
    }
}
