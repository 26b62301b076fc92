import Blocking
import Glibc
import Synchronization

/// A plain HTTP server on loopback that misbehaves as it is told.
///
/// Each request goes to a closure that decides the answer and what goes wrong
/// with it. Sockets are blocking, with a thread for each connection.
package final class FaultServer: Sendable {
    /// Decides the answer; the number counts requests from 0.
    package typealias Plan = @Sendable (FaultRequest, Int) -> FaultAnswer

    private let shared: FaultServerState
    package let port: Int

    /// `http://127.0.0.1:PORT/`.
    package var base: String { "http://127.0.0.1:\(port)/" }

    package init(_ plan: @escaping Plan) {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                bind(listener, generic, length) == 0 && listen(listener, 64) == 0
                    && getsockname(listener, generic, &length) == 0
            }
        }
        precondition(isListening, "no port on loopback: \(errno)")
        port = Int(UInt16(bigEndian: address.sin_port))
        let shared = FaultServerState(listener: listener, plan: plan)
        self.shared = shared
        precondition(OwnThread.start { shared.acceptAll() }, "no thread")
    }

    deinit { shared.stop() }

    /// What was asked so far, in order.
    package var requests: [FaultRequest] { shared.requests.withLock { $0 } }

    /// Connections that were opened so far.
    package var connections: Int { shared.connections.load(ordering: .relaxed) }

    /// Body bytes that were sent so far.
    package var bytesSent: Int { shared.bytesSent.load(ordering: .relaxed) }

    /// Replaces what happens from the next request on.
    package func change(_ plan: @escaping Plan) { shared.plan.withLock { $0 = plan } }
}

/// A request as it arrived.
package struct FaultRequest: Sendable {
    package let method: String
    package let path: String

    /// Names in lower case.
    package let fields: [String: String]
    package let body: [UInt8]

    /// The range of a `Range` field with one part, cut to `length` bytes.
    package func range(of length: Int) -> Range<Int>? {
        guard let text = fields["range"], text.hasPrefix("bytes=") else { return nil }
        let ends = text.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = Int(ends[0]), first < length else { return nil }
        let last = Int(ends[1]) ?? length - 1
        return first <= last ? first..<min(last + 1, length) : nil
    }
}

/// An answer, and what is wrong with it.
package struct FaultAnswer: Sendable {
    /// How the body goes out.
    package enum Delivery: Sendable {
        case whole

        /// The connection ends after so many bytes.
        case cut(after: Int)

        /// Nothing more comes after so many bytes, and the connection stays.
        case stall(after: Int)

        /// So many bytes, then a pause of 10 ms, and again.
        case drip(Int)
    }

    package var status = 200
    package var fields: [(name: String, value: String)] = []
    package var body: [UInt8] = []
    package var delivery = Delivery.whole

    /// The Content-Length, true or not; -1 sends none and closes at the end.
    package var announced: Int?

    package init(status: Int = 200, fields: [(name: String, value: String)] = [], body: [UInt8] = []) {
        self.status = status
        self.fields = fields
        self.body = body
    }

    /// What an honest file server answers: 200, 206, 304 or 416.
    package static func file(
        _ content: [UInt8],
        for request: FaultRequest,
        etag: String? = nil
    ) -> FaultAnswer {
        var answer = FaultAnswer(body: content)
        if let etag {
            answer.fields.append(("ETag", etag))
            if request.fields["if-none-match"] == etag {
                return FaultAnswer(status: 304, fields: answer.fields)
            }
            if let wanted = request.fields["if-range"], wanted != etag { return answer }
        }
        guard request.fields["range"] != nil else { return answer }
        guard let range = request.range(of: content.count) else {
            return FaultAnswer(status: 416, fields: [("Content-Range", "bytes */\(content.count)")])
        }
        answer.status = 206
        let text = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(content.count)"
        answer.fields.append(("Content-Range", text))
        answer.body = Array(content[range])
        return answer
    }
}
