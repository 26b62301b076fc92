import CLinux
import Durable
import Glibc

/// A promise that a directory is in use: while one is held, nobody collects it.
///
/// An advisory lock (flock) on the directory itself, so that it works on a
/// read-only mount, writes nothing, and ends with the process that held it.
/// Other languages take the same lock: a shared lock on the version directory.
package final class DirectoryLease: Sendable {
    private let descriptor: Int32

    private init(descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    /// Takes the directory into use, together with any number of others.
    ///
    /// - Returns: `nil` when it is gone, or just being collected: resolve anew.
    package static func shared(_ directory: String) throws(GenerationError) -> DirectoryLease? {
        try taken(directory, LOCK_SH)
    }

    /// Takes the directory alone.
    ///
    /// - Returns: `nil` when it is gone or anybody uses it.
    static func exclusive(_ directory: String) throws(GenerationError) -> DirectoryLease? {
        try taken(directory, LOCK_EX)
    }

    /// Lets the lease live on in the program that takes this process's place.
    package func keepAcrossExecution() { _ = fcntl(descriptor, F_SETFD, 0) }

    private static func taken(_ directory: String, _ kind: Int32) throws(GenerationError) -> DirectoryLease? {
        let descriptor = clinux_open(directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0)
        guard descriptor >= 0 else {
            if errno == ENOENT || errno == ENOTDIR { return nil }
            throw .disk(.system("open", directory))
        }
        let lease = DirectoryLease(descriptor: descriptor)
        while flock(descriptor, kind | LOCK_NB) != 0 {
            switch errno {
            case EINTR: continue
            case EWOULDBLOCK: return nil
            // A file system without such locks: collection keeps what was left lately, and that is what is left.
            case ENOTSUP, ENOLCK, ENOSYS, EINVAL: return kind == LOCK_SH ? lease : nil
            default: throw .disk(.system("lock", directory))
            }
        }
        // The lock counts only if the name still leads to what was locked.
        var held = stat()
        var named = stat()
        guard fstat(descriptor, &held) == 0, lstat(directory, &named) == 0, held.st_ino == named.st_ino,
            held.st_dev == named.st_dev
        else { return nil }
        return lease
    }
}
