import Glibc

/// What tells that something about the active versions changed, for a few system calls and without opening a file.
package enum DeviceStamp {
    /// The state of `current`, of `trust/state.json` and of the quarantine.
    ///
    /// Each is replaced by a rename and never written again, so that equal
    /// numbers mean that nothing changed.
    ///
    /// - Parameter directory: Path of the device directory; it may be missing.
    /// - Returns: `nil` when the system does not say.
    package static func numbers(_ directory: String) -> [Int64]? {
        var numbers: [Int64] = []
        for name in ["current", "trust/state.json", Quarantine.fileName] {
            var status = stat()
            guard lstat("\(directory)/\(name)", &status) == 0 else {
                guard errno == ENOENT else { return nil }
                numbers.append(0)
                continue
            }
            numbers += [
                Int64(truncatingIfNeeded: status.st_ino), Int64(status.st_ctim.tv_sec),
                Int64(status.st_ctim.tv_nsec),
            ]
        }
        return numbers
    }
}
