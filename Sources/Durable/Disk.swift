import Glibc
package import Names

/// One change of the disk, as it is asked of the system.
package enum DiskOperation: Sendable, Equatable {
    case makeDirectory(String)
    case makeFile(String)
    case makeLink(String, destination: String)

    /// One more name for a file.
    case addName(String, of: String)

    /// Bytes at the end of a file.
    case append(String, [UInt8])
    case date(String, UnixTime)
    case rename(String, to: String)
    case exchange(String, String)
    case remove(String)
    case removeDirectory(String)
    case synchronizeFile(String)
    case synchronizeDirectory(String)
}

/// What watches the changes of the disk: tests record them, or make one fail.
package protocol DiskProbe: Sendable {
    /// Called before a change.
    ///
    /// - Throws: What the change is to fail with.
    func willPerform(_ operation: DiskOperation) throws(DurableError)

    /// Called after a change that succeeded.
    func didPerform(_ operation: DiskOperation)
}

/// The seam between a device directory and the disk: every change that decides what is active goes through here.
///
/// So a test can replay any part of the changes that were not yet synchronized,
/// as a power cut would leave them, and can make each single one fail. Modes,
/// shared blocks, locks, the ballast, what is written in place, and downloads,
/// which are checked again anyway, go past it.
package enum Disk {
    /// Of the running task; `nil` costs one look.
    @TaskLocal package static var probe: (any DiskProbe)?

    /// Makes a change.
    ///
    /// - Parameters:
    ///   - operation: What it is; made only where somebody watches.
    ///   - call: The system call: 0, or -1 and `errno`.
    /// - Returns: 0, or what `errno` was.
    /// - Throws: What the probe wants the change to fail with.
    package static func attempt(
        _ operation: @autoclosure () -> DiskOperation,
        _ call: () -> Int32
    ) throws(DurableError) -> Int32 {
        guard let probe else { return call() == 0 ? 0 : errno }
        let operation = operation()
        try probe.willPerform(operation)
        guard call() == 0 else { return errno }
        probe.didPerform(operation)
        return 0
    }

    /// Makes a change that has to succeed.
    ///
    /// - Parameters:
    ///   - operation: As ``attempt(_:_:)``.
    ///   - verb: What is done, for people.
    ///   - path: What it is done to.
    ///   - call: The system call.
    /// - Throws: `DurableError.system`.
    package static func perform(
        _ operation: @autoclosure () -> DiskOperation,
        _ verb: String,
        _ path: String,
        _ call: () -> Int32
    ) throws(DurableError) {
        let code = try attempt(operation(), call)
        guard code == 0 else { throw .system(operation: verb, path: path, code: code) }
    }
}
