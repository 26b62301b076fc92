import Glibc

/// What the file system refused, and about which path.
package enum DurableError: Error, Sendable, Equatable {
    /// A system call failed.
    case system(operation: String, path: String, code: Int32)

    /// A link, a directory, a device or a pipe where a regular file must be.
    case notRegularFile(path: String)

    case tooLong(path: String, limit: UInt64)

    /// Others could read or change a file that must be private.
    case tooOpen(path: String, mode: UInt32)

    /// A private file belongs to somebody else.
    case foreignOwner(path: String, owner: UInt32)

    /// Another process holds the lock.
    case locked(path: String, holder: String)

    package static func system(_ operation: String, _ path: String) -> DurableError {
        .system(operation: operation, path: path, code: errno)
    }

    /// Whether room on the disk, or quota, is what is missing.
    package var isOutOfSpace: Bool {
        guard case .system(_, _, let code) = self else { return false }
        return code == ENOSPC || code == EDQUOT
    }

    /// Whether the path itself is at fault, as when it is not this user's to use.
    ///
    /// Trying again later helps with none of these.
    package var isWrongPlace: Bool {
        guard case .system(_, _, let code) = self else { return false }
        return [ENOTDIR, EISDIR, EACCES, EPERM, EROFS, ENAMETOOLONG, ELOOP].contains(code)
    }

    /// Whether what stands there is no file of its kind, so that it is as good as absent.
    package var isOfContent: Bool {
        switch self {
        case .tooLong, .notRegularFile: true
        case .system, .tooOpen, .foreignOwner, .locked: false
        }
    }

    /// Whether something else stands where a directory on the way must be.
    package var isObstructed: Bool {
        guard case .system(_, _, let code) = self else { return false }
        return code == ENOTDIR || code == ELOOP
    }

    package var isAbsent: Bool {
        guard case .system(_, _, let code) = self else { return false }
        return code == ENOENT
    }
}

extension DurableError: CustomStringConvertible {
    private func remedy(_ code: Int32, _ path: String) -> String {
        if code == EMFILE { return "; raise the limit on open files (ulimit -n) and try again" }
        guard isOutOfSpace else { return "" }
        return code == ENOSPC && Self.isOutOfFiles(path)
            ? "; the file system is out of inodes, not of bytes: delete files and try again"
            : "; free some space and try again"
    }

    /// Whether the file system that `path` was to be on takes no more files; it may have to be made yet.
    private static func isOutOfFiles(_ path: String) -> Bool {
        var place = path
        for _ in 0..<64 {
            if let hasRoom = try? Durable.hasRoomForFiles(at: place) { return !hasRoom }
            let parent = Durable.parent(of: place)
            guard parent != place else { return false }
            place = parent
        }
        return false
    }

    package var description: String {
        switch self {
        case .system(let operation, let path, let code):
            "could not \(operation) \(path): \(String(cString: strerror(code)))\(remedy(code, path))"
        case .notRegularFile(let path): "\(path) is not a regular file; links are not followed here"
        case .tooLong(let path, let limit): "\(path) is longer than the \(limit) bytes allowed"
        case .tooOpen(let path, let mode):
            "\(path) can be read or changed by others (mode \(Self.octal(mode)), expected 0600); "
                + "run: chmod 600 \(path)"
        case .foreignOwner(let path, let owner):
            "\(path) belongs to user \(owner), and must belong to the user that runs this"
        case .locked(let path, let holder): "another process is at work there: \(holder) holds \(path)"
        }
    }

    private static func octal(_ mode: UInt32) -> String {
        let digits = String(mode & 0o7777, radix: 8)
        return String(repeating: "0", count: max(0, 4 - digits.utf8.count)) + digits
    }
}
