import Blocking
import Glibc
package import TLS

/// A small, strict HTTP/1.1 server.
///
/// A few threads with an event loop each move bytes and keep deadlines; the
/// service answers as a task on the shared executor. Nothing of a peer is
/// held beyond fixed sizes, and no peer is waited for beyond fixed times.
/// No upgrade, no HTTP/2, no chunked bodies, no trailers.
package final class HTTPServer: Sendable {
    private enum Stage {
        case ready
        case running(loops: Int, CheckedContinuation<Void, Never>)
        case ended
    }

    private struct Progress {
        var stage = Stage.ready
        var failure: HTTPServerError?
    }

    private let state: ServerState
    private let mailboxes: [Mailbox]
    private let progress = Guarded(Progress())

    /// The port that the server listens on.
    package var port: Int { state.listener.port }

    /// Connections that are open now.
    package var openConnections: Int { state.counts.open }

    /// Binds and listens; connections are served once `run` is called.
    ///
    /// - Throws: `HTTPServerError` when the address cannot be listened on.
    /// - Precondition: there is at least one loop.
    package init(
        configuration: HTTPServerConfiguration,
        service: any HTTPService
    ) throws(HTTPServerError) {
        precondition(configuration.loops > 0, "a server needs a loop")
        let listener = try Listener(
            address: configuration.address,
            port: configuration.port,
            watchers: configuration.loops
        )
        state = ServerState(configuration: configuration, service: service, listener: listener)
        var mailboxes: [Mailbox] = []
        for _ in 0..<configuration.loops { mailboxes.append(try Mailbox()) }
        self.mailboxes = mailboxes
    }

    /// Serves until `drain` was called, or the task cancelled, and the
    /// requests in flight are done.
    ///
    /// - Throws: `HTTPServerError.system` when a loop could not be started.
    /// - Precondition: called once.
    package func run() async throws(HTTPServerError) {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in start(continuation) }
        } onCancel: {
            drain()
        }
        if let failure = progress.withLock({ $0.failure }) { throw failure }
    }

    /// Stops accepting and lets requests in flight end; then `run` returns.
    ///
    /// Idle connections are closed at once, what is in work at the drain
    /// deadline. May be called at any time, and more than once.
    package func drain() {
        for mailbox in mailboxes { mailbox.post(.drain) }
    }

    /// Takes a new certificate for connections to come.
    ///
    /// - Precondition: the server was started with TLS.
    package func reload(tls: ServerTLS) {
        state.tls.withLock { current in
            precondition(current != nil, "a server without TLS takes no certificate")
            current = tls
        }
    }

    private func start(_ continuation: CheckedContinuation<Void, Never>) {
        progress.withLock { progress in
            guard case .ready = progress.stage else { preconditionFailure("a server runs once") }
            progress.stage = .running(loops: mailboxes.count, continuation)
        }
        for mailbox in mailboxes {
            let hasStarted = OwnThread.start { [self] in
                do throws(HTTPServerError) {
                    try EventLoop(state: state, mailbox: mailbox).run()
                    endLoop(nil)
                } catch {
                    endLoop(error)
                }
            }
            if !hasStarted { endLoop(.system(call: "pthread_create", code: EAGAIN)) }
        }
    }

    /// Counts a loop that has ended; one that failed ends the others too.
    private func endLoop(_ failure: HTTPServerError?) {
        if failure != nil {
            state.listener.leave()
            drain()
        }
        let continuation = progress.withLock { progress -> CheckedContinuation<Void, Never>? in
            progress.failure = progress.failure ?? failure
            guard case .running(let loops, let continuation) = progress.stage else { return nil }
            progress.stage = loops == 1 ? .ended : .running(loops: loops - 1, continuation)
            return loops == 1 ? continuation : nil
        }
        continuation?.resume()
    }
}
