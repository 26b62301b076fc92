import Arguments
import Glibc
import Synchronization

/// What was asked for goes to standard output, everything about it to standard error.
enum Output {
    /// The error of the first write to standard output that did not succeed; 0 while all did.
    private static let firstError = Atomic<Int32>(0)

    /// Whether standard output was closed when the program began.
    private static let isClosed = Atomic<Bool>(false)

    /// One line for people, whatever stands in it.
    static func result(_ text: String) { write(Array((PlainText.line(text) + "\n").utf8), to: STDOUT_FILENO) }

    /// Several lines for people, whatever stands in each.
    static func result(lines: [String]) { for line in lines { result(line) } }

    /// A text of this program's own, with its line ends: help, schemas and the like.
    static func result(page: String) {
        write(Array((PlainText.lines(page) + "\n").utf8), to: STDOUT_FILENO)
    }

    /// A part of a document for programs, which may be too long to be held.
    static func result(piece: [UInt8]) { write(piece, to: STDOUT_FILENO) }

    /// Bytes for programs, exactly as they are.
    static func result(bytes: [UInt8]) { write(bytes + [0x0A], to: STDOUT_FILENO) }

    /// One line.
    static func note(_ text: String) { write(Array((PlainText.line(text) + "\n").utf8), to: STDERR_FILENO) }

    /// Several lines.
    static func note(lines: [String]) { for line in lines { note(line) } }

    /// Why the result did not reach its reader; a reader that left early has what it wanted.
    static var failure: Failure? {
        switch firstError.load(ordering: .relaxed) {
        case 0, EPIPE: nil
        case let code:
            Failure(.temporary, "could not write to standard output: \(String(cString: strerror(code)))")
        }
    }

    /// Opens what the caller closed, so that no file or connection ever gets the number of a standard stream.
    static func openStandardStreams() {
        for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
            // What goes to a stream that nobody opened is lost, and the caller should know.
            if descriptor == STDOUT_FILENO { isClosed.store(true, ordering: .relaxed) }
            // The lowest free number is this one.
            _ = open("/dev/null", descriptor == STDIN_FILENO ? O_RDONLY : O_WRONLY)
        }
    }

    /// Whether progress may be drawn over itself.
    static var isTerminal: Bool { isatty(STDERR_FILENO) == 1 }

    static func progress(_ text: String) { write(Array(("\r\u{1B}[K" + text).utf8), to: STDERR_FILENO) }

    private static func write(_ bytes: [UInt8], to descriptor: Int32) {
        var code = PlainStreams.write(bytes, to: descriptor)
        if descriptor == STDOUT_FILENO, isClosed.load(ordering: .relaxed) { code = EBADF }
        guard code != 0, descriptor == STDOUT_FILENO else { return }
        _ = firstError.compareExchange(expected: 0, desired: code, ordering: .relaxed)
    }
}
