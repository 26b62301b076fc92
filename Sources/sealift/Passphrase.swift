import Arguments
import Durable
import Glibc
import Names
import Publishing

/// Where the passphrase of a key comes from: a file, a descriptor, or a person at a terminal.
///
/// Without any of them it is an error, never a wait.
struct Passphrase {
    private let file: String?
    private let descriptor: Int32?

    init(_ arguments: ParsedArguments) throws(UsageError) {
        file = arguments["passphrase-file"]
        guard let text = arguments["passphrase-fd"] else {
            descriptor = nil
            return
        }
        guard let number = Int32(text), number >= 0 else {
            throw .badValue(text, of: "--passphrase-fd", expected: "the number of an open descriptor")
        }
        descriptor = number
    }

    /// Whether one was named, so that new keys are encrypted with it.
    var isGiven: Bool { file != nil || descriptor != nil }

    /// Gets the passphrase, asking on the terminal when neither file nor descriptor was named.
    ///
    /// - Throws: `PublishingError.usage` when there is nobody to ask.
    func read(for key: String) throws(PublishingError) -> [UInt8] {
        if let file {
            do {
                return Self.firstLine(
                    try Durable.readFile(file, maximum: .kibibytes(4), privacy: .ownerOnly)
                )
            } catch { throw .file(error) }
        }
        if let descriptor { return Self.firstLine(Self.all(of: descriptor)) }
        guard let secret = Self.ask("Passphrase of \(key): ") else {
            throw .usage(
                "\(key) is encrypted and there is no terminal to ask at; give --passphrase-file FILE or "
                    + "--passphrase-fd N"
            )
        }
        return secret
    }

    private static func firstLine(_ bytes: [UInt8]) -> [UInt8] {
        Array(bytes.prefix { $0 != 0x0A && $0 != 0x0D })
    }

    private static func all(of descriptor: Int32) -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while bytes.count < 4_096 {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            guard count > 0 else { break }
            bytes += buffer[0..<count]
            if bytes.contains(0x0A) { break }
        }
        return bytes
    }

    private static func ask(_ prompt: String) -> [UInt8]? {
        let terminal = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
        guard terminal >= 0 else { return nil }
        defer { close(terminal) }
        var before = termios()
        guard tcgetattr(terminal, &before) == 0 else { return nil }
        var quiet = before
        quiet.c_lflag &= ~tcflag_t(ECHO)
        tcsetattr(terminal, TCSAFLUSH, &quiet)
        defer { tcsetattr(terminal, TCSAFLUSH, &before) }
        _ = prompt.utf8CString.withUnsafeBytes { write(terminal, $0.baseAddress, $0.count - 1) }
        let secret = firstLine(all(of: terminal))
        _ = write(terminal, "\n", 1)
        return secret
    }
}
