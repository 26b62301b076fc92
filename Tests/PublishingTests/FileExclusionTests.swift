import Foundation
import Manifest
import ModelFormats
import Names
import Support
import Testing

@testable import Publishing

@Suite("Files that are left out")
struct FileExclusionTests {
    private let scratch = Scratch()

    struct Case: CustomTestStringConvertible, Sendable {
        let pattern: String
        let names: [String]
        var testDescription: String { pattern }

        init(_ pattern: String, _ names: String...) {
            self.pattern = pattern
            self.names = names
        }
    }

    private static let places = [
        "a.bin", "b.gguf", "onnx", "onnx/a.onnx", "onnx/a_q4.onnx", "onnx/deep/a.bin", "x-Q8_0.gguf", "é.bin",
    ]

    static let cases = [
        Case("*.bin", "a.bin", "onnx/deep/a.bin", "é.bin"), Case("onnx", "onnx"), Case("onnx/", "onnx"),
        Case("./onnx", "onnx"), Case("onnx/*", "onnx/a.onnx", "onnx/a_q4.onnx"),
        Case("onnx/**", "onnx/a.onnx", "onnx/a_q4.onnx", "onnx/deep/a.bin"),
        Case("onnx/*_q?.onnx", "onnx/a_q4.onnx"),
        Case("**/a.bin", "onnx/deep/a.bin"), Case("*Q8*", "x-Q8_0.gguf"), Case("?.gguf", "b.gguf"),
        Case("??.bin", "é.bin"),
        Case("a.BIN"), Case("*/a.bin"), Case("**a.bin", "a.bin", "onnx/deep/a.bin"),
        Case("*a*.*n*x", "onnx/a.onnx", "onnx/a_q4.onnx"),
        Case("[a].bin"),
        Case(
            "*",
            "a.bin",
            "b.gguf",
            "onnx",
            "onnx/a.onnx",
            "onnx/a_q4.onnx",
            "onnx/deep/a.bin",
            "x-Q8_0.gguf",
            "é.bin"
        ),
    ]

    @Test("a pattern is about names, and with a slash about paths", arguments: cases)
    func patterns(_ example: Case) throws {
        let exclusions = try FileExclusions([example.pattern])
        #expect(Self.places.filter { !exclusions.matching($0).isEmpty } == example.names)
        #expect(exclusions.texts == [example.pattern])
    }

    @Test("a pattern that can name no file is no pattern", arguments: ["", "/", "/etc/passwd", "./", "//"])
    func noPattern(_ text: String) {
        #expect(throws: PublishingError.self) { try FileExclusions([text]) }
    }

    @Test("stars do not multiply the work: a hundred of them are as quick as a few")
    func stars() throws {
        let exclusions = try FileExclusions([String(repeating: "*a", count: 100) + "b"])
        #expect(exclusions.matching(String(repeating: "a", count: 255)).isEmpty)
    }

    // MARK: folders

    private func copy(_ fixture: String, to place: String) throws {
        let target = URL(filePath: scratch.path(place))
        try FileManager.default.createDirectory(
            at: target.deletingLastPathComponent(),
            withIntermediateDirectories: true
        )
        try FileManager.default.copyItem(
            atPath: InspectedVariantTests.fixtures + "/" + fixture,
            toPath: target.path
        )
    }

    private func source(_ place: String, _ patterns: String...) throws -> VariantSource {
        let name = try #require(VariantName("default"))
        return VariantSource(name: name, path: scratch.path(place), without: try FileExclusions(patterns))
    }

    private func refusal(_ source: VariantSource) async -> String {
        do {
            return "taken: \(try await InspectedVariant.inspect(source).entry)"
        } catch { return "\(error)" }
    }

    @Test(
        "of a folder with one model in several formats, and pickles, one is published, and the rest is named"
    )
    func folder() async throws {
        try copy("gguf/tiny_llama.gguf", to: "m/model-Q4.gguf")
        try copy("gguf/tiny_llama.gguf", to: "m/model-Q8.gguf")
        try copy("onnx/mlp_dynamic_batch.onnx", to: "m/onnx/model.onnx")
        try scratch.write("m/pytorch_model.bin", [0x80, 2, 0x7D, 0x71, 0, 0x2E])
        try scratch.write("m/.gitattributes", [])
        let bin = await refusal(try source("m"))
        #expect(bin.contains("pytorch_model.bin") && bin.contains("--exclude pytorch_model.bin"), "\(bin)")
        let several = await refusal(try source("m", "*.bin"))
        #expect(
            several.contains("there are 3 models") && several.contains("--exclude onnx/model.onnx"),
            "\(several)"
        )
        let found = try await InspectedVariant.inspect(try source("m", "*.bin", "*Q8*", "onnx"))
        #expect("\(found.entry)" == "model-Q4.gguf" && found.files.count == 1)
        #expect(found.leftOut == [".gitattributes", "model-Q8.gguf", "onnx/", "pytorch_model.bin"])
        let other = try await InspectedVariant.inspect(try source("m", "*.bin", "*.gguf"))
        #expect("\(other.entry)" == "onnx/model.onnx")
        #expect(
            await refusal(try source("m", "*")).contains("no file to publish but what --exclude leaves out")
        )
    }

    @Test("nothing of what is left out is looked at: no name, no link, no depth")
    func unseen() async throws {
        try copy("onnx/mlp_dynamic_batch.onnx", to: "m/model.onnx")
        try scratch.write("m/bad: name", [1])
        try FileManager.default.createSymbolicLink(
            atPath: scratch.path("m/gone"),
            withDestinationPath: "nowhere"
        )
        try FileManager.default.createSymbolicLink(
            atPath: scratch.path("m/out"),
            withDestinationPath: "/etc/hostname"
        )
        #expect(!(await refusal(try source("m"))).hasPrefix("taken"))
        #expect(await refusal(try source("m", "bad*", "gone", "out")) == "taken: model.onnx")
    }

    @Test(
        "a pattern that leaves out nothing is refused, of several variants one that leaves out nothing of any"
    )
    func idle() async throws {
        try copy("onnx/mlp_dynamic_batch.onnx", to: "a/model.onnx")
        try copy("onnx/mlp_dynamic_batch.onnx", to: "b/model.onnx")
        try scratch.write("b/more.bin", [0x80, 2, 0x7D, 0x71, 0, 0x2E])
        #expect(await refusal(try source("a", "*.bin")).contains("--exclude ‘*.bin’ matches nothing in"))
        let single = await refusal(try source("a/model.onnx", "model.onnx"))
        #expect(single.contains("matches nothing"), "\(single)")
        let both = try ["a", "b"].map { try source($0, "*.bin") }
        #expect(try await InspectedVariant.inspect(all: both, card: nil).map(\.files.count) == [1, 1])
        #expect(try await VersionSource.read(both).leftOut == ["more.bin"])
        let neither = try ["a", "b"].map { try source($0, "*.bin", "*.txt") }
        await #expect(throws: PublishingError.self) { try await VersionSource.read(neither) }
    }
}
