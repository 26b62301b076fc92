import Blocking
import Glibc

/// A proxy on loopback that knows CONNECT alone, and counts.
package final class ConnectProxy: Sendable {
    private let listener: Int32
    private let asked = Guarded<[String]>([])
    private let isOver = Cancellation()
    package let port: Int

    package init() {
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = Self.loopback(port: 0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = listener
        let isListening = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                bind(descriptor, generic, length) == 0 && listen(descriptor, 16) == 0
                    && getsockname(descriptor, generic, &length) == 0
            }
        }
        precondition(isListening, "no port on loopback: \(errno)")
        port = Int(UInt16(bigEndian: address.sin_port))
        let (asked, isOver) = (Shared(self), isOver)
        _ = OwnThread.start {
            while true {
                let client = accept(descriptor, nil, nil)
                guard client >= 0, !isOver.isCancelled else { return }
                _ = OwnThread.start { Self.serve(client) { line in asked.note(line) } }
            }
        }
    }

    deinit {
        isOver.cancel()
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
    }

    /// The first lines of all requests.
    package var requests: [String] { asked.withLock { $0 } }

    private final class Shared: Sendable {
        private let note: @Sendable (String) -> Void
        init(_ proxy: ConnectProxy) {
            note = { [weak proxy] line in proxy?.asked.withLock { $0.append(line) } }
        }
        func note(_ line: String) { note(line) }
    }

    private static func loopback(port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }

    private static func serve(_ client: Int32, _ note: (String) -> Void) {
        defer { close(client) }
        var head: [UInt8] = []
        var byte: UInt8 = 0
        while !head.suffix(4).elementsEqual("\r\n\r\n".utf8) {
            guard head.count < 8_192, recv(client, &byte, 1, 0) == 1 else { return }
            head.append(byte)
        }
        let line = String(decoding: head.prefix { $0 != 0x0D }, as: UTF8.self)
        note(line)
        let words = line.split(separator: " ")
        let port = words.count > 1 ? words[1].split(separator: ":").last.flatMap { UInt16($0) } : nil
        guard words.first == "CONNECT", let port else { return }
        let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(server) }
        var address = loopback(port: port)
        let isConnected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                connect(server, generic, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        let answer = Array("HTTP/1.1 \(isConnected ? "200 OK" : "502 Bad Gateway")\r\n\r\n".utf8)
        guard send(client, answer, answer.count, Int32(MSG_NOSIGNAL)) == answer.count, isConnected else {
            return
        }
        splice(client, server)
    }

    private static func splice(_ one: Int32, _ other: Int32) {
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        var watched = [one, other].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        while poll(&watched, 2, 30_000) > 0 {
            for index in 0..<2 where watched[index].revents != 0 {
                let count = recv(watched[index].fd, &buffer, buffer.count, 0)
                guard count > 0 else { return }
                var done = 0
                while done < count {
                    let sent = send(
                        watched[1 - index].fd,
                        Array(buffer[done..<count]),
                        count - done,
                        Int32(MSG_NOSIGNAL)
                    )
                    guard sent > 0 else { return }
                    done += sent
                }
            }
        }
    }
}
