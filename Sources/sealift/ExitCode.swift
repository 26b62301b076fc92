import CanonicalJSON
import Names

/// The exit codes of every command; the README explains them to scripts.
enum ExitCode: Int32, Comparable {
    case done = 0

    /// A signature, blob, root, certificate or key file is not what it must be, or a rule says no.
    case refused = 1
    case usage = 2

    /// Nothing newer is compatible or can run here, or the active version fits no more; it stays.
    case nothingUsable = 3

    /// The chain has expired, within the signed grace; of ‘metadata status’, a role has ended or will soon.
    case expiredWithinGrace = 4

    /// Two signed statements that cannot both be honest.
    case misbehaviour = 5
    case internalError = 70

    /// Unreachable, cut off, disk full, port in use: the same command may work later.
    case temporary = 75

    static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// Why a command ended: one line for the person who typed it, one for each particular, and a word for programs.
struct Failure: Error {
    let errorCode: ErrorCode
    let line: String
    let rows: [String]

    init(code: ErrorCode, _ line: String, rows: [String] = []) {
        errorCode = code
        self.line = line
        self.rows = rows
    }

    /// Of what is known no more than how the command ends.
    init(_ code: ExitCode, _ line: String) { self.init(code: code.generic, line) }

    var code: ExitCode { ExitCode(rawValue: errorCode.exitCode) ?? .internalError }

    /// What `--json` puts on standard output in place of a result.
    var report: JSONReport {
        JSONReport([
            "error": .members([
                "cause": .text(errorCode.cause), "code": .text(errorCode.rawValue),
                "exit_code": .integer(Int64(code.rawValue)),
                "message": .text(([line] + rows).joined(separator: "\n")),
                "remedy": .text(errorCode.remedy),
            ])
        ])
    }
}

extension ExitCode {
    fileprivate var generic: ErrorCode {
        switch self {
        case .done, .internalError: .internal
        case .refused: .refused
        case .usage: .usage
        case .nothingUsable: .nothingUsable
        case .expiredWithinGrace: .expiredWithinGrace
        case .misbehaviour: .misbehaviour
        case .temporary: .temporary
        }
    }
}
