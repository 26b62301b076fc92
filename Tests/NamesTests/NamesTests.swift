import Names
import Testing

@Suite("Names")
struct NamesTests {
    @Test(
        "a time survives being written and read",
        arguments: [0, 951_782_399, 1_796_000_000, 253_402_300_799, -1]
    )
    func timeRoundTrip(seconds: Int64) throws {
        let time = UnixTime(rawValue: seconds)
        #expect(UnixTime(time.description) == time)
    }

    @Test("a known time has its known form")
    func knownTime() {
        #expect(UnixTime("2026-11-30T02:26:43Z")?.rawValue == 1_796_005_603)
        #expect(UnixTime(rawValue: 1_796_005_603).description == "2026-11-30T02:26:43Z")
    }

    @Test(
        "anything but the signed form of a time is no time",
        arguments: [
            "2026-11-30", "2026-11-30T02:26:43", "2026-11-30T02:26:43+00:00", "2026-02-29T00:00:00Z",
            "2026-13-01T00:00:00Z", "2026-01-01T24:00:00Z", "2026-01-01T00:00:60Z", "0000-01-01T00:00:00Z",
            "2026-11-30t02:26:43z", "２026-11-30T02:26:43Z",
        ]
    )
    func badTime(text: String) { #expect(UnixTime(text) == nil) }

    @Test("a digest is 64 lower-case digits", arguments: ["", "00", String(repeating: "A", count: 64)])
    func badDigest(text: String) { #expect(Digest(hex: text) == nil) }

    @Test("names keep to their alphabet", arguments: ["vision/detector", "a/b", "a.b/c_d-e"])
    func goodModel(text: String) { #expect(ModelName(text)?.description == text) }

    @Test(
        "a name outside the alphabet is no name",
        arguments: [
            "vision", "vision/", "/x", "a/b/c", "A/b", "a/..", "a/b..c", "sealift/x", "root/x", "a~b/c",
            "a/.b",
            "a/b.", "a b/c", "é/x", "generation.json/x",
            "state/x", "poll-state/x", "root_history/x",
        ]
    )
    func badModel(text: String) { #expect(ModelName(text) == nil) }

    @Test("versions are ordered by precedence")
    func precedence() throws {
        let ordered = [
            "0.9.9", "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta", "1.0.0-beta.2",
            "1.0.0-beta.11", "1.0.0-rc.1", "1.0.0", "1.0.1", "1.10.0", "2.0.0",
        ]
        let versions = try ordered.map { try #require(ModelVersion($0)) }
        #expect(versions.shuffled().sorted().map(\.description) == ordered)
    }

    @Test(
        "a loose version is no version",
        arguments: [
            "1", "1.2", "01.0.0", "1.0.0+build", "1.0.0-", "1.0.0-01", "v1.0.0", "1.0.0-a..b", "1.0.-1",
        ]
    )
    func badVersion(text: String) { #expect(ModelVersion(text) == nil) }

    @Test("a path inside a variant", arguments: ["model.onnx", "weights/a/b.bin", "résumé.txt"])
    func goodPath(text: String) { #expect(FilePath(text)?.description == text) }

    @Test(
        "a path that could leave its directory, or be another file elsewhere, is no path",
        arguments: [
            "", "/etc/passwd", "../x", "a/../b", "./a", "a//b", "a/", "a\\b", "C:x", "a.", "a ", "nul",
            "CON.txt",
            "com1", "e\u{301}", "a\u{0}b", "a\nb", String(repeating: "a/", count: 16) + "a",
            String(repeating: "x", count: 256),
        ]
    )
    func badPath(text: String) { #expect(FilePath(text) == nil) }

    @Test(
        "names that are one where case is ignored clash, and so do those of folders",
        arguments: [
            ("Weights/A.bin", "weights/a.BIN"), ("Sub/a", "sub/b"), ("stra\u{DF}e", "STRASSE"),
            ("\u{1E9E}", "ss"), ("\u{FB01}le", "FILE"), ("\u{3C2}", "\u{3A3}"), ("\u{17F}", "S"),
            ("\u{E9}t\u{E9}/a", "\u{C9}T\u{C9}/b"), ("a/b", "A"), ("a", "a/b"), ("same", "same"),
            ("\u{149}", "\u{2BC}N"), ("\u{1F52}", "\u{3A5}\u{313}\u{300}"),
        ]
    )
    func clash(_ one: String, _ other: String) throws {
        for (first, second) in [(one, other), (other, one)] {
            var names = PathNames()
            guard let first = FilePath(first), let second = FilePath(second) else { continue }
            #expect(names.insert(first) == nil)
            #expect(names.insert(second) != nil, "\(one), \(other)")
        }
    }

    @Test("names in one folder, and equal names in two, do not clash")
    func noClash() throws {
        var names = PathNames()
        for text in ["a/x", "a/y", "b/x", "x", "ab", "a.b", "sub/a/x"] {
            #expect(names.insert(try #require(FilePath(text))) == nil, "\(text)")
        }
    }

    @Test(
        "a written time is a number and a unit, and is shown in the greatest that leaves nothing over",
        arguments: [
            ("60d", 5_184_000, "60d"), ("24h", 86_400, "1d"), ("30m", 1_800, "30m"), ("90s", 90, "90s"),
            ("100000s", 100_000, "100000s"),
        ] as [(String, Int64, String)]
    )
    func writtenTime(text: String, seconds: Int64, shown: String) {
        #expect(WrittenTime.seconds(text) == seconds)
        #expect(WrittenTime.text(seconds) == shown)
    }

    @Test(
        "anything else is no written time",
        arguments: ["", "d", "0d", "-1d", "1.5h", "100001s", "1w", "60", "1 d", "99999999999999999999d"]
    )
    func badWrittenTime(text: String) { #expect(WrittenTime.seconds(text) == nil) }

    @Test("base64 reads back only what it writes", arguments: 0..<70)
    func base64(count: Int) {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 37) }
        #expect(Base64.bytes(Base64.text(bytes)) == bytes)
    }

    @Test(
        "loose base64 is refused",
        arguments: ["A", "AA", "AA=", "AB==", "AAA", "A===", "====", "AA==AA==", "A A="]
    )
    func badBase64(text: String) { #expect(Base64.bytes(text) == nil) }
}
