import CLinux
import Durable
import Glibc

/// A file that is being downloaded, locked against a second download into it.
final class PartialFile: Sendable {
    let path: String
    let descriptor: Int32

    /// The length when it was opened.
    let foundLength: UInt64

    /// Opens the file, or makes it.
    ///
    /// What else stands there is deleted first: a link, a pipe or a directory,
    /// and a file that has a second name or is another user's, through which
    /// bytes would go elsewhere, or be changed from there.
    init(_ path: String) throws(DurableError) {
        var found = try Self.opened(path, making: false)
        if found == nil {
            try Durable.removeTree(path)
            found = try Self.opened(path, making: true)
        }
        guard let descriptor = found else { throw .notRegularFile(path: path) }
        do throws(DurableError) {
            var status = stat()
            guard fstat(descriptor, &status) == 0 else { throw .system("examine", path) }
            guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
                throw .locked(path: path, holder: "another download")
            }
            foundLength = UInt64(max(0, status.st_size))
        } catch {
            close(descriptor)
            throw error
        }
        self.path = path
        self.descriptor = descriptor
    }

    /// Opens a file that may be written to.
    ///
    /// - Returns: `nil` when something else is there.
    private static func opened(_ path: String, making isNew: Bool) throws(DurableError) -> Int32? {
        let flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | (isNew ? O_EXCL : 0)
        let descriptor = clinux_open(path, flags, 0o600)
        guard descriptor >= 0 else {
            let error = DurableError.system("open", path)
            guard !isNew, case .system(_, _, let code) = error,
                [ELOOP, EISDIR, ENXIO, EACCES].contains(code)
            else { throw error }
            return nil
        }
        guard Durable.hasOneName(descriptor) else {
            close(descriptor)
            return nil
        }
        return descriptor
    }

    deinit { close(descriptor) }

    /// Takes the room for all of the file now, so that a full disk is found before the first byte.
    ///
    /// File systems that cannot reserve find out later.
    func reserve(_ length: UInt64) throws(DurableError) {
        guard length > 0, clinux_reserve(descriptor, off_t(length)) != 0 else { return }
        let error = DurableError.system("reserve \(length) bytes for", path)
        guard error.isOutOfSpace else { return }
        // Gives back what was reserved beyond the end, and keeps the bytes.
        var status = stat()
        if fstat(descriptor, &status) == 0 { _ = ftruncate(descriptor, status.st_size) }
        throw error
    }

    func truncate(_ length: UInt64) throws(DurableError) {
        guard ftruncate(descriptor, off_t(length)) == 0 else { throw .system("shorten", path) }
    }

    func write(_ bytes: UnsafeRawBufferPointer, at position: UInt64) throws(DurableError) {
        var done = 0
        while done < bytes.count {
            let count = pwrite(
                descriptor,
                bytes.baseAddress?.advanced(by: done),
                bytes.count - done,
                off_t(position) + off_t(done)
            )
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { throw .system("write", path) }
            done += count
        }
        startWriting(position + UInt64(bytes.count))
    }

    /// Has the disk begin with each 8 MiB that are complete, so that the end of
    /// a download does not wait for all of it.
    private func startWriting(_ end: UInt64) {
        guard end & (Self.stride - 1) == 0, end >= Self.stride else { return }
        _ = clinux_start_writing(descriptor, off_t(end - Self.stride), off_t(Self.stride))
    }

    private static let stride: UInt64 = 8 << 20

    /// Becomes a file that shares every block on the disk with another, where the file system can.
    func clone(_ source: FileSource) -> Bool { clinux_reflink(descriptor, source.descriptor) == 0 }

    /// Gives what is in a file, in pieces that end at multiples of 1 MiB, until `body` refuses.
    static func read(
        _ descriptor: Int32,
        _ path: String,
        upTo end: UInt64,
        _ body: (UInt64, UnsafeRawBufferPointer) -> Bool
    ) throws(DurableError) {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 4_096)
        defer { buffer.deallocate() }
        var position: UInt64 = 0
        while position < end {
            let wanted = Int(min(UInt64(buffer.count), end - position))
            var filled = 0
            while filled < wanted {
                let count = pread(
                    descriptor,
                    buffer.baseAddress?.advanced(by: filled),
                    wanted - filled,
                    off_t(position) + off_t(filled)
                )
                if count < 0 && errno == EINTR { continue }
                guard count >= 0 else { throw .system("read", path) }
                guard count > 0 else { break }
                filled += count
            }
            guard body(position, UnsafeRawBufferPointer(rebasing: buffer[..<filled])), filled == wanted else {
                return
            }
            position += UInt64(filled)
        }
    }

    func synchronize() throws(DurableError) {
        try Durable.synchronize(descriptor, path)
        try Durable.synchronizeDirectory(Durable.parent(of: path))
    }
}
