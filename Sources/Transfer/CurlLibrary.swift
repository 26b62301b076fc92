import Blocking
import CCurl
import Glibc
import TLS

/// libcurl, opened for whoever makes a client or looks at an address: everything else starts without it.
enum CurlLibrary {
    /// Why it cannot be used; `nil` when it can.
    static let trouble: String? = open()

    /// It writes the secrets of every session to the file that this variable names, when it is started with it.
    private static let secrets = "SSLKEYLOGFILE"

    /// Begins to open it on a thread of its own.
    ///
    /// The thirty libraries that it brings take longer to open than a device
    /// takes to verify its stored chain, and nobody has to wait before the first
    /// request. Where the environment has to be changed for it, another thread
    /// could read that meanwhile: then it is opened when it is needed.
    static func openAhead() {
        guard getenv(secrets) == nil else { return }
        // Without a thread it is opened when it is needed, too.
        _ = isOpening
    }

    private static let isOpening = {
        // While a library is being opened no thread can begin, so what the caller goes on with has one before.
        BlockingPool.shared.startAhead()
        return OwnThread.start {
            _ = trouble
            ClientTLS.prepare()
        }
    }()

    /// Starts libcurl without that variable; it reads it once, here, and other libraries may have a use for it.
    private static func open() -> String? {
        let name = secrets
        let value = getenv(name).map { String(cString: $0) }
        if value != nil { unsetenv(name) }
        defer { if let value { setenv(name, value, 1) } }
        return ccurl_open().map { String(cString: $0) }
    }
}
