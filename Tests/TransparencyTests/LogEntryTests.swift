import Names
import Testing
import Transparency

@Suite("Log entry")
struct LogEntryTests {
    private let canonical =
        #"{"changes":["1.4.0 into stable"],"kind":"live","length":812,"role":"vision~detector~live","#
        + #""sha256":"7f7373360bc914a5d4a7bd87711615178beb6cf52494fcc49082ec65ba62908c","#
        + #""time":"2026-11-30T02:00:00Z","type":"sealift/entry@1","version":7}"#

    @Test("an entry is written in RFC 8785 form and read back")
    func roundTrip() throws {
        let entry = LogEntry(
            kind: .live,
            role: "vision~detector~live",
            version: 7,
            sha256: try #require(
                Digest(hex: "7f7373360bc914a5d4a7bd87711615178beb6cf52494fcc49082ec65ba62908c")
            ),
            length: 812,
            changes: ["1.4.0 into stable"],
            time: try #require(UnixTime("2026-11-30T02:00:00Z"))
        )
        let bytes = try entry.canonical()
        #expect(String(decoding: bytes, as: UTF8.self) == canonical)
        #expect(try LogEntry(canonical: bytes) == entry)
    }

    @Test("white space or another order is not the canonical form", arguments: [" ", "\n"])
    func notCanonical(space: String) {
        #expect(throws: TransparencyError.notCanonical) {
            try LogEntry(canonical: Array((canonical + space).utf8))
        }
    }

    @Test(
        "a changed member is refused",
        arguments: [
            (#""kind":"live""#, #""kind":"lives""#), (#""version":7"#, #""version":0"#),
            (#""length":812"#, #""length":-1"#), (#""sha256":"7f"#, #""sha256":"7F"#),
            (#"sealift/entry@1"#, #"sealift/entry@2"#),
            (#""changes":["1.4.0 into stable"]"#, #""changes":[1]"#),
            (#""changes""#, #""change""#), ("02:00:00Z", "02:00:60Z"),
        ]
    )
    func refused(old: String, new: String) throws {
        let at = try #require(canonical.firstRange(of: old))
        let changed = canonical.replacingCharacters(in: at, with: new)
        let error = #expect(throws: TransparencyError.self) {
            try LogEntry(canonical: Array(changed.utf8))
        }
        guard case .malformedEntry = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test("an entry longer than a log can hold is refused both ways")
    func tooLong() throws {
        let entry = LogEntry(
            kind: .hold,
            role: "sealift~hold",
            version: 1,
            sha256: try #require(Digest(bytes: [UInt8](repeating: 0, count: 32))),
            length: 1,
            changes: [String(repeating: "x", count: 65_535)],
            time: UnixTime(rawValue: 0)
        )
        #expect(throws: TransparencyError.self) { try entry.canonical() }
        let long = [UInt8](repeating: 0x20, count: 65_536)
        #expect(throws: TransparencyError.entryTooLong(found: 65_536, limit: Limits.logEntry)) {
            try LogEntry(canonical: long)
        }
    }
}

extension String {
    fileprivate func firstRange(of part: String) -> Range<String.Index>? { ranges(of: part).first }

    fileprivate func replacingCharacters(in range: Range<String.Index>, with text: String) -> String {
        self[..<range.lowerBound] + text + self[range.upperBound...]
    }
}
