import CLinux
import Glibc
package import Names

/// Who else may touch a file that is read.
package enum FilePrivacy: Sendable {
    /// Anybody.
    case any

    /// Only the user that runs this: owner checked, no bit for group and others.
    case ownerOnly
}

/// What others could do with a private file until now, by its permission bits.
package enum Exposure: Sendable, Comparable {
    case none, reading, writing
}

/// Files that are whole after a crash: the old or the new, never a mixture.
package enum Durable {
    /// Reads a whole regular file, never through a link as its last part.
    ///
    /// - Throws: ``DurableError``; a missing file has ``DurableError/isAbsent``.
    package static func readFile(
        _ path: String,
        maximum: ByteCount,
        privacy: FilePrivacy = .any
    ) throws(DurableError) -> [UInt8] {
        let descriptor = try openForReading(path)
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .system("examine", path) }
        if case .ownerOnly = privacy { try checkPrivate(status, path) }
        guard status.st_size <= Int64(clamping: maximum.rawValue) else {
            throw .tooLong(path: path, limit: maximum.rawValue)
        }
        return try readAll(descriptor, path, maximum, expecting: Int(status.st_size))
    }

    /// Like ``readFile(_:maximum:privacy:)``, with `nil` for a file that is not there.
    package static func readFileIfPresent(
        _ path: String,
        maximum: ByteCount,
        privacy: FilePrivacy = .any
    ) throws(DurableError) -> [UInt8]? {
        do {
            return try readFile(path, maximum: maximum, privacy: privacy)
        } catch  where error.isAbsent {
            return nil
        }
    }

    /// Reads a private file that this program keeps for itself, and makes it private again where it is this user's.
    ///
    /// A `chmod -R` over the directory that it is in is no reason to do without
    /// it for ever; what others could do until then is said.
    ///
    /// - Returns: `nil` when nothing is there.
    /// - Throws: `DurableError.foreignOwner`, or what the system refused; on a
    ///   read-only disk it stays as it is.
    package static func readOwnFile(
        _ path: String,
        maximum: ByteCount
    ) throws(DurableError) -> (bytes: [UInt8], exposure: Exposure)? {
        let descriptor: Int32
        do { descriptor = try openForReading(path) } catch {
            guard error.isAbsent else { throw error }
            return nil
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .system("examine", path) }
        guard status.st_size <= Int64(clamping: maximum.rawValue) else {
            throw .tooLong(path: path, limit: maximum.rawValue)
        }
        guard status.st_uid == geteuid() else {
            throw .foreignOwner(path: path, owner: UInt32(status.st_uid))
        }
        let exposure: Exposure =
            status.st_mode & 0o022 != 0 ? .writing : status.st_mode & 0o044 != 0 ? .reading : .none
        if status.st_mode & 0o7077 != 0, fchmod(descriptor, 0o600) != 0, errno != EROFS {
            throw .system("set the mode of", path)
        }
        return (try readAll(descriptor, path, maximum, expecting: Int(status.st_size)), exposure)
    }

    /// Opens a regular file to read, never through a link as its last part.
    ///
    /// The caller closes the descriptor.
    package static func openForReading(_ path: String) throws(DurableError) -> Int32 {
        // Not blocking: opening a pipe without a writer would wait for ever.
        let descriptor = clinux_open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0)
        guard descriptor >= 0 else {
            if errno == ELOOP { throw .notRegularFile(path: path) }
            throw .system("open", path)
        }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            throw .notRegularFile(path: path)
        }
        return descriptor
    }

    private static func checkPrivate(_ status: stat, _ path: String) throws(DurableError) {
        guard status.st_mode & 0o077 == 0 else {
            throw .tooOpen(path: path, mode: UInt32(status.st_mode & 0o7777))
        }
        guard status.st_uid == geteuid() else {
            throw .foreignOwner(path: path, owner: UInt32(status.st_uid))
        }
    }

    /// Reads to the end; a file that grows meanwhile is still bounded.
    private static func readAll(
        _ descriptor: Int32,
        _ path: String,
        _ maximum: ByteCount,
        expecting length: Int
    ) throws(DurableError) -> [UInt8] {
        // One more than there should be, so that the end is seen without a second buffer: a key is copied nowhere.
        var bytes = [UInt8](repeating: 0, count: length + 1)
        var done = 0
        while true {
            if done == bytes.count { bytes += [UInt8](repeating: 0, count: 64 << 10) }
            let count = bytes.withUnsafeMutableBytes { buffer in
                read(descriptor, buffer.baseAddress?.advanced(by: done), buffer.count - done)
            }
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw .system("read", path) }
            guard count > 0 else {
                bytes.removeLast(bytes.count - done)
                return bytes
            }
            done += count
            guard UInt64(done) <= maximum.rawValue else {
                throw .tooLong(path: path, limit: maximum.rawValue)
            }
        }
    }
}
