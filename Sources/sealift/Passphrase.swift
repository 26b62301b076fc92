import Arguments
import Durable
import Glibc
import Names
import Publishing
import Signing

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

    /// The one for new keys; `nil` when none was named, and they stay plain.
    func readIfGiven(for key: String) throws(PublishingError) -> [UInt8]? {
        file == nil && descriptor == nil ? nil : try read(for: key)
    }

    /// Gets the passphrase, asking on the terminal when neither file nor descriptor was named.
    ///
    /// - Returns: The passphrase, for the caller to wipe.
    /// - Throws: `PublishingError.usage` when there is nobody to ask.
    func read(for key: String) throws(PublishingError) -> [UInt8] {
        if let file {
            var content: [UInt8]
            do { content = try Durable.readFile(file, maximum: .kibibytes(4), privacy: .ownerOnly) } catch {
                throw .file(error)
            }
            defer { wipe(&content) }
            return try Self.filled(Self.firstLine(content), "the first line of \(file)")
        }
        if let descriptor {
            guard fcntl(descriptor, F_GETFD) >= 0 else {
                throw .usage("--passphrase-fd \(descriptor): the descriptor is not open")
            }
            return try Self.filled(Self.line(from: descriptor), "what --passphrase-fd \(descriptor) gives")
        }
        guard let secret = Self.ask("Passphrase of \(key): ") else {
            throw .usage(
                "\(key) is encrypted and there is no terminal to ask at; give --passphrase-file FILE or "
                    + "--passphrase-fd N"
            )
        }
        return secret
    }

    private static func filled(_ secret: [UInt8], _ place: String) throws(PublishingError) -> [UInt8] {
        guard !secret.isEmpty else { throw .usage("\(place) is empty; expected the passphrase there") }
        return secret
    }

    private static func firstLine(_ bytes: [UInt8]) -> [UInt8] {
        Array(bytes.prefix { $0 != 0x0A && $0 != 0x0D })
    }

    /// Reads up to the end of a line, in one buffer that is wiped.
    private static func line(from descriptor: Int32) -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        defer { wipe(&buffer) }
        var done = 0
        while done < buffer.count {
            let count = buffer.withUnsafeMutableBytes { bytes in
                Glibc.read(descriptor, bytes.baseAddress?.advanced(by: done), bytes.count - done)
            }
            guard count > 0 else { break }
            done += count
            if buffer[..<done].contains(0x0A) { break }
        }
        return Array(buffer[..<done].prefix { $0 != 0x0A && $0 != 0x0D })
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
        let secret = line(from: terminal)
        _ = write(terminal, "\n", 1)
        return secret
    }
}
