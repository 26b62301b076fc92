import Glibc

/// Named places where a test can stop the process dead, or make a step fail.
///
/// `SEALIFT_CRASH_AT=name` ends the process there by SIGKILL, as a power cut
/// would; `SEALIFT_STOP_AT=name` stops it until SIGCONT; `SEALIFT_FAULT_AT=name`
/// makes the step fail as a full disk does. A name may carry a part of the
/// path: `write.renamed:current`. All are read once; without them a point costs
/// one comparison each.
package enum CrashPoint {
    private static let crash = name(in: "SEALIFT_CRASH_AT")
    private static let stop = name(in: "SEALIFT_STOP_AT")
    private static let fault = name(in: "SEALIFT_FAULT_AT")

    /// Marks a step.
    ///
    /// - Parameters:
    ///   - point: What is about to happen or has just happened, for example `write.renamed`.
    ///   - path: What it happens to.
    /// - Throws: `DurableError.system` with `ENOSPC` when the environment asks for it.
    package static func reached(_ point: String, _ path: String = "") throws(DurableError) {
        if let crash, matches(crash, point, path) { kill(getpid(), SIGKILL) }
        if let stop, matches(stop, point, path) { kill(getpid(), SIGSTOP) }
        if let fault, matches(fault, point, path) {
            throw .system(operation: "pass \(point) with", path: path, code: ENOSPC)
        }
    }

    private static func matches(_ wanted: String, _ point: String, _ path: String) -> Bool {
        let parts = wanted.split(separator: ":", maxSplits: 1)
        guard let first = parts.first, first == point else { return false }
        return parts.count < 2 || path.hasSuffix(parts[1])
    }

    private static func name(in variable: String) -> String? {
        guard let text = getenv(variable) else { return nil }
        return String(cString: text)
    }
}
