import CanonicalJSON
import Testing

private func parse(_ text: String) throws(JSONError) -> JSONValue {
    try JSONParser.parse(Array(text.utf8), maximumLength: 1 << 20)
}

private func hex(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}

@Suite("Canonical JSON")
struct CanonicalJSONTests {
    @Test("the OLPC form agrees with securesystemslib")
    func olpcVectors() throws {
        let simple = try parse(#"{"b":1,"a":[true,null,-5,0]}"#)
        #expect(String(decoding: simple.olpcCanonical, as: UTF8.self) == #"{"a":[true,null,-5,0],"b":1}"#)
        let raw = try parse(#"{"k":"a\"b\\c\n\t/é😀"}"#)
        #expect(hex(raw.olpcCanonical) == "7b226b223a22615c22625c5c630a092fc3a9f09f9880227d")
        let keys = try parse(#"{"é":1,"z":2,"Z":3,"😀":4,"～":5}"#)
        #expect(
            hex(keys.olpcCanonical)
                == "7b225a223a332c227a223a322c22c3a9223a312c22efbd9e223a352c22f09f9880223a347d"
        )
        #expect(
            String(decoding: try parse("9223372036854775808").olpcCanonical, as: UTF8.self)
                == "9223372036854775808"
        )
    }

    @Test("compact JSON reads back as the same value")
    func compactRoundTrip() throws {
        let value = try parse(
            #"{"text":"a\u0000\u001f\n\"\\","list":[1,-9223372036854775808,{}],"none":null}"#
        )
        #expect(try JSONParser.parse(value.compactJSON, maximumLength: 1 << 20) == value)
    }

    @Test("RFC 8785 refuses what it would have to guess")
    func rfc8785() throws {
        #expect(try parse(#"{"b":1,"a":"\u001f"}"#).rfc8785 == Array(#"{"a":"\u001f","b":1}"#.utf8))
        #expect(try parse("9007199254740992").rfc8785 == nil)
        #expect(try parse(#"{"é":1}"#).rfc8785 == nil)
    }

    @Test(
        "what two readers could read differently is refused",
        arguments: [
            (#"{"a":1,"a":2}"#, JSONError.Reason.duplicateKey), (#"{"a":1,"\u0061":2}"#, .duplicateKey),
            ("1.0", .notAnInteger), ("1e3", .notAnInteger), ("-0", .notAnInteger), ("01", .leadingZero),
            ("[1,]", .unexpectedByte), ("{\"a\":1,}", .unexpectedByte), ("\u{FEFF}1", .unexpectedByte),
            (#""\ud800""#, .loneSurrogate), (#""\udc00""#, .loneSurrogate), (#""\x""#, .badEscape),
            ("\"\u{1}\"", .controlCharacter), ("1 2", .trailingBytes), ("", .endsEarly), ("[1", .endsEarly),
            ("nul", .endsEarly), ("NaN", .unexpectedByte), ("// c", .unexpectedByte),
        ]
    )
    func refused(text: String, reason: JSONError.Reason) {
        #expect { try parse(text) } throws: { ($0 as? JSONError)?.reason == reason }
    }

    @Test("keys that differ only by normalisation are two keys")
    func normalisation() throws {
        let value = try parse("{\"\u{E9}\":1,\"e\u{301}\":2}")
        #expect(value.object?.members.count == 2)
    }

    @Test(
        "invalid UTF-8 is refused",
        arguments: [[0x22, 0xC0, 0x80, 0x22], [0x22, 0xFF, 0x22], [0x22, 0xED, 0xA0, 0x80, 0x22]]
    )
    func invalidUTF8(bytes: [UInt8]) {
        #expect { try JSONParser.parse(bytes, maximumLength: 100) } throws: {
            ($0 as? JSONError)?.reason == .invalidUTF8
        }
    }

    @Test("depth and length end in a refusal, not in a crash")
    func limits() {
        #expect { try parse(String(repeating: "[", count: 1_000_000)) } throws: {
            ($0 as? JSONError)?.reason == .tooDeep(limit: 32)
        }
        #expect { try JSONParser.parse([0x31, 0x31], maximumLength: 1) } throws: {
            ($0 as? JSONError)?.reason == .tooLong(found: 2, limit: 1)
        }
    }
}
