package import Durable
import Glibc
import Names

/// A temporary folder that goes away with the test.
package final class Scratch: Sendable {
    /// The folder, without a slash at the end.
    package let path: String

    /// - Parameter base: Where to make it; by default `TMPDIR`, else `/tmp`.
    package init(in base: String? = nil) {
        let parent = base ?? getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        // The letters at the end are what mkdtemp replaces.
        var template = Array("\(parent)/sealift-test-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            preconditionFailure("no temporary folder in \(parent): \(errno)")
        }
        path = template.withUnsafeBytes { String(decoding: $0.dropLast(), as: UTF8.self) }
    }

    deinit { try? Durable.removeTree(path) }

    /// The path of `name` in the folder.
    package func path(_ name: String) -> String { "\(path)/\(name)" }

    /// Writes a file, and the folders above it; a program can be started at once.
    @discardableResult
    package func write(_ name: String, _ bytes: [UInt8], mode: UInt32 = 0o644) throws(DurableError) -> String
    {
        let file = path(name)
        try Durable.makeDirectory(Durable.parent(of: file))
        try Durable.writeAtomically(file, bytes, mode: mode)
        if mode & 0o111 != 0 { Self.awaitWriters(of: file) }
        return file
    }

    /// Waits while children of other tests have the file open for writing, as they do between fork and exec.
    private static func awaitWriters(of file: String) {
        let descriptor = open(file, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        let setLease: Int32 = 1_024
        // A lease for reading is given when nobody writes (fcntl(2), F_SETLEASE).
        for _ in 0..<10_000 where fcntl(descriptor, setLease, F_RDLCK) != 0 {
            guard errno == EAGAIN else { return }
            usleep(1_000)
        }
        _ = fcntl(descriptor, setLease, F_UNLCK)
    }

    /// Reads a file of at most 1 GiB.
    package func read(_ name: String) throws(DurableError) -> [UInt8] {
        try Durable.readFile(path(name), maximum: .mebibytes(1_024))
    }
}
