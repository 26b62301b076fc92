import Glibc

/// How many more files and sockets this process may open.
///
/// The libraries below have no way to say that they could not: Dispatch traps
/// in its first thread. So programs look before they start one.
package enum OpenFiles {
    /// What the shortest of calls needs, and some for whoever started it.
    package static let least = 16

    /// - Throws: `DurableError.system` when fewer than ``least`` can be opened.
    package static func check() throws(DurableError) {
        var descriptors: [Int32] = []
        defer { for descriptor in descriptors { close(descriptor) } }
        for _ in 0..<least {
            let descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else {
                let isFull = errno == EMFILE || errno == ENFILE
                throw .system("open", isFull ? "\(least) files at once" : "/dev/null")
            }
            descriptors.append(descriptor)
        }
    }
}
