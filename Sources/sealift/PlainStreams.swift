import Glibc

/// Whole streams of a process that talks with the one that started it, and with nobody else.
enum PlainStreams {
    /// Standard input to its end; `nil` when it is longer than that.
    static func input(atMost limit: Int) -> [UInt8]? {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(STDIN_FILENO, &buffer, buffer.count)
            if count < 0 && errno == EINTR { continue }
            guard count >= 0, bytes.count + count <= limit else { return nil }
            if count == 0 { return bytes }
            bytes += buffer[..<count]
        }
    }

    /// Writes all of the bytes.
    ///
    /// - Returns: Whether that worked.
    static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if written < 0 && errno == EINTR { continue }
            guard written > 0 else { return false }
            rest = rest.dropFirst(written)
        }
        return true
    }
}
