import Arguments
import Testing

@Suite("Arguments")
struct ArgumentsTests {
    private let spec = CommandSpec(
        name: "serve",
        summary: "serve a registry",
        positions: [.required("DIR"), .optional("NAME")],
        options: [
            .value("listen", "ADDRESS", "where to listen", environment: "SEALIFT_LISTEN"),
            .value("host", "NAME", "a host name", repeatable: true), .flag("json", "as JSON"),
        ],
        example: "sealift serve registry"
    )

    private func parse(
        _ words: [String],
        environment: [String: String] = [:]
    ) throws(UsageError) -> ParsedArguments {
        try ParsedArguments(words, for: spec, environment: environment)
    }

    @Test("a value may stand apart or after an equals sign")
    func values() throws {
        let parsed = try parse(["reg", "--listen", "a:1", "--host=x", "--host", "y=z", "--json"])
        #expect(parsed.positions == ["reg"])
        #expect(parsed["listen"] == "a:1")
        #expect(parsed.all("host") == ["x", "y=z"])
        #expect(parsed.has("json"))
    }

    @Test("only the last position may be repeated, and one is needed")
    func several() throws {
        let spec = CommandSpec(
            name: "yank",
            summary: "yank versions",
            positions: [.required("MODEL"), .several("VERSION")],
            example: "sealift yank a/b 1.0.0"
        )
        let parsed = try ParsedArguments(["a/b", "1", "2", "3"], for: spec, environment: [:])
        #expect(parsed.positions == ["a/b", "1", "2", "3"])
        #expect(throws: UsageError.self) { try ParsedArguments(["a/b"], for: spec, environment: [:]) }
        #expect(Help.page(for: spec).contains("yank MODEL VERSION…"))
    }

    @Test("words after -- are positions")
    func terminator() throws {
        #expect(try parse(["--", "--json"]).positions == ["--json"])
    }

    @Test("the environment stands in for an option that was not given")
    func environment() throws {
        let environment = ["SEALIFT_LISTEN": "e:1"]
        #expect(try parse(["reg"], environment: environment)["listen"] == "e:1")
        #expect(try parse(["reg", "--listen=a:1"], environment: environment)["listen"] == "a:1")
    }

    @Test("an option does not take the next one for its value, unless that is attached")
    func forgotten() throws {
        #expect(throws: UsageError.optionInPlaceOfValue(option: "listen", found: "--json")) {
            try parse(["reg", "--listen", "--json"])
        }
        #expect(try parse(["reg", "--listen=--json"])["listen"] == "--json")
        #expect(try parse(["reg", "--listen", "-"])["listen"] == "-")
    }

    @Test("the commands of one name are listed together")
    func group() {
        let page = Help.group("token", of: [spec])
        #expect(page.contains("  serve  serve a registry") && page.contains("‘sealift serve --help’"))
    }

    @Test(
        "a call that cannot be understood is refused",
        arguments: [
            (
                ["reg", "--lisen", "x"],
                UsageError.unknownOption("--lisen", command: "serve", suggestion: "listen")
            ),
            (["reg", "-x"], .unknownOption("-x", command: "serve", suggestion: nil)),
            (["reg", "--listen"], .missingValue(option: "listen", placeholder: "ADDRESS")),
            (["reg", "--listen="], .missingValue(option: "listen", placeholder: "ADDRESS")),
            (["reg", "--listen", ""], .missingValue(option: "listen", placeholder: "ADDRESS")),
            ([""], .missingPosition(name: "DIR", command: "serve")),
            (["reg", ""], .missingPosition(name: "NAME", command: "serve")),
            (["reg", "--json=1"], .takesNoValue(option: "json")),
            (["reg", "--listen=a", "--listen=b"], .givenTwice(option: "listen")),
            ([], .missingPosition(name: "DIR", command: "serve")),
            (["a", "b", "c"], .unexpectedPosition("c", command: "serve")),
        ]
    )
    func refused(words: [String], error: UsageError) {
        #expect(throws: error) { try parse(words) }
    }

    @Test("help is asked for anywhere and checks nothing else")
    func help() throws {
        #expect(try parse(["--nonsense", "--help"]).wantsHelp)
        let page = Help.page(for: spec)
        #expect(page.contains("sealift serve DIR [NAME] [OPTIONS]"))
        #expect(page.contains("--listen ADDRESS"))
        #expect(page.contains("[SEALIFT_LISTEN]"))
    }
}

@Suite("Plain text")
struct PlainTextTests {
    @Test(
        "what others wrote cannot move the cursor, forge a line, turn the writing or hide",
        arguments: [
            ("plain, ‘quoted’, ünï, 模型", "plain, ‘quoted’, ünï, 模型"), ("a\u{1B}[31mb", #"a\u{1B}[31mb"#),
            ("a\r\nb", #"a\u{D}\u{A}b"#), ("\u{202E}gnp.exe", #"\u{202E}gnp.exe"#),
            ("\u{9B}2J", #"\u{9B}2J"#), ("x\u{200B}", #"x\u{200B}"#), ("\u{FEFF}x", #"\u{FEFF}x"#),
            ("a\u{AD}b\u{2060}\u{FE0F}", #"a\u{AD}b\u{2060}\u{FE0F}"#), ("e\u{301}", "e\u{301}"),
            ("\u{0}\t\u{7F}\u{2028}", #"\u{0}\u{9}\u{7F}\u{2028}"#),
        ]
    )
    func lines(_ text: String, _ expected: String) { #expect(PlainText.line(text) == expected) }

    @Test("several lines keep their line feeds and nothing else")
    func several() { #expect(PlainText.lines("a\nb\u{7}") == "a\nb" + #"\u{7}"#) }
}
