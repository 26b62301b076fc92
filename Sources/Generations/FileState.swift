import Durable
import Glibc
import Names

/// What the system says of a file without opening it.
struct FileState: Equatable {
    let isRegular: Bool
    let length: UInt64
    let mode: UInt32
    let modified: UnixTime

    /// The state of `path` itself, a link not followed.
    ///
    /// - Returns: `nil` when nothing is there.
    init?(_ path: String) throws(GenerationError) {
        var status = stat()
        guard lstat(path, &status) == 0 else {
            if errno == ENOENT || errno == ENOTDIR { return nil }
            throw .disk(.system("examine", path))
        }
        isRegular = status.st_mode & S_IFMT == S_IFREG
        length = UInt64(max(0, status.st_size))
        mode = UInt32(status.st_mode & 0o7777)
        modified = UnixTime(rawValue: Int64(status.st_mtim.tv_sec))
    }

    /// Makes a verified file read-only and dates it, so that a later change of it shows in its state.
    static func seal(_ path: String, dated time: UnixTime) throws(DurableError) {
        guard chmod(path, 0o444) == 0 else { throw .system("set the mode of", path) }
        let stamp = timespec(tv_sec: time_t(time.rawValue), tv_nsec: 0)
        let stamps = [stamp, stamp]
        guard utimensat(AT_FDCWD, path, stamps, AT_SYMLINK_NOFOLLOW) == 0 else {
            throw .system("set the time of", path)
        }
        let descriptor = try Durable.openForReading(path)
        defer { close(descriptor) }
        try Durable.synchronize(descriptor, path)
    }

    /// Takes back the date that says that a file is as it was installed; on a read-only disk it stays.
    static func unseal(_ path: String) {
        _ = utimensat(AT_FDCWD, path, nil, AT_SYMLINK_NOFOLLOW)
    }

    /// `path` with every link resolved.
    ///
    /// - Returns: `nil` when nothing is there.
    static func realPath(_ path: String) throws(GenerationError) -> String? {
        guard let resolved = realpath(path, nil) else {
            if errno == ENOENT || errno == ENOTDIR { return nil }
            throw .disk(.system("resolve", path))
        }
        defer { free(resolved) }
        return String(cString: resolved)
    }
}
