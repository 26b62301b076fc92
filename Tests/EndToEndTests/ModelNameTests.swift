import Support
import Testing

extension EndToEnd {
    /// A model whose input and output have names beyond ASCII, in either normal form, goes the whole way.
    @Suite("Names beyond ASCII end to end", .serialized, .enabled(if: Peers.hasRuntime, Peers.noRuntime))
    struct ModelNameTests {
        private let ort = Peers.runtimeEnvironment

        private func document(_ world: World, _ name: String, _ text: String) throws -> String {
            try world.scratch.write(name, Array(text.utf8))
        }

        @Test(
            "it is inspected, published with checks, tried, activated, run, and compared",
            arguments: [("größe", "出力"), ("caf\u{E9} 50%", "re\u{301}sultat")]
        )
        func whole(_ input: String, _ output: String) throws {
            let world = try World()
            try world.created()
            try world.serve()
            let bytes = TestModel.bytes(label: "a", input: input, output: output)
            let model = try world.scratch.write("a.onnx", bytes)
            for name in [input, output] {
                #expect(try world.run(["inspect", model]).expecting(0).output.contains(name))
            }
            // One with outputs as a person writes them, one whose outputs are recorded, one of a card.
            let given = #"{"inputs": {"\#(input)": [1, 2, 3, 4]}, "outputs": {"\#(output)": [3, 5, 7, 9]}}"#
            let open = #"{"inputs": {"\#(input)": [4, 3, 2, 1]}}"#
            let checks = #"{"type": "sealift/checks@1", "checks": [\#(given), \#(open)]}"#
            let x = #"{"base64": "AACAPwAAAEAAAEBAAACAQA=="}"#
            let y = #"{"base64": "AABAQAAAoEAAAOBAAAAQQQ=="}"#
            let ofCard = #"{"inputs": {"\#(input)": \#(x)}, "outputs": {"\#(output)": \#(y)}}"#
            let words = #""checks": [\#(ofCard)], "preprocessing": {"\#(input)": {"mean": "0.5"}}"#
            let publish =
                ["publish", model, "--model", "vision/detector", "--channel", "stable", "--version"]
            let extra = [
                "--checks", try document(world, "checks.json", checks), "--card",
                try document(world, "card.json", #"{"type": "sealift/card@1", \#(words)}"#),
            ]
            let published = try world.run(publish + ["1.0.0"] + extra, environment: ort).expecting(0)
            #expect(published.errors.contains("3 golden vectors reproduced with onnxruntime"), "\(published)")
            let synced = try world.sync(environment: ort).expecting(0)
            #expect(synced.output.contains("its 3 golden vectors reproduced"), "\(synced)")
            let file = try document(world, "input.json", #"{"\#(input)": [1, 2, 3, 4]}"#)
            let infer = ["infer", "vision/detector", "--directory", world.device, "--input", file]
            let answer = try world.run(infer, environment: ort).expecting(0).output
            #expect(answer.contains(output) && answer.contains("[3.0,5.0,7.0,9.0]"), "\(answer)")
            // The signed one, since the card asks for pre-processing that no file states.
            let signed = ["inspect", "vision/detector@1.0.0", "--expectation"]
            let app = try world.run(signed).expecting(0).output
            let compat = ["compat", "--expectation", try document(world, "app.json", app)]
            try world.run(compat + ["vision/detector@1.0.0"]).expecting(0)
            try world.run(compat + [try world.scratch.write("b.onnx", TestModel.bytes(label: "b"))])
                .expecting(1)
        }

        @Test("what no manifest can say is refused before anything is published, with its place")
        func refused() throws {
            let world = try World()
            try world.created()
            try world.serve()
            let model = try world.scratch.write("a.onnx", TestModel.bytes(label: "a"))
            let card = #"{"type": "sealift/card@1", "provenance": {"größe": "1"}}"#
            let words = ["--card", try document(world, "card.json", card)]
            let publish = ["publish", model, "--model", "vision/detector", "--version", "1.0.0"] + words
            let refused = try world.run(publish).expecting(1)
            #expect(refused.errors.contains("`provenance.größe` must be named in ASCII alone"), "\(refused)")
        }
    }
}
