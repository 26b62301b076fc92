import Blocking
import Glibc

/// Signals as values: blocked for the whole process, taken one by one on a thread of their own.
///
/// No code runs in a signal's own context, so nothing here has to be
/// async-signal-safe.
enum Signals {
    enum Request: Sendable {
        /// SIGTERM or SIGINT: finish what is in flight and end.
        case drain

        /// SIGHUP: read certificates again.
        case reload
    }

    /// Blocks the three signals; call in the first thread, before any other starts.
    static func block() {
        var set = mask()
        pthread_sigmask(SIG_BLOCK, &set, nil)
    }

    /// The signals that come from now on, in order, ending with the second request to drain.
    static func requests() -> AsyncStream<Request> {
        let (stream, continuation) = AsyncStream.makeStream(of: Request.self)
        _ = OwnThread.start { @Sendable in
            var set = mask()
            var drains = 0
            while drains < 2 {
                var number: Int32 = 0
                guard sigwait(&set, &number) == 0 else { continue }
                if number == SIGHUP {
                    continuation.yield(.reload)
                } else {
                    drains += 1
                    continuation.yield(.drain)
                }
            }
            continuation.finish()
        }
        return stream
    }

    private static func mask() -> sigset_t {
        var set = sigset_t()
        sigemptyset(&set)
        for number in [SIGTERM, SIGINT, SIGHUP] { sigaddset(&set, number) }
        return set
    }
}
