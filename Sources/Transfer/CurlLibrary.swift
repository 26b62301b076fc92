import CCurl
import Glibc

/// libcurl, opened when the first address is looked at: whoever makes no request starts without it.
enum CurlLibrary {
    /// Why it cannot be used; `nil` when it can.
    static let trouble: String? = open()

    /// Starts libcurl without the variable by which it would write the secrets of every session to a file.
    ///
    /// It reads `SSLKEYLOGFILE` once, here; other libraries of the process may have a use for it.
    private static func open() -> String? {
        let name = "SSLKEYLOGFILE"
        let value = getenv(name).map { String(cString: $0) }
        unsetenv(name)
        defer { if let value { setenv(name, value, 1) } }
        return ccurl_open().map { String(cString: $0) }
    }
}
