import Names
import Testing

@testable import HTTPServer

/// Reads a head as the server does, in pieces of `step` bytes.
///
/// - Returns: the head and its length, or nil when more bytes are needed.
func readHead(
    _ bytes: [UInt8],
    step: Int = .max,
    limits: HTTPLimits = HTTPLimits()
) throws(HTTPRefusal) -> (head: RequestHead, length: Int)? {
    var scanner = HeadScanner(limit: Int(limits.head.rawValue))
    var seen = 0
    while seen < bytes.count {
        seen += min(step, bytes.count - seen)
        let prefix = Array(bytes[..<seen])
        if let length = try scanner.scan(prefix.span) {
            return (try RequestHead(Array(bytes[..<length]), limits: limits), length)
        }
    }
    return nil
}

struct BadHead: CustomTestStringConvertible, Sendable {
    let name: String
    let text: String
    let status: Int
    var testDescription: String { name }

    init(_ name: String, _ status: Int, _ text: String) {
        self.name = name
        self.status = status
        self.text = text
    }

    static let all: [BadHead] = framing + lines + targets

    static let framing: [BadHead] = [
        BadHead(
            "length and transfer coding",
            400,
            post("Content-Length: 6\r\nTransfer-Encoding: chunked\r\n")
        ),
        BadHead(
            "transfer coding and length",
            400,
            post("Transfer-Encoding: chunked\r\nContent-Length: 6\r\n")
        ),
        BadHead("two different lengths", 400, post("Content-Length: 1\r\nContent-Length: 2\r\n")),
        BadHead("two equal lengths", 400, post("Content-Length: 5\r\nContent-Length: 5\r\n")),
        BadHead("a list of lengths", 400, post("Content-Length: 5, 5\r\n")),
        BadHead("a plus sign", 400, post("Content-Length: +5\r\n")),
        BadHead("a negative length", 400, post("Content-Length: -1\r\n")),
        BadHead("an empty length", 400, post("Content-Length:\r\n")),
        BadHead("a hexadecimal length", 400, post("Content-Length: 0x5\r\n")),
        BadHead("a length past 64 bits", 400, post("Content-Length: 18446744073709551616\r\n")),
        BadHead("a length past the limit", 413, post("Content-Length: 9999999999999999999\r\n")),
        BadHead("an unknown coding", 501, post("Transfer-Encoding: xchunked\r\n")),
        BadHead("a list of codings", 501, post("Transfer-Encoding: gzip, chunked\r\n")),
        BadHead("two transfer codings", 400, post("Transfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n")),
        BadHead("a chunked body", 411, post("Transfer-Encoding: chunked\r\n")),
        BadHead("chunked in HTTP/1.0", 400, "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n"),
        BadHead("an unknown expectation", 417, post("Expect: 200-ok\r\n")),
        BadHead("no Host", 400, "GET /x HTTP/1.1\r\n\r\n"),
        BadHead("two Hosts", 400, "GET /x HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n"),
        BadHead("an empty Host", 400, "GET /x HTTP/1.1\r\nHost:\r\n\r\n"),
        BadHead("a Host with a path", 400, "GET /x HTTP/1.1\r\nHost: a/b\r\n\r\n"),
        BadHead("a Host with a user", 400, "GET /x HTTP/1.1\r\nHost: u@a\r\n\r\n"),
        BadHead("two Authorizations", 400, get("Authorization: a\r\nauthorization: b\r\n")),
        BadHead("two Ranges", 400, get("Range: bytes=0-1\r\nRange: bytes=2-3\r\n")),
    ]

