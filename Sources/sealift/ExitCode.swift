/// The exit codes of every command; the README explains them to scripts.
enum ExitCode: Int32, Comparable {
    case done = 0

    /// A signature, blob, root, certificate or key file is not what it must be.
    case refused = 1
    case usage = 2

    /// Nothing newer is compatible or can run here; the old version stays.
    case nothingUsable = 3

    /// The chain has expired, within the signed grace.
    case expiredWithinGrace = 4

    /// Two signed statements that cannot both be honest.
    case misbehaviour = 5
    case internalError = 70

    /// Unreachable, cut off, disk full, port in use: the same command may work later.
    case temporary = 75

    static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// Why a command ended, in one line for the person who typed it.
struct Failure: Error {
    let code: ExitCode
    let line: String

    init(_ code: ExitCode, _ line: String) {
        self.code = code
        self.line = line
    }
}
