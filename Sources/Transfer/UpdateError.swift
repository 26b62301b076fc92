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

    /// A role that is not stored, asked for without a network.
    case notStored(role: RoleName)

    /// The local disk failed.
    case storage(DurableError)

    /// Whether trying again later may help.
    package var isOutage: Bool {
        switch self {
        case .refused: false
        case .fetch(let error): error.isOutage
        case .absent, .notStored: true
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
        case .notStored(let role): "role \(role) has not been fetched yet; synchronise first"
        case .storage(let error): error.description
        }
    }
}
