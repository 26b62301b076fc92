import CLinux
import Glibc
package import Names

/// What a path leads to, links not followed.
package enum FileKind: Sendable, Equatable {
    case file(length: UInt64, mode: UInt32)
    case directory
    case link
    case other
}

extension Durable {
    /// What is at `path`, or `nil` when nothing is.
    package static func kind(of path: String) throws(DurableError) -> FileKind? {
        var status = stat()
        guard lstat(path, &status) == 0 else {
            if errno == ENOENT || errno == ENOTDIR { return nil }
            throw .system("examine", path)
        }
        switch status.st_mode & S_IFMT {
        case S_IFREG:
            return .file(length: UInt64(max(0, status.st_size)), mode: UInt32(status.st_mode & 0o7777))
        case S_IFDIR: return .directory
        case S_IFLNK: return .link
        default: return .other
        }
    }

    /// Whether a directory is there, links followed.
    package static func isDirectory(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// The bytes of disk that the file at `path` has, reserved ones included; none when nothing is there.
    package static func allocated(at path: String) throws(DurableError) -> UInt64 {
        var status = stat()
        guard lstat(path, &status) == 0 else {
            if errno == ENOENT || errno == ENOTDIR { return 0 }
            throw .system("examine", path)
        }
        // POSIX leaves the unit open; on Linux it is 512 bytes whatever the file system.
        return UInt64(max(0, status.st_blocks)) * 512
    }

    /// Creates a directory and the missing ones above it; one that is there already is left as it is.
    package static func makeDirectory(_ path: String, mode: UInt32 = 0o755) throws(DurableError) {
        if try madeDirectory(path, mode) { return }
        guard parent(of: path) != path else { throw .system("create the directory", path) }
        try makeDirectory(parent(of: path), mode: mode)
        // Once: `/proc`, and a working directory that was deleted, are there and take nothing.
        guard try madeDirectory(path, mode) else {
            throw .system(operation: "create the directory", path: path, code: ENOENT)
        }
    }

    /// Creates one directory.
    ///
    /// - Returns: `false` when the system says that what is above it is missing.
    private static func madeDirectory(_ path: String, _ mode: UInt32) throws(DurableError) -> Bool {
        let code = try Disk.attempt(.makeDirectory(path)) { mkdir(path, mode_t(mode)) }
        if code == 0 {
            try setMode(ofDirectory: path, mode)
            try synchronizeDirectory(parent(of: path))
            return true
        }
        guard code != ENOENT else { return false }
        guard code == EEXIST else { throw .system(operation: "create the directory", path: path, code: code) }
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
            throw .system(operation: "create the directory", path: path, code: ENOTDIR)
        }
        return true
    }

    /// Creates one directory that is not there.
    ///
    /// - Returns: `false` when something of that name is.
    package static func makeNewDirectory(_ path: String, mode: UInt32 = 0o755) throws(DurableError) -> Bool {
        let code = try Disk.attempt(.makeDirectory(path)) { mkdir(path, mode_t(mode)) }
        guard code == 0 || code == EEXIST else {
            throw .system(operation: "create the directory", path: path, code: code)
        }
        if code == 0 { try setMode(ofDirectory: path, mode) }
        return code == 0
    }

    /// Gives a directory that was just made the bits of ``FileMode``, whatever the process's mask.
    private static func setMode(ofDirectory path: String, _ mode: UInt32) throws(DurableError) {
        let bits = FileMode.bits(mode, in: parent(of: path))
        guard chmod(path, mode_t(bits)) == 0 else { throw .system("set the mode of", path) }
    }

    /// Deletes what stands at `path` unless it is a regular file or nothing, so that a file can take its place.
    ///
    /// A rename replaces files, links and pipes by itself, and never a
    /// directory: one that got there, by a copy that followed links for example,
    /// would be in the way for ever.
    package static func makeWay(at path: String) throws(DurableError) {
        if case .directory? = try kind(of: path) { try removeTree(path) }
    }

    /// Deletes what stands at `path` unless it is a directory, leads to one or is nothing, so that a directory can take
    /// its place.
    package static func makeWay(forDirectory path: String) throws(DurableError) {
        var status = stat()
        if stat(path, &status) == 0 {
            guard status.st_mode & S_IFMT != S_IFDIR else { return }
        } else {
            // A link to a place that may not be looked at may well be meant.
            guard errno == ENOENT || errno == ELOOP || errno == ENOTDIR else { return }
        }
        if try kind(of: path) != nil { try removeTree(path) }
    }

    /// Creates `name` below `top`, and what is missing between them, in the place of whatever else stands there.
    package static func makeDirectory(_ name: String, below top: String) throws(DurableError) {
        var path = top
        for segment in name.split(separator: "/") {
            path += "/\(segment)"
            try makeWay(forDirectory: path)
            try makeDirectory(path)
        }
    }