    static let lines: [BadHead] = [
        BadHead("a space before the colon", 400, "GET /x HTTP/1.1\r\nHost : a\r\n\r\n"),
        BadHead("a folded line", 400, get("X: 1\r\n 2\r\n")),
        BadHead("a folded first line", 400, "GET /x HTTP/1.1\r\n Host: a\r\n\r\n"),
        BadHead("an empty name", 400, get(": 1\r\n")),
        BadHead("no colon", 400, get("X\r\n")),
        BadHead("a name that is no token", 400, get("X(): 1\r\n")),
        BadHead("a name beyond ASCII", 400, get("X\u{e9}: 1\r\n")),
        BadHead("NUL in a value", 400, get("X: a\0b\r\n")),
        BadHead("NUL in a name", 400, get("X\0: b\r\n")),
        BadHead("DEL in a value", 400, get("X: \u{7f}\r\n")),
        BadHead("a control character", 400, get("X: a\u{b}b\r\n")),
        BadHead("bare LF everywhere", 400, "GET /x HTTP/1.1\nHost: a\n\n"),
        BadHead("bare LF in a value", 400, get("X: a\nContent-Length: 5\r\n")),
        BadHead("bare LF at the end", 400, "GET /x HTTP/1.1\r\nHost: a\r\n\n"),
        BadHead("bare CR in a value", 400, get("X: a\rb\r\n")),
        BadHead("CR CR LF", 400, get("X: a\r\r\n")),
        BadHead("an empty line first", 400, "\r\nGET /x HTTP/1.1\r\nHost: a\r\n\r\n"),
        BadHead("a TLS greeting", 400, "\u{16}\u{3}\u{1}"),
        BadHead("a space first", 400, " GET /x HTTP/1.1\r\nHost: a\r\n\r\n"),
        BadHead("two spaces", 400, "GET  /x HTTP/1.1\r\nHost: a\r\n\r\n"),
        BadHead("a tab for a space", 400, "GET\t/x HTTP/1.1\r\nHost: a\r\n\r\n"),
        BadHead("a space at the end", 400, "GET /x HTTP/1.1 \r\nHost: a\r\n\r\n"),
        BadHead("HTTP/0.9", 400, "GET /x\r\n\r\n"),
        BadHead("HTTP/2.0", 505, "GET /x HTTP/2.0\r\nHost: a\r\n\r\n"),
        BadHead("HTTP/1.10", 505, "GET /x HTTP/1.10\r\nHost: a\r\n\r\n"),
        BadHead("http in lower case", 400, "GET /x http/1.1\r\nHost: a\r\n\r\n"),
        BadHead("a method in lower case", 501, "get /x HTTP/1.1\r\nHost: a\r\n\r\n"),
        BadHead("a method not known", 501, "BREW /x HTTP/1.1\r\nHost: a\r\n\r\n"),
        BadHead("a method that is no token", 400, "GE/T /x HTTP/1.1\r\nHost: a\r\n\r\n"),
        BadHead("a head of 17 KiB", 431, get("X: " + String(repeating: "a", count: 17 << 10) + "\r\n")),
        BadHead("a target of 17 KiB", 414, "GET /" + String(repeating: "a", count: 17 << 10)),
        BadHead("101 fields", 431, get(String(repeating: "X: 1\r\n", count: 100))),
    ]

    static let targets: [BadHead] = [
        "*", "x", "example.com:443", "ftp://a/x", "http://b/x", "http:///x", "http://a", "http://u@a/x",
        "//x", "/x//y", "/.", "/..", "/x/../y", "/x/./y", "/%2e%2e/x", "/%2E./x", "/%", "/%2", "/%zz", "/%+1",
        "/a%2fb", "/a%2Fb", "/a%5cb", "/a\\b", "/a%00", "/a%0a", "/a%7f", "/%ff", "/%c0%af", "/%ed%a0%80",
        "/a#b", "/a|b", "/a\"b", "/<a>", "/a?b=%", "/a?b=%00", "/a?b=%ff", "/a?b#c", "/caf\u{e9}",
    ].map { BadHead("target \($0)", 400, "GET \($0) HTTP/1.1\r\nHost: a\r\n\r\n") }

    private static func get(_ fields: String) -> String { "GET /x HTTP/1.1\r\nHost: a\r\n\(fields)\r\n" }
    private static func post(_ fields: String) -> String { "POST /x HTTP/1.1\r\nHost: a\r\n\(fields)\r\n" }
}

@Suite("Request heads")
struct HeadTests {
    @Test("what two readers could understand differently is refused", arguments: BadHead.all)
    func refuses(_ bad: BadHead) throws {
        let whole = #expect(throws: HTTPRefusal.self) { _ = try readHead(Array(bad.text.utf8)) }
        #expect(whole?.status == bad.status, "\(String(describing: whole))")
        let dripped = #expect(throws: HTTPRefusal.self) { _ = try readHead(Array(bad.text.utf8), step: 1) }
        #expect(dripped == whole)
    }

    @Test("a plain GET is read")
    func readsGet() throws {
        let text =
            "GET /a/b%20c?x=1&y=a+b%26&z HTTP/1.1\r\nHost: Example.com:80\r\nX-A: \t one \r\nx-a: two\r\n\r\nrest"
        let (head, length) = try #require(try readHead(Array(text.utf8)))
        #expect(length == text.utf8.count - 4)
        #expect(head.method == .get)
        #expect(head.target.path == "/a/b%20c")
        #expect(head.target.segments == ["a", "b c"])
        #expect(head.target.query.map(\.name) == ["x", "y", "z"])
        #expect(head.target.queryValue("y") == "a b&")
        #expect(head.fields.text("x-A") == "one")
        #expect(head.fields.all("X-a") == [Array("one".utf8), Array("two".utf8)])
        #expect(head.declaredLength == 0)
        #expect(head.keepsAlive && !head.expectsContinue)
    }

