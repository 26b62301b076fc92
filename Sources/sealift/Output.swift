import Glibc

/// What was asked for goes to standard output, everything about it to standard error.
enum Output {
    static func result(_ text: String) { write(text + "\n", to: STDOUT_FILENO) }

    static func result(bytes: [UInt8]) { write(bytes + [0x0A], to: STDOUT_FILENO) }

    static func note(_ text: String) { write(text + "\n", to: STDERR_FILENO) }

    /// Whether progress may be drawn over itself.
    static var isTerminal: Bool { isatty(STDERR_FILENO) == 1 }

    static func progress(_ text: String) { write("\r\u{1B}[K" + text, to: STDERR_FILENO) }

    private static func write(_ text: String, to descriptor: Int32) {
        write(Array(text.utf8), to: descriptor)
    }

    private static func write(_ bytes: [UInt8], to descriptor: Int32) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if written < 0 && errno == EINTR { continue }
            guard written > 0 else { return }
            rest = rest.dropFirst(written)
        }
    }
}
