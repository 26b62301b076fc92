package import Durable
package import Trust

/// Why metadata could not be brought up to date.
///
/// What was trusted before stays.
package enum UpdateError: Error, Sendable, Equatable {
    /// A file is not what it must be.
    case refused(TrustError)

    /// A file did not come.
    case fetch(FetchError)

    /// The repository says that it does not have a file which its own metadata name.
    case absent(url: String)

    /// The repository has no timestamp, which no metadata name: there may be no repository at this address.
    case noTimestamp(repository: String, wasSeen: Bool)

    /// A role that is not stored, asked for without a network.
    case notStored(role: RoleName)

    /// The local disk failed.
    case storage(DurableError)

    /// Whether another location may do better.
    var isOfLocation: Bool {
        switch self {
        case .refused(.expired), .refused(.clockBehind), .refused(.unverifiable): false
        case .fetch(.cancelled), .fetch(.storage), .fetch(.paused): false
        case .refused, .fetch, .absent, .noTimestamp: true
        case .notStored, .storage: false
        }
    }

    /// Whether something is older than what was seen.
    var isRollback: Bool {
        switch self {
        case .refused(.rollback), .refused(.replayed): true
        default: false
        }
    }

    /// Whether trying again later may help.
    package var isOutage: Bool {
        switch self {
        case .refused(.unverifiable): true
        case .refused: false
        case .fetch(let error): error.isOutage
        case .absent, .notStored: true
        case .noTimestamp(_, let wasSeen): wasSeen
        case .storage(let error): error.isOutOfSpace
        }
    }
}

extension UpdateError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .refused(let error): "metadata refused: \(error)"
        case .fetch(let error): error.description
        case .absent(let url): "\(url) is missing at the server, although its own metadata name it; try again"
        case .noTimestamp(let repository, false):
            "there is no registry at \(repository): it has no metadata/timestamp.json; check host, port and path"
        case .noTimestamp(let repository, true):
            "\(repository) has no metadata/timestamp.json any more, by which its news begin; try again, or another "
                + "mirror"
        case .notStored(let role): "role \(role) has not been fetched yet; synchronise first"
        case .storage(let error): error.description
        }
    }
}
