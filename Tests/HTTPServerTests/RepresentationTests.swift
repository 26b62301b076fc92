import Testing

@testable import HTTPServer

@Suite("Static content")
struct RepresentationTests {
    private let content = Representation(
        body: .bytes(Array("0123456789".utf8)),
        entityTag: EntityTag("abc"),
        contentType: "application/octet-stream",
        cacheControl: "no-cache"
    )

    private func answer(_ fields: HTTPFields, method: HTTPMethod = .get) -> HTTPResponse {
        let target = HTTPTarget(path: "/x", segments: ["x"])
        return content.response(to: HTTPRequest(method: method, target: target, fields: fields))
    }

    private func text(_ response: HTTPResponse) -> String {
        guard case .bytes(let bytes) = response.body else { return "" }
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test(
        "a range is read as RFC 9110 says",
        arguments: [
            ("bytes=0-3", 206, "0123"), ("bytes=4-", 206, "456789"), ("bytes=-3", 206, "789"),
            ("bytes=-99", 206, "0123456789"), ("bytes=9-99999999999999999999999", 206, "9"),
            ("bytes=10-", 416, ""), ("bytes=10-12", 416, ""), ("bytes=-0", 416, ""),
            ("bytes=99999999999999999999999-", 416, ""),
            ("bytes=3-2", 200, "0123456789"), ("bytes=0-1,3-4", 200, "0123456789"),
            ("bytes=", 200, "0123456789"), ("bytes=-", 200, "0123456789"), ("bytes=a-b", 200, "0123456789"),
            ("bytes=+1-2", 200, "0123456789"), ("bytes= 1-2", 200, "0123456789"),
            ("items=0-1", 200, "0123456789"),
        ]
    )
    func ranges(_ range: String, _ status: Int, _ body: String) {
        let response = answer(["Range": range])
        #expect(response.status == status)
        #expect(text(response) == body)
    }

    @Test("a part says where it lies, an impossible one how long the whole is")
    func contentRange() {
        #expect(answer(["Range": "bytes=2-3"]).fields.text("content-range") == "bytes 2-3/10")
        #expect(answer(["Range": "bytes=10-"]).fields.text("content-range") == "bytes */10")
        #expect(answer(["Range": "bytes=2-3"], method: .head).status == 200)
    }

    @Test(
        "If-None-Match compares weakly and takes lists",
        arguments: [
            ("\"abc\"", 304), ("W/\"abc\"", 304), ("*", 304), ("\"x\", \"abc\"", 304),
            ("\"x\",W/\"abc\" ", 304),
            ("\"x\"", 200), ("abc", 200), ("\"abc", 200), ("", 200), ("w/\"abc\"", 200),
        ]
    )
    func conditions(_ value: String, _ status: Int) {
        let response = answer(["If-None-Match": value])
        #expect(response.status == status)
        #expect(response.fields.text("etag") == "\"abc\"")
        #expect(response.fields.text("cache-control") == "no-cache")
    }

    @Test(
        "If-Range holds for the one equal strong tag",
        arguments: [
            ("\"abc\"", 206), ("W/\"abc\"", 200), ("\"x\"", 200), ("Sat, 29 Oct 1994 19:43:31 GMT", 200),
            ("\"abc\", \"abc\"", 200),
        ]
    )
    func ifRange(_ value: String, _ status: Int) {
        #expect(answer(["Range": "bytes=0-1", "If-Range": value]).status == status)
    }

    @Test("no part of nothing can be had")
    func emptyContent() {
        #expect(ByteRange(field: Array("bytes=0-".utf8), length: 0) == .unsatisfiable)
        #expect(ByteRange(field: Array("bytes=-1".utf8), length: 0) == .unsatisfiable)
        #expect(ByteRange(field: nil, length: 0) == .whole)
    }

    @Test("only GET and HEAD are answered")
    func methods() {
        let response = answer([:], method: .put)
        #expect(response.status == 405)
        #expect(response.fields.text("allow") == "GET, HEAD")
    }
}
