import CLinux
import Glibc

extension Durable {
    /// Replaces or creates `path` so that a crash leaves the old file or the new one.
    ///
    /// A temporary file in the same directory is written, synchronized, renamed
    /// over `path`, and the directory synchronized. A link at `path` is
    /// replaced, not followed. On any error the old file is untouched.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - bytes: Its whole new content.
    ///   - mode: Its permission bits, as ``FileMode`` has them.
    /// - Throws: ``DurableError``, with the old file untouched.
    package static func writeAtomically(
        _ path: String,
        _ bytes: [UInt8],
        mode: UInt32 = 0o644
    ) throws(DurableError) {
        let (temporary, descriptor) = try createTemporary(for: path, mode)
        // Locked until it has its name, or somebody who clears up takes it for a leftover.
        defer { close(descriptor) }
        var isFinished = false
        defer { if !isFinished { try? removeFile(temporary) } }
        try CrashPoint.reached("write.created", path)
        try writeAll(bytes, to: descriptor, temporary)
        guard fchmod(descriptor, mode_t(FileMode.bits(mode, in: parent(of: path)))) == 0 else {
            throw DurableError.system("set the mode of", temporary)
        }
        try synchronize(descriptor, temporary)
        try CrashPoint.reached("write.synchronized", path)
        try replace(path, by: temporary)
        isFinished = true
        try CrashPoint.reached("write.renamed", path)
        try synchronizeDirectory(parent(of: path))
    }

    /// Writes a file in place and waits for no disk: after a crash it is the old one, the new one, or neither.
    ///
    /// For what is worth nothing then, and too little to wear a disk for. It goes
    /// past the seam of ``Disk``, and follows no link.
    ///
    /// - Throws: ``DurableError``; the file may have changed.
    package static func writeInPlace(_ path: String, _ bytes: [UInt8]) throws(DurableError) {
        let flags = O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
        let descriptor = clinux_open(path, flags, Int32(FileMode.file))
        guard descriptor >= 0 else { throw .system("open", path) }
        defer { close(descriptor) }
        FileMode.settle(descriptor, path)
        guard pwrite(descriptor, bytes, bytes.count, 0) == bytes.count,
            ftruncate(descriptor, off_t(bytes.count)) == 0
        else { throw .system("write", path) }
    }

    /// Creates a file beside `path`, locked while it is written, so that nobody takes it for a leftover.
    private static func createTemporary(
        for path: String,
        _ mode: UInt32
    ) throws(DurableError) -> (String, Int32) {
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
        while true {
            let temporary = temporaryName(for: path)
            var descriptor: Int32 = -1
            try Disk.perform(.makeFile(temporary), "create", temporary) {
                descriptor = clinux_open(temporary, flags, Int32(mode & 0o600))
                return min(descriptor, 0)
            }
            // Where there are no such locks nobody deletes leftovers either.
            let isTaken = flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK
            var status = stat()
            // Between the two it may have been taken for a leftover, and deleted.
            if !isTaken, fstat(descriptor, &status) != 0 || status.st_nlink > 0 {
                return (temporary, descriptor)
            }
            close(descriptor)
            try? removeFile(temporary)
        }
    }

