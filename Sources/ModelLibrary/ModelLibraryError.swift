/// Why a model cannot be lent.
public enum ModelLibraryError: Error, Equatable, Sendable {
    /// The text is no model name; one looks like `vision/detector`.
    case invalidName(String)

    /// No version of the model is active on this device, and why; the next sync may change that.
    case notAvailable(model: String, reason: String)

    /// The active version must not run: it is recalled, its files are damaged,
    /// or it is not what its manifest says. Trying again does not help.
    case refused(model: String, version: String, reason: String)

    /// No runtime was given to the library that runs files of this format.
    case noRuntime(model: String, version: String, format: String)

    /// The runtime could not load the version; a later call tries again.
    case failed(model: String, version: String, reason: String)

    /// The lease was used after the call that it was lent to.
    case leaseEnded(model: String)
}

extension ModelLibraryError: CustomStringConvertible {
    /// For people.
    public var description: String {
        switch self {
        case .invalidName(let text):
            "'\(text)' is no model name; it looks like vision/detector, in lower case"
        case .notAvailable(let model, let reason): "\(model) is not available: \(reason)"
        case .refused(let model, let version, let reason): "\(model) \(version) is refused: \(reason)"
        case .noRuntime(let model, let version, let format):
            "\(model) \(version) has the format \(format), and no runtime for that is available here"
        case .failed(let model, let version, let reason): "\(model) \(version) cannot be loaded: \(reason)"
        case .leaseEnded(let model):
            "the lease on \(model) has ended; use the model inside the call that lends it"
        }
    }
}
