import Durable
import Glibc
import Names

/// A request's body, given to libcurl piece by piece.
final class Upload {
    private enum Content {
        case bytes([UInt8])
        case file(FileSource, start: UInt64)
    }

    private let content: Content
    let length: UInt64
    private var position: UInt64 = 0

    /// Set when the file could not be read.
    private(set) var failure: Int32?

    init(_ bytes: [UInt8]) {
        content = .bytes(bytes)
        length = UInt64(bytes.count)
    }

    /// - Precondition: The part lies inside the file.
    init(_ file: FileSource, offset: UInt64, length: UInt64) {
        precondition(offset <= file.length && length <= file.length - offset, "a part outside its file")
        content = .file(file, start: offset)
        self.length = length
    }

    /// Fills `buffer`.
    ///
    /// - Parameter buffer: Room for the next bytes.
    /// - Returns: How many, 0 at the end, `nil` when the file cannot be read.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int? {
        let count = Int(min(UInt64(buffer.count), length - position))
        guard count > 0 else { return 0 }
        switch content {
        case .bytes(let bytes):
            bytes.withUnsafeBytes { source in
                let part = source[Int(position)..<Int(position) + count]
                buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: part))
            }
            position += UInt64(count)
            return count
        case .file(let file, let start):
            let got = pread(file.descriptor, buffer.baseAddress, count, off_t(start + position))
            guard got > 0 else {
                failure = got < 0 ? errno : EIO
                return nil
            }
            position += UInt64(got)
            return got
        }
    }

    /// Goes back, when libcurl has to send again on a new connection.
    func seek(to offset: Int64) -> Bool {
        guard offset >= 0, UInt64(offset) <= length else { return false }
        position = UInt64(offset)
        return true
    }
}