    @Test(
        "good heads are read",
        arguments: [
            ("GET / HTTP/1.1\r\nHost: a\r\n\r\n", []),
            ("GET /a/ HTTP/1.1\r\nHost: [::1]:8443\r\n\r\n", ["a", ""]),
            (
                "GET /vision~detector~live/caf%c3%a9 HTTP/1.1\r\nHost: a\r\n\r\n",
                ["vision~detector~live", "caf\u{e9}"]
            ),
            ("GET http://A/x/y HTTP/1.1\r\nHost: a\r\n\r\n", ["x", "y"]),
            ("GET /...//".dropLast() + " HTTP/1.1\r\nHost: a\r\nX:\r\nY: \u{e9}\r\n\r\n", ["...", ""]),
            ("HEAD /x HTTP/1.0\r\n\r\n", ["x"]),
        ]
    )
    func readsGood(_ text: String, _ segments: [String]) throws {
        let (head, length) = try #require(try readHead(Array(text.utf8)))
        #expect(length == text.utf8.count)
        #expect(head.target.segments == segments)
    }

    @Test(
        "the connection's end is read from version and Connection",
        arguments: [
            ("HTTP/1.1", "X: 1", true), ("HTTP/1.1", "Connection: close", false),
            ("HTTP/1.1", "Connection: Close", false), ("HTTP/1.1", "Connection: x , CLOSE", false),
            ("HTTP/1.1", "Connection: keep-alive", true), ("HTTP/1.0", "Connection: keep-alive", false),
        ]
    )
    func connectionEnds(_ version: String, _ field: String, _ keepsAlive: Bool) throws {
        let text = "GET / \(version)\r\nHost: a\r\n\(field)\r\n\r\n"
        #expect(try readHead(Array(text.utf8))?.head.keepsAlive == keepsAlive)
    }

    @Test("a body has the length declared, and 100-continue is heard")
    func readsBody() throws {
        let text = "PUT /x HTTP/1.1\r\nHost: a\r\nContent-Length: 0012\r\nExpect: 100-Continue\r\n\r\n"
        let head = try #require(try readHead(Array(text.utf8))?.head)
        #expect(head.declaredLength == 12)
        #expect(head.expectsContinue)
    }

    @Test("any mutation of a good head reads the same whole, dripped and cut at its end", arguments: 1...8)
    func mutations(seed: UInt64) throws {
        var random = SplitMix(state: seed)
        let good = [
            "GET /a/b%20c?x=1 HTTP/1.1\r\nHost: a\r\nRange: bytes=0-1\r\nIf-None-Match: \"a\"\r\n\r\n",
            "PUT /blobs/x HTTP/1.1\r\nHost: a:80\r\nContent-Length: 12\r\nExpect: 100-continue\r\n\r\n",
            "POST http://a/x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n",
        ]
        for _ in 0..<400 {
            var bytes = Array(good[Int(random.next() % 3)].utf8)
            for _ in 0..<(1 + random.next() % 4) { mutate(&bytes, &random) }
            let whole = Result { () throws(HTTPRefusal) in try readHead(bytes)?.head }
            let dripped = Result { () throws(HTTPRefusal) in try readHead(bytes, step: 1)?.head }
            #expect(whole == dripped, "\(bytes)")
            guard let length = (try? readHead(bytes))??.length else { continue }
            let cut = Array(bytes[..<length])
            #expect(Result { () throws(HTTPRefusal) in try readHead(cut)?.head } == whole)
            #expect(try readHead(Array(cut.dropLast())) == nil)
        }
    }

    private func mutate(_ bytes: inout [UInt8], _ random: inout SplitMix) {
        let spice: [UInt8] = [0, 9, 10, 13, 32, 37, 43, 45, 46, 47, 58, 63, 92, 127, 255]
        let place = Int(random.next() % UInt64(max(1, bytes.count)))
        switch random.next() % 5 {
        case 0: bytes[place] = UInt8(truncatingIfNeeded: random.next())
        case 1: bytes[place] = spice[Int(random.next() % UInt64(spice.count))]
        case 2: bytes.insert(spice[Int(random.next() % UInt64(spice.count))], at: place)
        case 3: bytes.remove(at: place)
        default: bytes.insert(contentsOf: bytes[place...].prefix(Int(random.next() % 40)), at: place)
        }
    }
}

/// A small seeded generator (splitmix64), so that a failing run can be repeated.
struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
