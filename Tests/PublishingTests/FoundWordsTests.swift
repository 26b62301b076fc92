import CanonicalJSON
import Foundation
import Manifest
import ModelFormats
import Names
import Support
import Testing

@testable import Publishing

@Suite("What model files say of licence and origin")
struct FoundWordsTests {
    private let scratch = Scratch()

    private static func number(_ value: Int, _ width: Int) -> [UInt8] {
        (0..<width).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
    }

    private static func text(_ text: String) -> [UInt8] { number(text.utf8.count, 8) + Array(text.utf8) }

    /// A GGUF file of such pairs of texts, without tensors.
    private static func gguf(_ pairs: [(String, String)]) -> [UInt8] {
        let all = [("general.architecture", "llama")] + pairs
        return Array("GGUF".utf8) + number(3, 4) + number(0, 8) + number(all.count, 8)
            + all.flatMap { text($0.0) + number(8, 4) + text($0.1) }
    }

    private func read(
        _ pairs: [(String, String)],
        readme: String? = nil,
        card: ModelDescription? = nil
    ) async throws -> (description: ModelDescription, notes: [String]) {
        try scratch.write("m/model.gguf", Self.gguf(pairs))
        if let readme { try scratch.write("m/README.md", Array("---\n\(readme)\n---\n".utf8)) }
        let name = try #require(VariantName("default"))
        let source = try await VersionSource.read([VariantSource(name: name, path: scratch.path("m"))])
        var declared = Card()
        if let card { declared.description = card }
        let manifest = try source.manifest(
            of: try #require(ModelName("a/b")),
            version: try #require(ModelVersion("1.0.0")),
            created: UnixTime(rawValue: 1_700_000_000),
            card: card == nil ? nil : declared
        )
        return (manifest.description, source.notes(beside: card == nil ? nil : declared))
    }

    private static let origin = [
        ("general.name", "Tiny"), ("general.author", "A. Author"),
        ("general.base_model.0.repo_url", "https://hub/base"),
        ("general.source.url", "https://hub/tiny"),
    ]

    @Test("a GGUF file's licence and origin stand where nobody else says them")
    func defaults() async throws {
        let pairs = [("general.license", "apache-2.0"), ("general.license.link", "https://l")] + Self.origin
        let found = try await read(pairs)
        #expect(found.description.license == "Apache-2.0" && found.description.licenseURL == "https://l")
        let provenance = JSONValue.members([
            "name": .text("Tiny"), "author": .text("A. Author"), "base_model": .text("https://hub/base"),
            "source": .text("https://hub/tiny"),
        ])
        #expect(found.description.provenance == provenance && found.notes.isEmpty)
        let own = try await read([("general.license", "other"), ("general.license.name", "llama3")])
        #expect(own.description.license == "LicenseRef-llama3")
    }

    @Test("the card counts before the README, and that before the file; where two differ it is told")
    func order() async throws {
        var card = ModelDescription()
        card.license = "ISC"
        card.provenance = .members(["commit": .text("abc")])
        let pairs = [("general.license", "mit")] + Self.origin
        let said = try await read(pairs, readme: "license: apache-2.0\ndatasets: [d]", card: card)
        #expect(said.description.license == "ISC" && said.description.provenance == card.provenance)
        #expect(said.notes.isEmpty)
        let readme = try await read(pairs, readme: "license: apache-2.0\ndatasets: [d]")
        #expect(readme.description.license == "Apache-2.0")
        #expect(readme.description.provenance == .members(["datasets": .text("d")]))
        #expect(
            readme.notes == [
                "model.gguf says MIT in `general.license`, and README.md Apache-2.0, which is taken"
            ]
        )
        let same = try await read(pairs, readme: "license: mit")
        #expect(same.description.license == "MIT" && same.notes.isEmpty)
        let silent = try await read(pairs, readme: "tags: [a]")
        #expect(silent.description.license == "MIT")
        // What the README says of it and is not understood is not overruled by another one.
        let unclear = try await read(pairs, readme: "license: [mit, isc]")
        #expect(unclear.description.license == nil && unclear.notes.count == 1, "\(unclear)")
    }

    @Test(
        "a licence that is not certain is not taken, and named",
        arguments: ["llama2", "see the file", "mit\u{7}", "other", ""]
    )
    func uncertain(_ text: String) async throws {
        let found = try await read([("general.license", text)])
        #expect(found.description.license == nil)
        let isSaid = !text.isEmpty && !text.contains("\u{7}")
        #expect(
            found.notes.contains { $0.hasPrefix("model.gguf: no licence is taken") } == isSaid,
            "\(found.notes)"
        )
    }
}
