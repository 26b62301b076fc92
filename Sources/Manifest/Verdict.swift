/// Whether a model can serve an app, and why not, in words for people.
package enum Verdict: Equatable, Sendable {
    /// Notes say what differs and does no harm.
    case compatible(notes: [String])

    /// With what the app declared that it does by itself.
    case compatibleWithAdaptations([String], notes: [String])
    case incompatible([String])

    /// The interface fits, this device does not.
    case notRunnable([String])

    /// No file says the interface, and the expectation does not allow that.
    case unknown([String])

    /// Whether the app may use the model.
    package var allowsUse: Bool {
        switch self {
        case .compatible, .compatibleWithAdaptations: true
        case .incompatible, .notRunnable, .unknown: false
        }
    }

    /// What stands in the way; empty when nothing does.
    package var reasons: [String] {
        switch self {
        case .compatible, .compatibleWithAdaptations: []
        case .incompatible(let reasons), .notRunnable(let reasons), .unknown(let reasons): reasons
        }
    }
}

extension Verdict: CustomStringConvertible {
    package var description: String {
        func lines(_ head: String, _ tail: [String]) -> String {
            ([head] + tail.map { "  - \($0)" }).joined(separator: "\n")
        }
        return switch self {
        case .compatible(let notes): lines("compatible", notes)
        case .compatibleWithAdaptations(let adaptations, let notes):
            lines("compatible with declared adaptations", adaptations + notes)
        case .incompatible(let reasons): lines("incompatible", reasons)
        case .notRunnable(let reasons): lines("not runnable here", reasons)
        case .unknown(let reasons): lines("unknown", reasons)
        }
    }
}
