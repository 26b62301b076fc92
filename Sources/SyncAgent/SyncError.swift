/// Why a sync did not do what was asked.
///
/// Whatever the kind, the generation that was active before is active still.
public struct SyncError: Error, Equatable, Sendable {
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

    /// Makes an error.
    public init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    /// The exit code of the command line for this kind.
    public var exitCode: Int32 {
        switch kind {
        case .refused: 1
        case .usage: 2
        case .expired: 4
        case .misbehaviour: 5
        case .internal: 70
        case .temporary: 75
        }
    }
}

extension SyncError: CustomStringConvertible {
    /// The message.
    public var description: String { message }
}
