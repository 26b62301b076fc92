import CanonicalJSON
import ModelRuntimes
import Names

/// One thing that `doctor` looked at.
struct Finding: Sendable {
    enum Level: String, Sendable {
        case good, warning, problem
    }

    /// A word that never changes its meaning.
    let check: String

    /// What was looked at.
    let subject: String
    let level: Level

    /// What is so, in one line.
    let found: String

    /// What to do; nothing where all is well.
    let remedy: String?

    static func good(_ check: String, _ subject: String, _ found: String) -> Finding {
        Finding(check: check, subject: subject, level: .good, found: found, remedy: nil)
    }

    static func warning(_ check: String, _ subject: String, _ found: String, _ remedy: String) -> Finding {
        Finding(check: check, subject: subject, level: .warning, found: found, remedy: remedy)
    }

    static func problem(_ check: String, _ subject: String, _ found: String, _ remedy: String) -> Finding {
        Finding(check: check, subject: subject, level: .problem, found: found, remedy: remedy)
    }

    /// What an error means here: its message is what was found, its code knows the remedy.
    static func problem(_ check: String, _ subject: String, _ error: any Error) -> Finding {
        let failure = Failure(describing: error)
        return .problem(check, subject, failure.line, remedy(failure.errorCode))
    }

    /// What to do, for somebody who asks `doctor` already.
    private static func remedy(_ code: ErrorCode) -> String {
        switch code {
        case .unreachable:
            "See that the registry runs, and compare address and port with those that ‘sealift serve’ printed; then what "
                + "stands between: firewall, and the proxy that is named above."
        case .place: "Check the path, its owner and its mode."
        case .runtimeMissing: "Install it: \(ONNXRuntimeError.installation)"
        default: code.remedy
        }
    }

    var value: JSONValue {
        .members([
            "check": .text(check), "found": .text(found), "level": .text(level.rawValue),
            "remedy": .text(orNull: remedy), "subject": .text(subject),
        ])
    }
}
