import Glibc
import Support
import Testing

@testable import HTTPServer

@Suite("Files as responses")
struct FileTests {
    /// 3 MB whose every part differs, behind `/file` and, cut short, `/short`.
    static let content: [UInt8] = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 13) }

    static func service(path: String) -> Answering {
        Answering { request, _ in
            let descriptor = open(path, O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else { return HTTPResponse(status: 500) }
            let promised = request.target.path == "/short" ? content.count + 1 : content.count
            return Representation(
                body: .file(HTTPFile(owning: descriptor), offset: 0, length: UInt64(promised)),
                entityTag: EntityTag("digest"),
                contentType: "application/octet-stream",
                cacheControl: "public, max-age=31536000, immutable"
            ).response(to: request)
        }
    }

    @Test("a file is sent whole, in parts, or not at all, on one connection")
    func ranges() async throws {
        let scratch = Scratch()
        let path = try scratch.write("blob", Self.content)
        try await withServer(Self.service(path: path)) { server in
            let peer = try Peer(port: server.port)
            let whole = try peer.get("/file")
            #expect(whole.status == 200)
            #expect(whole.body == Self.content)
            #expect(whole.head.contains("etag: \"digest\"\r\n"))
            #expect(whole.head.contains("accept-ranges: bytes\r\n"))
            let part = try peer.get("/file", "Range: bytes=1234567-2345678\r\nIf-Range: \"digest\"\r\n")
            #expect(part.status == 206)
            #expect(part.body == Array(Self.content[1_234_567...2_345_678]))
            #expect(part.head.contains("content-range: bytes 1234567-2345678/3000000\r\n"))
            #expect(try peer.get("/file", "Range: bytes=-5\r\n").body == Array(Self.content.suffix(5)))
            let impossible = try peer.get("/file", "Range: bytes=3000000-\r\n")
            #expect(impossible.status == 416)
            #expect(impossible.head.contains("content-range: bytes */3000000\r\n"))
            let known = try peer.get("/file", "If-None-Match: \"digest\"\r\n")
            #expect(known.status == 304)
            #expect(!known.head.contains("content-length"))
            try peer.send("HEAD /file HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try peer.answer(toHead: true).head.contains("content-length: 3000000\r\n"))
            #expect(try peer.get("/file", "Range: bytes=0-0\r\n").body == [Self.content[0]])
        }
    }

    @Test("a file shorter than promised ends the connection, lest the next answer be its rest")
    func shortFile() async throws {
        let scratch = Scratch()
        let path = try scratch.write("blob", Self.content)
        try await withServer(Self.service(path: path)) { server in
            let peer = try Peer(port: server.port)
            try peer.send("GET /short HTTP/1.1\r\nHost: a\r\n\r\nGET /file HTTP/1.1\r\nHost: a\r\n\r\n")
            let all = try peer.receiveAll()
            #expect(all.count < Self.content.count + 1_000)
            #expect(all.suffix(Self.content.count) == Self.content[...])
        }
    }

    @Test("a served file is closed after its response, also when the peer leaves early")
    func closesFiles() async throws {
        let scratch = Scratch()
        let path = try scratch.write("blob", Self.content)
        try await withServer(Self.service(path: path)) { server in
            for round in 0..<20 {
                let peer = try Peer(port: server.port, receiveBuffer: 4_096)
                try peer.send("GET /file HTTP/1.1\r\nHost: a\r\n\r\n")
                _ = try peer.receive(upTo: round % 2 == 0 ? 1 : 4_096)
            }
            #expect(becomesTrue { server.openConnections == 0 })
            #expect(becomesTrue { openDescriptors(of: path) == 0 })
        }
    }

    private func openDescriptors(of path: String) -> Int {
        (0..<1_024).count { descriptor in
            var target = [CChar](repeating: 0, count: 4_096)
            let length = readlink("/proc/self/fd/\(descriptor)", &target, target.count)
            return length > 0 && target[..<length].map(UInt8.init(bitPattern:)).elementsEqual(path.utf8)
        }
    }
}
