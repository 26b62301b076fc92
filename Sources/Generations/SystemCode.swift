import Glibc

/// Error numbers of the system, for people and for decisions.
package enum SystemCode {
    package static func text(_ code: Int32) -> String {
        var buffer = [CChar](repeating: 0, count: 256)
        let known = strerror_r(code, &buffer, buffer.count) == 0
        let text = buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        return known ? String(decoding: text, as: UTF8.self) : "error \(code)"
    }

    /// Whether the disk, or the quota, is full: free space and try again.
    package static func isDiskFull(_ code: Int32) -> Bool { code == ENOSPC || code == EDQUOT }

    static var notFound: Int32 { ENOENT }
}
