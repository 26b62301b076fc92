package import Names
package import TLS

/// How long the server waits for a peer.
///
/// All are measured on the monotonic clock.
package struct HTTPDeadlines: Hashable, Sendable {
    /// From the first moment of a connection (TLS included) or the first byte
    /// of a later request to the end of the head, however it drips in.
    package var head: Duration = .seconds(10)

    /// Between two requests.
    package var idle: Duration = .seconds(60)

    /// Within each such window a peer must move `minimumRate` bytes a second,
    /// as sender of a body and as reader of a response.
    package var rateWindow: Duration = .seconds(30)
    package var minimumRate = ByteCount.kibibytes(1)

    /// For requests in flight once `drain` was called.
    package var drain: Duration = .seconds(20)

    /// For a refused peer to read its answer before the socket is closed.
    package var linger: Duration = .seconds(2)

    package init() {}
}

/// The sizes and counts that the server accepts.
package struct HTTPLimits: Hashable, Sendable {
    package var head = Limits.httpHead
    package var fields = 100

    /// A greater declared length is answered 413 before the service is asked.
    package var body = ByteCount(rawValue: 1 << 40)

    /// Bytes of a body that wait for the service before the socket is left alone.
    package var bodyBuffer = ByteCount.kibibytes(256)

    /// An unread rest of a body up to this length is read and dropped after
    /// the response; a longer one ends the connection.
    package var unreadBody = ByteCount.kibibytes(64)

    package var connections = 4_096
    package var connectionsPerAddress = 512

    package init() {}
}

/// What a server is started with; the defaults are the documentation.
package struct HTTPServerConfiguration: Sendable {
    /// A numeric IPv4 or IPv6 address.
    package var address: String

    /// 0 lets the system choose one; `HTTPServer.port` tells which.
    package var port: Int

    /// Certificate and key; nil serves plain HTTP.
    package var tls: ServerTLS?

    /// Threads that run an event loop.
    package var loops = 2
    package var deadlines = HTTPDeadlines()
    package var limits = HTTPLimits()

    package init(address: String = "127.0.0.1", port: Int = 0, tls: ServerTLS? = nil) {
        self.address = address
        self.port = port
        self.tls = tls
    }
}