    /// Whether a regular file of this user has no name but `path`, so that nobody reads or writes it by another.
    package static func isOnlyName(of path: String) throws(DurableError) -> Bool {
        var status = stat()
        guard lstat(path, &status) == 0 else { throw .system("examine", path) }
        return isOnlyName(status)
    }

    /// The same of an open file.
    package static func hasOneName(_ descriptor: Int32) -> Bool {
        var status = stat()
        return fstat(descriptor, &status) == 0 && isOnlyName(status)
    }

    private static func isOnlyName(_ status: stat) -> Bool {
        status.st_mode & S_IFMT == S_IFREG && status.st_nlink == 1 && status.st_uid == geteuid()
    }

    /// Takes from a private directory of this user what group and others may do there, as after `chmod -R g+w`.
    ///
    /// One that is not there, or somebody else's, stays as it is.
    package static func keepPrivate(directory path: String) throws(DurableError) {
        let descriptor = clinux_open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_uid == geteuid(), status.st_mode & 0o7077 != 0
        else { return }
        guard fchmod(descriptor, 0o700) == 0 else { throw .system("set the mode of", path) }
    }

    /// The names in a directory, sorted by their bytes, without `.` and `..`.
    package static func names(in path: String) throws(DurableError) -> [String] {
        guard let stream = opendir(path) else { throw .system("list", path) }
        defer { closedir(stream) }
        return names(from: stream)
    }

    /// Deletes one file or link; one that is not there is no error.
    package static func removeFile(_ path: String) throws(DurableError) {
        let code = try Disk.attempt(.remove(path)) { unlink(path) }
        guard code == 0 || code == ENOENT else { throw .system(operation: "delete", path: path, code: code) }
    }

    /// Deletes a directory with all in it, or a file; links are deleted, never followed.
    ///
    /// Works by descriptors, so that a directory which somebody swaps for a
    /// link meanwhile leads nowhere else.
    package static func removeTree(_ path: String) throws(DurableError) {
        try removeEntry(AT_FDCWD, path, path, depth: 0)
    }

    private static func removeEntry(
        _ directory: Int32,
        _ name: String,
        _ path: String,
        depth: Int
    ) throws(DurableError) {
        let code = try Disk.attempt(.remove(path)) { unlinkat(directory, name, 0) }
        if code == 0 || code == ENOENT { return }
        guard code == EISDIR || code == EPERM else {
            throw .system(operation: "delete", path: path, code: code)
        }
        guard depth < 64 else { throw .system(operation: "delete", path: path, code: ELOOP) }
        let descriptor = clinux_open_at(directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0)
        guard descriptor >= 0 else { throw .system("open", path) }
        guard let stream = fdopendir(descriptor) else {
            close(descriptor)
            throw .system("list", path)
        }
        defer { closedir(stream) }
        // Directories of read-only versions: their owner may still empty them.
        _ = fchmod(descriptor, 0o700)
        for entry in names(from: stream) {
            try removeEntry(descriptor, entry, "\(path)/\(entry)", depth: depth + 1)
        }
        let removal = try Disk.attempt(.removeDirectory(path)) { unlinkat(directory, name, AT_REMOVEDIR) }
        guard removal == 0 || removal == ENOENT else {
            throw .system(operation: "delete", path: path, code: removal)
        }
    }

    private static func names(from stream: OpaquePointer) -> [String] {
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != "." && name != ".." { names.append(name) }
        }
        return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    /// Where a symbolic link points, or `nil` when there is no link.
    package static func destination(ofLink path: String) throws(DurableError) -> String? {
        var buffer = [CChar](repeating: 0, count: 4_096)
        let count = readlink(path, &buffer, buffer.count)
        guard count >= 0 else {
            if errno == ENOENT || errno == EINVAL || errno == ENOTDIR { return nil }
            throw .system("read the link", path)
        }
        let bytes = buffer[..<count].map(UInt8.init(bitPattern:))
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Whether the file system of `path` takes one more file: it may have room for bytes and none for names.
    ///
    /// True where a file system does not count its inodes.
    package static func hasRoomForFiles(at path: String) throws(DurableError) -> Bool {
        var status = statvfs()
        guard statvfs(path, &status) == 0 else { throw .system("examine", path) }
        return status.f_files == 0 || status.f_favail > 0
    }

    /// The space that this user may still fill on the file system of `path`.
    package static func freeSpace(at path: String) throws(DurableError) -> ByteCount {
        var status = statvfs()
        guard statvfs(path, &status) == 0 else { throw .system("examine", path) }
        return ByteCount(rawValue: UInt64(status.f_bavail) &* UInt64(status.f_frsize))
    }
}