    /// Deletes what writers that were killed left in a directory; what somebody writes now is locked and stays.
    ///
    /// A directory that cannot be read, or a file that cannot be deleted, is left for another time.
    package static func removeLeftovers(in directory: String) {
        for name in (try? names(in: directory)) ?? [] where name.hasPrefix(".") && name.hasSuffix(".partial")
        {
            let path = "\(directory)/\(name)"
            let descriptor = clinux_open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0)
            guard descriptor >= 0 else { continue }
            defer { close(descriptor) }
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { try? removeFile(path) }
        }
    }

    /// Writes all bytes at the descriptor's own offset.
    package static func writeAll(
        _ bytes: [UInt8],
        to descriptor: Int32,
        _ path: String
    ) throws(DurableError) {
        try Disk.perform(.append(path, bytes), "write", path) {
            var done = 0
            while done < bytes.count {
                let count = bytes.withUnsafeBytes {
                    write(descriptor, $0.baseAddress?.advanced(by: done), $0.count - done)
                }
                if count < 0 && errno == EINTR { continue }
                guard count > 0 else { return -1 }
                done += count
            }
            return 0
        }
    }

    /// fsync: the file's bytes are on the disk when this returns.
    package static func synchronize(_ descriptor: Int32, _ path: String) throws(DurableError) {
        try Disk.perform(.synchronizeFile(path), "synchronize", path) { fsync(descriptor) }
    }

    /// Puts the names in a directory on the disk.
    package static func synchronizeDirectory(_ path: String) throws(DurableError) {
        let descriptor = clinux_open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
        guard descriptor >= 0 else { throw .system("open", path) }
        defer { close(descriptor) }
        try Disk.perform(.synchronizeDirectory(path), "synchronize", path) { fsync(descriptor) }
    }

    /// Gives `path` what stands at `other`, by one rename that is not yet on the disk.
    package static func replace(_ path: String, by other: String) throws(DurableError) {
        try Disk.perform(.rename(other, to: path), "replace", path) { Glibc.rename(other, path) }
    }

    /// Gives a directory its name; what had the name gets that of the directory.
    ///
    /// Not yet on the disk when it returns. On a file system that knows no such
    /// exchange, what is in the way goes first.
    package static func exchange(_ stage: String, _ directory: String) throws(DurableError) {
        var code = try Disk.attempt(.rename(stage, to: directory)) {
            clinux_rename_noreplace(stage, directory)
        }
        if code == EEXIST {
            code = try Disk.attempt(.exchange(stage, directory)) { clinux_rename_exchange(stage, directory) }
        }
        if code == 0 { return }
        guard code == EINVAL || code == ENOSYS else {
            throw .system(operation: "rename", path: stage, code: code)
        }
        let aside = "\(stage)-replaced"
        if try kind(of: directory) != nil { try replace(aside, by: directory) }
        try replace(directory, by: stage)
        try removeTree(aside)
    }

    /// Makes a symbolic link that is not yet on the disk.
    package static func makeLink(_ path: String, destination: String) throws(DurableError) {
        try Disk.perform(.makeLink(path, destination: destination), "create", path) {
            symlink(destination, path)
        }
    }

    /// Renames durably: both parents are synchronized.
    ///
    /// What is at `to` is replaced.
    package static func rename(_ from: String, to: String) throws(DurableError) {
        try replace(to, by: from)
        try synchronizeDirectory(parent(of: to))
        if parent(of: from) != parent(of: to) { try synchronizeDirectory(parent(of: from)) }
    }

    /// Points the symbolic link `path` to `destination` by one rename, whether or not it was there.
    package static func replaceLink(_ path: String, destination: String) throws(DurableError) {
        let temporary = temporaryName(for: path)
        try makeLink(temporary, destination: destination)
        do throws(DurableError) {
            try CrashPoint.reached("link.created", path)
            try replace(path, by: temporary)
        } catch {
            try? removeFile(temporary)
            throw error
        }
        try CrashPoint.reached("link.renamed", path)
        try synchronizeDirectory(parent(of: path))
    }

    /// The directory that holds `path`.
    package static func parent(of path: String) -> String {
        var bytes = Array(path.utf8)
        while bytes.count > 1, bytes.last == UInt8(ascii: "/") { bytes.removeLast() }
        guard let slash = bytes.lastIndex(of: UInt8(ascii: "/")) else { return "." }
        return slash == 0 ? "/" : String(decoding: bytes[..<slash], as: UTF8.self)
    }

    /// A name beside `path` that no other process uses and that is seen as a leftover after a crash.
    static func temporaryName(for path: String) -> String {
        let name =
            path.utf8.split(separator: UInt8(ascii: "/")).last.map { String(decoding: $0, as: UTF8.self) }
            ?? "file"
        let random = String(UInt64.random(in: 0 ... .max), radix: 16)
        let start = String(decoding: name.utf8.prefix(100), as: UTF8.self)
        return "\(parent(of: path))/.\(start).\(random).partial"
    }
}
