import Glibc
package import Names

/// A regular file as a `ByteSource`, read by `pread`.
///
/// May be shared: it has no position. The length is fixed when it is opened;
/// a file that shrinks later is an error at the read, not a crash.
package final class FileSource: ByteSource, Sendable {
    package let length: UInt64

    /// For callers that hand the open file to C; closed with the source.
    package let descriptor: Int32

    /// Opens a regular file, never through a link as its last part.
    package init(_ path: String) throws(DurableError) {
        let descriptor = try Durable.openForReading(path)
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            let error = DurableError.system("examine", path)
            close(descriptor)
            throw error
        }
        self.descriptor = descriptor
        length = UInt64(max(0, status.st_size))
    }

    deinit { close(descriptor) }

    package func bytes(at offset: UInt64, count: Int) throws(ByteSourceError) -> [UInt8] {
        let (end, overflow) = offset.addingReportingOverflow(UInt64(max(0, count)))
        guard !overflow, count >= 0, end <= length else {
            throw .outOfBounds(offset: offset, count: count, length: length)
        }
        var code: Int32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            filled = 0
            while filled < count {
                let got = pread(
                    descriptor,
                    buffer.baseAddress?.advanced(by: filled),
                    count - filled,
                    off_t(offset) + off_t(filled)
                )
                if got < 0 && errno == EINTR { continue }
                guard got > 0 else {
                    code = got < 0 ? errno : EIO
                    break
                }
                filled += got
            }
        }
        guard bytes.count == count else { throw .unreadable(code: code) }
        return bytes
    }
}
