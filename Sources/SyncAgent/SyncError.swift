package import Names

/// Why a sync did not do what was asked.
///
/// Whatever the kind, the generation that was active before is active still.
public struct SyncError: Error, Hashable, Sendable {
    /// What the caller should do about it; each kind has its exit code.
    public enum Kind: Sendable, Hashable, CaseIterable {
        /// The configuration or the call is wrong; nothing was tried.
        case usage

        /// A proof or a policy said no: signature, blob, root, certificate. Trying again changes nothing.
        case refused

        /// Could not reach, or could not store. Try again later.
        case temporary

        /// The registry's signed chain is past its expiry and the active models are within their grace.
        case expired

        /// A fault of Sealift itself.
        case `internal`

        /// Evidence that the registry tells different stories to different devices.
        case misbehaviour
    }

    /// What the caller should do about it.
    public let kind: Kind

    /// One line for people: what happened, to what, what was expected and found, what to do.
    public let message: String

    package let errorCode: ErrorCode

    /// Seconds that a server asked to wait before it is asked again.
    public var retryAfter: Int64?

    /// Makes an error.
    public init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
        errorCode = kind.code
    }

    /// Makes an error of the kind that `code` belongs to.
    package init(code: ErrorCode, _ message: String) {
        kind = Kind.allCases.first { $0.code.exitCode == code.exitCode } ?? .internal
        self.message = message
        errorCode = code
    }

    /// What went wrong, in a word that never changes its meaning; the documentation lists them all.
    public var code: String { errorCode.rawValue }

    /// What to do about it, in one sentence.
    public var remedy: String { errorCode.remedy }

    /// The exit code of the command line for this kind.
    public var exitCode: Int32 { errorCode.exitCode }
}

extension SyncError.Kind {
    /// The code of an error of which no more is known than its kind.
    fileprivate var code: ErrorCode {
        switch self {
        case .usage: .usage
        case .refused: .refused
        case .temporary: .temporary
        case .expired: .expiredWithinGrace
        case .internal: .internal
        case .misbehaviour: .misbehaviour
        }
    }
}

extension SyncError: CustomStringConvertible {
    /// The message.
    public var description: String { message }
}
