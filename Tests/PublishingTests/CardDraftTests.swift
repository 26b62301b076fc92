import Testing

@testable import Publishing

@Suite("README front matter")
struct ReadmeFrontMatterTests {
    @Test("keys, lists in lines and in brackets, and quotes are read")
    func reading() throws {
        let readme = """
            ---
            # a comment
            license: "mit"
            base_model:
              - hub/one
              - 'hub/two'
            tags: [vision, "a b"]
            nested:
              key: value
            datasets:
            - set
            ---
            license: not this
            """
        let matter = try #require(ReadmeFrontMatter(readme))
        #expect(matter.values(of: "license") == ["mit"])
        #expect(matter.values(of: "base_model") == ["hub/one", "hub/two"])
        #expect(matter.values(of: "tags") == ["vision", "a b"])
        #expect(matter.values(of: "datasets") == ["set"])
        #expect(matter.values(of: "key").isEmpty)
    }

    @Test(
        "text without front matter has none",
        arguments: ["", "# Model", "---\nlicense: mit\n", " ---\n---", "text\n---\nlicense: mit\n---\n"]
    )
    func none(_ readme: String) {
        // An indented first line is still a line of three dashes.
        let isEmpty = ReadmeFrontMatter(readme).map { $0.texts.isEmpty && $0.lists.isEmpty } ?? true
        #expect(isEmpty)
    }
}
