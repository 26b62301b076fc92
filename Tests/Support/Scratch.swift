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
        var template = Array("\(parent)/sealift-test-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            preconditionFailure("no temporary folder in \(parent): \(errno)")
        }
        path = template.withUnsafeBytes { String(decoding: $0.dropLast(), as: UTF8.self) }
    }

    deinit { try? Durable.removeTree(path) }

    /// The path of `name` in the folder.
    package func path(_ name: String) -> String { "\(path)/\(name)" }

    /// Writes a file, and the folders above it.
    @discardableResult
    package func write(_ name: String, _ bytes: [UInt8], mode: UInt32 = 0o644) throws(DurableError) -> String
    {
        let file = path(name)
        try Durable.makeDirectory(Durable.parent(of: file))
        try Durable.writeAtomically(file, bytes, mode: mode)
        return file
    }

    /// Reads a file of at most 1 GiB.
    package func read(_ name: String) throws(DurableError) -> [UInt8] {
        try Durable.readFile(path(name), maximum: .mebibytes(1_024))
    }
}
