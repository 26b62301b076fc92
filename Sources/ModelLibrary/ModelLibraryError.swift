import Names

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

    /// The runtime could not load the version. Where the model is to blame it is in the quarantine from then on and
    /// refused; else a later call tries again.
    case failed(model: String, version: String, reason: String)

    /// The runtime that loads files of this format has no such processor here.
    case noProcessor(model: String, version: String, runtime: String, wanted: String)

    /// There is not enough memory now; without other models or programs there would be.
    case doesNotFit(model: String, version: String, needed: UInt64, available: UInt64, source: String)

    /// There can never be enough memory under this limit.
    case neverFits(model: String, version: String, needed: UInt64, limit: UInt64, source: String)

    /// Memory is so scarce that nothing is loaded before it is freed.
    case underPressure(model: String)

    /// The request waited as long as it may; the load goes on for others.
    case timedOut(model: String, after: Duration)

    /// The request waited as long as it may for the turn of its load, which another model still has.
    case behind(model: String, after: Duration, loading: String)

    /// The model is not loaded before anybody asks for it, since one of the others that the residency policy keeps
    /// would have to go.
    case notPreloaded(model: String, kept: Int)

    /// The lease was used after the call that it was lent to.
    case leaseEnded(model: String)
}

extension ModelLibraryError {
    /// Why the model is not available.
    var reason: String? {
        if case .notAvailable(_, let reason) = self { reason } else { nil }
    }

    /// Whether it depends on who asks: one of higher priority may make others go.
    var isForLackOfRoom: Bool {
        if case .doesNotFit = self { true } else { false }
    }

    /// Whether it says something about the caller's patience, and nothing about the version.
    var isOfCaller: Bool {
        switch self {
        case .timedOut, .behind: true
        default: false
        }
    }
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
        case .noProcessor(let model, let version, let runtime, let wanted):
            "\(model) \(version) is wanted on a \(wanted), which \(runtime) does not use here"
        case .doesNotFit(let model, let version, let needed, let available, let source):
            "\(model) \(version) needs \(ByteCount(rawValue: needed)) and there is "
                + "\(ByteCount(rawValue: available)) now, by \(source); end other uses or ask again later"
        case .neverFits(let model, let version, let needed, let limit, let source):
            "\(model) \(version) needs \(ByteCount(rawValue: needed)) and there is never more than "
                + "\(ByteCount(rawValue: limit)), by \(source); use a smaller model or raise that limit"
        case .underPressure(let model):
            "\(model) is not loaded while memory is critically scarce; ask again when it is not"
        case .timedOut(let model, let after):
            "\(model) was not ready after \(after); give it a longer deadline or ask again"
        case .behind(let model, let after, let loading):
            "\(model) was not ready after \(after), since \(loading) is still being loaded before it; "
                + "ask again, or find out why that takes so long"
        case .notPreloaded(let model, let kept):
            "\(model) is not loaded before anybody asks for it, since no more than \(kept) models stay in memory; "
                + "pin it, or keep more"
        case .leaseEnded(let model):
            "the lease on \(model) has ended; use the model inside the call that lends it"
        }
    }
}
