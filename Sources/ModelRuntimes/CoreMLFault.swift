/// What errors of Apple's systems say; pure, so that it is tested where there are none.
enum CoreMLFault {
    /// One error of a chain, each of which underlies the one before.
    struct Link: Equatable, Sendable {
        let domain: String
        let code: Int
    }

    /// Whether an error is the system's, and not the model's: no room, no right, no memory, no descriptor, a bad disk.
    ///
    /// - Parameter chain: From the outermost error on.
    /// - Returns: Whether trying again later may help.
    static func isPassing(_ chain: [Link]) -> Bool {
        chain.contains { link in
            switch link.domain {
            case "NSCocoaErrorDomain": cocoa.contains(link.code)
            case "NSPOSIXErrorDomain": posix.contains(link.code)
            // MLModelError.io: the files were verified before, so that it is the disk or the cache.
            case "com.apple.CoreML": link.code == 3
            default: false
            }
        }
    }

    /// No permission to read or write (257, 513), no room (640), read-only (642), and unknown errors of a disk (256, 512).
    private static let cocoa: Set = [256, 257, 512, 513, 640, 642]

    /// Darwin's EPERM, EIO, ENOMEM, EACCES, ENFILE, EMFILE, ENOSPC, EROFS, EAGAIN and EDQUOT.
    private static let posix: Set = [1, 5, 12, 13, 23, 24, 28, 30, 35, 69]
}
