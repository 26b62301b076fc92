import Blocking
import Glibc
import Testing

@testable import HTTPServer

/// A client at the level of bytes, which says what no well-behaved one would.
///
/// Every call ends within a minute, whatever the server does: long enough for
/// a machine whose few threads other tests keep busy for some seconds.
final class Peer: Sendable {
    struct Failure: Error {
        let call: String
        let code = errno
    }

    struct Answer: Sendable {
        let status: Int
        let head: String
        let body: [UInt8]
        var text: String { String(decoding: body, as: UTF8.self) }
    }

    let descriptor: Int32

    init(port: Int, address: String = "127.0.0.1", receiveBuffer: Int32? = nil) throws {
        guard var name = SocketName(address: address, port: UInt16(port)) else {
            throw Failure(call: "address")
        }
        descriptor = socket(name.family, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var patience = timeval(tv_sec: 60, tv_usec: 0)
        let size = socklen_t(MemoryLayout<timeval>.size)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, size)
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, size)
        if var receiveBuffer {
            setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &receiveBuffer, socklen_t(MemoryLayout<Int32>.size))
        }
        // `deinit` closes it after this too; a second close could hit another's socket.
        guard name.connect(descriptor) else { throw Failure(call: "connect") }
    }

    deinit { close(descriptor) }

    func send(_ text: String) throws { try send(Array(text.utf8)) }

    func send(_ bytes: [UInt8]) throws {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { throw Failure(call: "send") }
            sent += count
        }
    }

    /// Some bytes; empty at the end of the stream, also of one that was reset.
    func receive(upTo count: Int = 1 << 16) throws -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: count)
        let received = recv(descriptor, &buffer, count, 0)
        guard received >= 0 || errno == ECONNRESET else { throw Failure(call: "recv") }
        return Array(buffer.prefix(max(received, 0)))
    }

    /// Everything up to the end of the stream.
    func receiveAll() throws -> [UInt8] {
        var all: [UInt8] = []
        while true {
            let bytes = try receive()
            if bytes.isEmpty { return all }
            all += bytes
        }
    }

    /// One answer, reading its head byte by byte so that nothing after it is lost.
    func answer(toHead isHead: Bool = false) throws -> Answer {
        var head: [UInt8] = []
        while !head.suffix(4).elementsEqual("\r\n\r\n".utf8) {
            let byte = try receive(upTo: 1)
            guard !byte.isEmpty else {
                throw Failure(call: "answer: end after \(String(decoding: head, as: UTF8.self))")
            }
            head += byte
        }
        let text = String(decoding: head, as: UTF8.self)
        let status = Int(text.dropFirst(9).prefix(3)) ?? 0
        let lengthLine = text.split(separator: "\r\n").first { $0.hasPrefix("content-length: ") }
        let length = isHead ? 0 : lengthLine.flatMap { Int($0.dropFirst(16)) } ?? 0
        var body: [UInt8] = []
        while body.count < length {
            let bytes = try receive(upTo: min(length - body.count, 1 << 16))
            guard !bytes.isEmpty else { throw Failure(call: "answer: end after \(body.count) of \(length)") }
            body += bytes
        }
        return Answer(status: status, head: text, body: body)
    }

    func get(_ target: String, _ fields: String = "") throws -> Answer {
        try send("GET \(target) HTTP/1.1\r\nHost: a\r\n\(fields)\r\n")
        return try answer()
    }
}

extension SocketName {
    fileprivate mutating func connect(_ descriptor: Int32) -> Bool {
        let size = socklen_t(
            family == AF_INET ? MemoryLayout<sockaddr_in>.size : MemoryLayout<sockaddr_in6>.size
        )
        return withUnsafePointer(to: &self) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(descriptor, $0, size) == 0
            }
        }
    }
}

/// A service made of a closure.
struct Answering: HTTPService {
    let answer: @Sendable (HTTPRequest, RequestBody) async -> HTTPResponse

    func respond(to request: HTTPRequest, body: RequestBody) async -> HTTPResponse {
        await answer(request, body)
    }
}

/// A configuration for tests.
func configured(_ change: (inout HTTPServerConfiguration) -> Void) -> HTTPServerConfiguration {
    var configuration = HTTPServerConfiguration()
    configuration.deadlines.drain = .seconds(3)
    change(&configuration)
    return configuration
}

/// Runs a server round the body, which may block, and drains it after.
func withServer<Result: Sendable>(
    _ service: Answering,
    _ configuration: HTTPServerConfiguration = configured { _ in },
    _ body: @escaping @Sendable (HTTPServer) throws -> Result
) async throws -> Result {
    let server = try HTTPServer(configuration: configuration, service: service)
    async let running: Void = server.run()
    let result: Swift.Result<Result, any Error> = await BlockingPool.shared.run { .init { try body(server) } }
    server.drain()
    try await running
    return try result.get()
}
