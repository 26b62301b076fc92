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

    /// Whether the file is as ``seal(_:holding:)`` left it.
    func isSealed(holding digest: Digest) -> Bool {
        isRegular && mode == 0o444 && modified == Self.sealDate(of: digest)
    }

    /// The date of an installed file.
    ///
    /// It follows from the content, so that versions may share a file, and lies
    /// between 2001 and 2017, where no clock of a later change stands.
    static func sealDate(of digest: Digest) -> UnixTime {
        let number = digest.bytes.prefix(4).reduce(Int64(0)) { $0 << 8 | Int64($1) }
        return UnixTime(rawValue: 1_000_000_000 + number % 500_000_000)
    }

    /// Makes a verified file read-only and dates it, so that a later change of it shows in its state.
    static func seal(_ path: String, holding digest: Digest) throws(DurableError) {
        guard chmod(path, 0o444) == 0 else { throw .system("set the mode of", path) }
        let date = sealDate(of: digest)
        let stamp = timespec(tv_sec: time_t(date.rawValue), tv_nsec: 0)
        let stamps = [stamp, stamp]
        try Disk.perform(.date(path, date), "set the time of", path) {
            utimensat(AT_FDCWD, path, stamps, AT_SYMLINK_NOFOLLOW)
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
