import Testing
import Trust

@Suite("Target path")
struct TargetPathTests {
    @Test(
        "a pattern matches part by part; * and ? stand for code points and never cross a slash",
        arguments: [
            ("vision/detector/1.0.0.json", "vision/*/*", true), ("vision/detector", "vision/*/*", false),
            ("vision/a/b/c", "vision/*/*", false),
            ("vision/detector/live.json", "vision/detector/live.json", true),
            ("visions/a/b", "vision/*/*", false), ("a", "*", true), ("", "*", true), ("a/", "*", false),
            ("a/", "*/*", true), ("/a", "*/a", true), ("/a", "a", false), ("abc", "a*c", true),
            ("ac", "a*c", true),
            ("abcd", "a*c", false), ("abc", "a?c", true), ("ac", "a?c", false), ("aXbXc", "a*b*c", true),
            ("aXbXcX", "a*b*c", false), ("aaab", "*ab", true), ("aaa", "**a", true), ("é", "?", true),
            ("e\u{301}", "?", false), ("e\u{301}", "??", true), ("é", "e\u{301}", false), ("😀", "?", true),
            ("A", "a", false), ("[a]", "[a]", false), ("a", "[a]", true), ("a.b", "a.b", true),
            ("axb", "a.b", false),
            ("a\nb", "a*b", true), ("\r\n", "?", false), ("\r\n", "??", true),
            ("ab/cd", "a*/?d", true), ("ab/cd", "a*d", false), ("a/b/c", "*/b", false), ("éa", "*?", true),
            ("é", "*??", false), ("a/", "a/?", false), ("b/a", "*a/a", false), ("aa/ab", "*a/*b", true),
        ]
    )
    func matches(path: String, pattern: String, expected: Bool) {
        #expect(TargetPath(path).matches(pattern) == expected)
    }

    @Test(
        "a set stands for one code point of its part, as Python's fnmatch reads it",
        arguments: [
            ("b", "[abc]", true), ("d", "[abc]", false), ("b", "[a-c]", true), ("d", "[a-c]", false),
            ("d", "[!a-c]", true), ("b", "[!a-c]", false), ("!", "[a!]", true), ("^", "[^a]", true),
            ("a", "[^a]", true), ("b", "[^a]", false), ("]", "[]a]", true), ("a", "[]a]", true),
            ("]", "[!]]", false), ("a", "[!]]", true), ("[]", "[]", true), ("[!]", "[!]", true),
            ("[a", "[a", true), ("a", "[a", false), ("-", "[-a]", true), ("-", "[a-]", true),
            ("b", "[a-]", false),
            ("-", "[a-c-e]", true), ("e", "[a-c-e]", true), ("d", "[a-c-e]", false), ("b", "[c-a]", false),
            ("b", "[!c-a]", true), ("x", "[c-ax]", true), ("\\", "[\\]", true), ("é", "[è-ê]", true),
            ("\u{E8}", "[!é]", true), ("😀", "[😀-😂]", true), ("a/b", "a[/]b", false), ("a[/]b", "a[/]b", true),
            ("a/b", "[!x]/[!x]", true), ("a/b", "[!x][!x][!x]", false), ("ab", "*[b]", true),
            ("abcb", "*[b]", true), ("abc", "*[b]", false), ("a1/b2", "*[0-9]/?[2]", true),
            ("v[1]", "v[[]1]", true), ("", "[a]", false), ("", "[!a]", false), ("-", "[b-a!-z]", false),
        ]
    )
    func sets(path: String, pattern: String, expected: Bool) {
        #expect(TargetPath(path).matches(pattern) == expected)
    }

    @Test("a pattern of many stars is matched without trying every split")
    func stars() {
        let path = TargetPath(String(repeating: "a", count: 2_000))
        #expect(!path.matches(String(repeating: "a*", count: 200) + "b"))
    }

    @Test("no two paths have one file name, whatever a path looks like")
    func fileNames() {
        let long = TargetPath(String(repeating: "a", count: 300))
        let lookalike = TargetPath(long.fileName)
        #expect(long.fileName != lookalike.fileName)
        #expect(lookalike.fileName != TargetPath(lookalike.fileName).fileName)
        #expect(TargetPath("vision/detector").fileName == "vision%2Fdetector")
    }

    @Test("paths and roles are compared byte for byte, not by Unicode's equivalence")
    func bytes() {
        #expect(TargetPath("é") != TargetPath("e\u{301}"))
        #expect(RoleName("é") != RoleName("e\u{301}"))
        let file = TargetFile(of: [])
        #expect(([TargetPath("é"): file] as [TargetPath: TargetFile])["e\u{301}"] == nil)
        #expect(RoleName("root") == .root)
    }
}
