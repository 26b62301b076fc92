import CanonicalJSON
import Manifest
import Testing

@testable import Publishing

@Suite("README front matter")
struct ReadmeFrontMatterTests {
    private func matter(_ text: String) throws -> ReadmeFrontMatter {
        try #require(ReadmeFrontMatter(Array("---\n\(text)\n---\n# Model\n".utf8)))
    }

    private func license(_ matter: ReadmeFrontMatter) -> String? {
        var description = ModelDescription()
        matter.fill(&description)
        return description.license
    }

    @Test("keys, lists in lines and in brackets, quotes and comments are read")
    func reading() throws {
        let matter = try matter(
            """
            # a comment
            license: "mit" # the text is in LICENSE
            base_model:
              - hub/one # first

              # between
              - 'hub/two'
            tags: [vision, "a, b", 'it']
            nested:
              key: value
            datasets:
            - set
            """
        )
        #expect(license(matter) == "MIT")
        #expect(matter.values(of: "base_model") == ["hub/one", "hub/two"])
        #expect(matter.values(of: "tags") == ["vision", "a, b", "it"])
        #expect(matter.values(of: "datasets") == ["set"])
        #expect(matter.values(of: "key").isEmpty)
        #expect(matter.notes(beside: ModelDescription()).isEmpty)
    }

    @Test(
        "text without front matter has none",
        arguments: ["", "# Model", " ---\n---", "text\n---\nlicense: mit\n---\n"]
    )
    func none(_ readme: String) { #expect(ReadmeFrontMatter(Array(readme.utf8)) == nil) }

    @Test("front matter that does not end is not taken, and a note says so")
    func endless() throws {
        let matter = try #require(ReadmeFrontMatter(Array("---\nlicense: mit\n# Model\n".utf8)))
        #expect(license(matter) == nil)
        #expect(matter.notes(beside: ModelDescription()).first?.contains("none ends") == true)
    }

    static let understood: [(String, String)] = [
        ("license: mit", "MIT"), ("license: MIT", "MIT"), ("license: apache-2.0 # see LICENSE", "Apache-2.0"),
        ("license: 'mit'", "MIT"), ("license: [mit]", "MIT"), ("license:\n- mit", "MIT"),
        ("license:   \"bsd-3-clause\"   ", "BSD-3-Clause"), ("license: MIT OR ISC", "MIT OR ISC"),
        ("license: mit OR apache-2.0", "MIT OR Apache-2.0"),
        ("license: other\nlicense_name: llama3.1", "LicenseRef-llama3.1"),
        ("license: gpl-3.0", "GPL-3.0-only"),
    ]

    @Test("a licence that is certain is taken as SPDX writes it", arguments: understood)
    func certain(_ text: String, _ expected: String) throws {
        let matter = try matter(text)
        #expect(license(matter) == expected)
        #expect(matter.notes(beside: ModelDescription()).isEmpty)
    }

    @Test("line ends of Windows and a byte order mark change nothing")
    func lineEnds() throws {
        let text = "\u{FEFF}---\r\nlicense: mit\r\nbase_model: a/b\r\n---\r\n# hi\r\n"
        let matter = try #require(ReadmeFrontMatter(Array(text.utf8)))
        #expect(license(matter) == "MIT")
        #expect(matter.values(of: "base_model") == ["a/b"])
    }

    @Test(
        "what is not certain is not taken, and a note says so",
        arguments: [
            "license: [mit, apache-2.0]", "license:\n- mit\n- apache-2.0", "license: &a mit\nx: *a",
            "license: *a", "license: !!python/object/apply:os.system [id]", "license: |\n  mit",
            "license: >\n  mit",
            "license: mit\nlicense: gpl-3.0", "license: mit\n  or so", "license: \"mit\" or \"isc\"",
            "license: \"m\\x69t\"", "license: 'mit", "license: {name: mit}", "license: [mit",
            "license: [[mit]]",
            "license: true", "license: 1.0", "license: mit: isc", "license: other", "license: llama2",
            "license: see the file LICENSE", "license: mit\n\"license\": isc", "license: mit\n? isc",
            "license: mit\n{license: isc}", "license: mit\nlicense : isc", "license:\tmit",
            "license: mit\u{2028}license: isc", "license:\n  name: mit", "license: mit, isc",
        ]
    )
    func uncertain(_ text: String) throws {
        let matter = try matter(text)
        #expect(license(matter) == nil)
        let notes = matter.notes(beside: ModelDescription())
        #expect(notes.first?.hasPrefix("README.md: ") == true, "\(notes)")
        var said = ModelDescription()
        said.license = "ISC"
        matter.fill(&said)
        #expect(said.license == "ISC")
    }

    @Test("no licence is no trouble", arguments: ["license: null", "license: ~", "license:", "tags: [a]"])
    func absent(_ text: String) throws {
        let matter = try matter(text)
        #expect(license(matter) == nil)
        #expect(matter.notes(beside: ModelDescription()).isEmpty)
    }

    @Test("evaluation metrics are named as left out, unless the card has an origin")
    func metrics() throws {
        let text = """
            license: mit
            model-index:
            - name: m
              results:
              - task: {type: x}
                metrics:
                - type: accuracy
                  value: 0.9
            tags: [a]
            """
        let matter = try matter(text)
        let notes = matter.notes(beside: ModelDescription())
        #expect(notes.count == 1 && notes[0].contains("`model-index`"), "\(notes)")
        var said = ModelDescription()
        said.provenance = .members(["metrics": .text("0.9")])
        #expect(matter.notes(beside: said).isEmpty)
        #expect(license(matter) == "MIT")
    }

    @Test("bytes that are no text are not taken")
    func notText() throws {
        let bytes = Array("---\nlicense: m".utf8) + [0xFF] + Array("t\n---\n".utf8)
        let matter = try #require(ReadmeFrontMatter(bytes))
        #expect(license(matter) == nil)
        #expect(matter.notes(beside: ModelDescription()).first?.contains("line 2 is not UTF-8") == true)
    }
}
