package import Manifest
import Names
package import Transfer
package import Trust

/// Why a history could not be told.
package enum AuditError: Error, Sendable {
    /// The registry's current chain was not accepted.
    case chain(UpdateError)

    /// A retained file is not what it must be.
    case refused(file: String, TrustError)

    /// Two retained files contradict each other.
    case contradiction(String)

    /// A retained document is not one.
    case document(path: String, ManifestError)
    case transfer(FetchError)

    /// The registry no longer has a file that its own chain names.
    case absent(file: String)
    case unknownModel(String)
}

extension AuditError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .chain(let error): "\(error)"
        case .refused(let file, let error): "the retained \(file) is refused: \(error)"
        case .contradiction(let what):
            "the registry's history contradicts itself: \(what); keep what it serves and ask its operator"
        case .document(let path, let error): "the retained \(path) is refused: \(error)"
        case .transfer(let error): error.description
        case .absent(let file): "the registry no longer has \(file), which its own chain names"
        case .unknownModel(let model): "the registry has never published \(model)"
        }
    }
}
