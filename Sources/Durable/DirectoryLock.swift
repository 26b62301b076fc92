import CLinux
import Glibc

/// The right to change a directory, held by at most one process.
///
/// An advisory `flock` on a small file, so the system releases it however the
/// holder ends. The file names the holder (process and boot) for people only;
/// nothing is decided by it.
package final class DirectoryLock: Sendable {
    private let descriptor: Int32

    /// Takes the lock.
    ///
    /// Blocks the thread while it waits, so an async caller comes through
    /// `BlockingPool`.
    ///
    /// - Parameters:
    ///   - path: The lock's own file, created when missing and never deleted.
    ///   - seconds: How long to wait for another holder; 0 tries once.
    /// - Throws: `DurableError.locked` naming the holder, or what the system refused.
    package init(_ path: String, waiting seconds: Double = 0) throws(DurableError) {
        let descriptor = clinux_open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0o644)
        guard descriptor >= 0 else {
            if errno == ELOOP { throw .notRegularFile(path: path) }
            throw .system("open", path)
        }
        FileMode.settle(descriptor, path)
        do throws(DurableError) {
            try Self.lock(descriptor, path, seconds)
            try Self.writeHolder(descriptor, path)
        } catch {
            close(descriptor)
            throw error
        }
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    private static func lock(_ descriptor: Int32, _ path: String, _ seconds: Double) throws(DurableError) {
        let start = clinux_monotonic_nanoseconds()
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            guard errno == EWOULDBLOCK || errno == EINTR else { throw .system("lock", path) }
            guard Double(clinux_monotonic_nanoseconds() - start) / 1e9 < seconds else {
                throw .locked(path: path, holder: holder(descriptor))
            }
            poll(nil, 0, 20)
        }
    }

    private static func writeHolder(_ descriptor: Int32, _ path: String) throws(DurableError) {
        let text = Array("\(getpid()) \(bootID())\n".utf8)
        guard ftruncate(descriptor, 0) == 0 else { throw .system("write", path) }
        // Only for people: a full disk must not keep anybody from the lock.
        _ = pwrite(descriptor, text, text.count, 0)
    }

    private static func holder(_ descriptor: Int32) -> String {
        var buffer = [UInt8](repeating: 0, count: 128)
        let count = pread(descriptor, &buffer, buffer.count, 0)
        let words = buffer[..<max(0, count)].split { $0 == 0x20 || $0 == 0x0A }
        guard let first = words.first, first.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return "another process"
        }
        return "process \(String(decoding: first, as: UTF8.self))"
    }

    /// Who holds the lock at `path` now, for people; changes nothing.
    ///
    /// - Returns: `nil` when nobody does.
    /// - Throws: `DurableError` for a file that is not there or not to be read.
    package static func holder(of path: String) throws(DurableError) -> String? {
        let descriptor = try Durable.openForReading(path)
        defer { close(descriptor) }
        if flock(descriptor, LOCK_SH | LOCK_NB) == 0 { return nil }
        guard errno == EWOULDBLOCK else { throw .system("lock", path) }
        return holder(descriptor)
    }

    /// This start of the machine, or `unknown`.
    package static func bootID() -> String {
        let descriptor = clinux_open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC, 0)
        guard descriptor >= 0 else { return "unknown" }
        defer { close(descriptor) }
        var buffer = [UInt8](repeating: 0, count: 64)
        let count = read(descriptor, &buffer, buffer.count)
        return String(decoding: buffer[..<max(0, count)].prefix { $0 > 0x20 }, as: UTF8.self)
    }
}
