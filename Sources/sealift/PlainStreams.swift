import Durable
import Glibc

/// Whole streams of a process.
enum PlainStreams {
    /// Standard input to its end.
    ///
    /// - Throws: `DurableError`, also when it is longer than `limit`.
    static func input(atMost limit: Int) throws(DurableError) -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(STDIN_FILENO, &buffer, buffer.count)
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw DurableError.system("read", "standard input") }
            guard bytes.count + count <= limit else {
                throw .tooLong(path: "standard input", limit: UInt64(limit))
            }
            if count == 0 { return bytes }
            bytes += buffer[..<count]
        }
    }

    /// Writes all of the bytes.
    ///
    /// - Returns: The number of the error that stopped it; 0 when nothing did.
    static func write(_ bytes: [UInt8], to descriptor: Int32) -> Int32 {
        var rest = bytes[...]
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if written < 0 && errno == EINTR { continue }
            guard written > 0 else { return written < 0 ? errno : EIO }
            rest = rest.dropFirst(written)
        }
        return 0
    }
}
