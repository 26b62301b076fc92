/// A small HTTP/1.1 server.
package final class HTTPServer: Sendable {
    /// The port that the server listens on.
    package let port: Int

    /// Binds and listens; connections are accepted once `run` is called.
    ///
    /// - Throws: `HTTPServerError` when the address cannot be listened on.
    package init(
        configuration: HTTPServerConfiguration,
        service: any HTTPService
    ) throws(HTTPServerError) {
        port = configuration.port
        throw .system(call: "listen", code: 38)
    }

    /// Serves until `drain` was called and the requests in flight are done.
    package func run() async throws(HTTPServerError) {}

    /// Stops accepting, lets requests in flight end, then ends `run`.
    package func drain() {}
}
