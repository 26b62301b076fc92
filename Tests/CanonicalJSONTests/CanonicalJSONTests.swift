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

    @Test(
        "keys in disorder are put in order at every depth, however they are escaped",
        arguments: [
            (#"{"b":{"d":0,"c":[{"f":1,"e":2}]},"a":{}}"#, #"{"a":{},"b":{"c":[{"e":2,"f":1}],"d":0}}"#),
            (#"{"\u0062":1,"a":2,"\u0061b":3}"#, #"{"a":2,"ab":3,"b":1}"#),
            (#"{"\ud83d\ude00":1,"\u00e9":2,"\uff5e":3,"z":4}"#, "{\"z\":4,\"é\":2,\"～\":3,\"😀\":1}"),
            (#"{"a\/b":1,"a":2,"a\"":3,"a\\":4}"#, #"{"a":2,"a\"":3,"a/b":1,"a\\":4}"#),
            (
                #"[{"b":0,"a":1},{"b":2,"a":3},{"c":{"b":4,"a":5},"b":6}]"#,
                #"[{"a":1,"b":0},{"a":3,"b":2},{"b":6,"c":{"a":5,"b":4}}]"#
            ),
        ]
    )
    func disorder(text: String, canonical: String) throws {
        let value = try parse(text)
        #expect(String(decoding: value.olpcCanonical, as: UTF8.self) == canonical)
        #expect(value == (try parse(canonical)))
        #expect(try JSONParser.parse(value.compactJSON, maximumLength: 1 << 20) == value)
    }

    @Test("very many keys in disorder are sorted as their bytes are, and one that stands twice is found")
    func manyKeys() throws {
        var keys = (0..<400).map { number in
            // Shorter and longer than what is compared at once, with long common beginnings, and NUL behind an end.
            String(repeating: "a", count: number % 23) + String(number / 23, radix: 3)
                + String(repeating: "\u{0}", count: number % 3) + (number % 7 == 0 ? "é" : "")
        }
        keys = Array(Set(keys)).sorted { Array($0.utf8).lexicographicallyPrecedes(Array($1.utf8)) }
        func document(_ keys: [String]) -> String {
            let members = keys.map {
                #""\#($0.split(separator: "\u{0}", omittingEmptySubsequences: false).joined(separator: #"\u0000"#))":0"#
            }
            return "{" + members.joined(separator: ",") + "}"
        }
        let shuffled = keys.enumerated().sorted { ($0.offset * 7919) % 401 < ($1.offset * 7919) % 401 }.map(
            \.element
        )
        #expect(shuffled != keys)
        #expect(try parse(document(shuffled)).object?.keys == keys)
        let twice = shuffled + [keys[keys.count / 2]]
        #expect { try parse(document(twice)) } throws: { ($0 as? JSONError)?.reason == .duplicateKey }
    }

    @Test("an array's elements can be counted before any of them is made")
    func elementCount() throws {
        let object = try #require(try parse(#"{"a":[[0,1],{},2],"b":[],"c":{"d":0}}"#).object)
        #expect(object.elementCount(of: "a") == 3)
        #expect(object.elementCount(of: "b") == 0)
        #expect(object.elementCount(of: "c") == nil)
        #expect(object.elementCount(of: "d") == nil)
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

    @Test(
        "a key that stands twice is named, and where it stands the second time",
        arguments: [
            (#"{"a":1,"b":2,"a":3}"#, "a", 13),
            (#"[0,{"m":[{},{"x":[1,{"y":2}],"x":0}]}]"#, "[1].m[1].x", 29),
            (#"{"a":{"b":[],"\u0062":1}}"#, "a.b", 13), (#"{"a":{},"c":{"d":{"e":0},"d":1}}"#, "c.d", 25),
            (#"{"z":0,"y":{"a":0},"z":1}"#, "z", 19),
        ]
    )
    func twice(text: String, member: String, offset: Int) {
        #expect { try parse(text) } throws: { error in
            guard let error = error as? JSONError else { return false }
            return error.member == member && error.offset == offset && "\(error)".contains("`\(member)`")
        }
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
