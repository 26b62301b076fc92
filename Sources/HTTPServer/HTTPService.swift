/// What stands behind the server: one answer a request.
package protocol HTTPService: Sendable {
    /// Answers a request; the body may be read, in whole or in part, or left.
    ///
    /// Runs as a task on the shared executor, so it must not block: blocking
    /// work goes through `Blocking`. The task is cancelled when the peer goes
    /// away or the drain deadline passes.
    func respond(to request: HTTPRequest, body: RequestBody) async -> HTTPResponse
}
