import Glibc
import Names

/// The reading calls that opening a generation needs; none of them writes, locks or follows a link it was not told to.
enum FileCalls {
    enum Kind: Equatable { case file, directory, link, other }

    struct Status: Equatable {
        let kind: Kind
        let length: UInt64
        let device: UInt64
        let inode: UInt64
        let mode: UInt32
        let links: UInt64
    }

    /// The status of `path` itself, a link not followed.
    ///
    /// - Returns: `nil` when nothing is there.
    static func status(_ path: String) throws(GenerationError) -> Status? {
        var result = stat()
        guard lstat(path, &result) == 0 else {
            let code = errno
            guard code == ENOENT || code == ENOTDIR else {
                throw .system(operation: "look at", path: path, code: code)
            }
            return nil
        }
        return Status(result)
    }

    /// The text of a symbolic link.
    ///
    /// - Returns: `nil` when nothing is there.
    static func linkText(_ path: String) throws(GenerationError) -> String? {
        var buffer = [CChar](repeating: 0, count: 4_096)
        let count = readlink(path, &buffer, buffer.count)
        guard count >= 0 else {
            let code = errno
            if code == ENOENT || code == ENOTDIR { return nil }
            if code == EINVAL {
                throw .damaged(path: path, expected: "a symbolic link", found: "something else")
            }
            throw .system(operation: "read the link", path: path, code: code)
        }
        return String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// `path` with every link resolved.
    ///
    /// - Returns: `nil` when nothing is there.
    static func realPath(_ path: String) throws(GenerationError) -> String? {
        guard let resolved = realpath(path, nil) else {
            let code = errno
            guard code == ENOENT || code == ENOTDIR else {
                throw .system(operation: "resolve", path: path, code: code)
            }
            return nil
        }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    /// The whole of a regular file of at most `maximum` bytes.
    ///
    /// - Returns: `nil` when nothing is there.
    static func contents(_ path: String, maximum: ByteCount) throws(GenerationError) -> [UInt8]? {
        let file = Glibc.open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else {
            let code = errno
            if code == ENOENT || code == ENOTDIR { return nil }
            if code == ELOOP { throw .damaged(path: path, expected: "a file", found: "a symbolic link") }
            throw .system(operation: "open", path: path, code: code)
        }
        defer { close(file) }
        var found = stat()
        guard fstat(file, &found) == 0 else { throw .system(operation: "look at", path: path, code: errno) }
        let status = Status(found)
        guard status.kind == .file else {
            throw .damaged(path: path, expected: "a file", found: "\(status.kind)")
        }
        guard status.length <= maximum.rawValue else {
            throw .damaged(path: path, expected: "at most \(maximum)", found: "\(status.length) bytes")
        }
        var bytes = [UInt8](repeating: 0, count: Int(status.length))
        var offset = 0
        while offset < bytes.count {
            let read = bytes.withUnsafeMutableBytes { buffer in
                pread(file, buffer.baseAddress?.advanced(by: offset), buffer.count - offset, off_t(offset))
            }
            if read < 0 && errno == EINTR { continue }
            guard read >= 0 else { throw .system(operation: "read", path: path, code: errno) }
            guard read > 0 else {
                throw .damaged(path: path, expected: "\(status.length) bytes", found: "\(offset) bytes")
            }
            offset += read
        }
        return bytes
    }
}

extension FileCalls.Status {
    fileprivate init(_ status: stat) {
        let kind: FileCalls.Kind =
            switch status.st_mode & S_IFMT {
            case S_IFREG: .file
            case S_IFDIR: .directory
            case S_IFLNK: .link
            default: .other
            }
        self.init(
            kind: kind,
            length: UInt64(max(0, status.st_size)),
            device: UInt64(status.st_dev),
            inode: UInt64(status.st_ino),
            mode: status.st_mode & 0o7777,
            links: UInt64(status.st_nlink)
        )
    }
}
