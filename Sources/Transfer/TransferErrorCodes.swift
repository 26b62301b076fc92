import Durable
package import Names
import Trust

extension FetchError {
    /// The stable code of this error.
    package var code: ErrorCode {
        switch self {
        case .refused(let refusal, _): refusal.code
        case .outage(let outage, _): outage.code
        case .storage(let error): error.code
        case .paused: .paused
        case .cancelled: .cancelled
        }
    }
}

extension FetchRefusal {
    var code: ErrorCode {
        switch self {
        case .malformedURL: .usage
        case .plainHTTP: .plainHTTP
        case .certificate, .tls: .certificate
        case .unauthorized: .token
        case .status(403): .token
        case .digest, .target, .block: .bytes
        case .configuration: .certificate
        case .noLibrary, .proxy: .configuration
        case .tooLong, .redirected, .status, .malformedAnswer: .answer
        }
    }
}

extension FetchOutage {
    var code: ErrorCode {
        switch self {
        case .nameNotResolved: .nameNotResolved
        case .notConnected, .other: .unreachable
        case .cutOff: .cutOff
        case .timedOut, .stalled: .stalled
        case .status: .serverError
        case .absent: .missingAtServer
        }
    }
}

extension UpdateError {
    /// The stable code of this error.
    package var code: ErrorCode {
        switch self {
        case .refused(let error): error.code
        case .fetch(let error): error.code
        case .absent, .noTimestamp(_, true): .missingAtServer
        case .noTimestamp(_, false): .noRegistry
        case .notStored: .temporary
        case .storage(let error): error.code
        }
    }
}
