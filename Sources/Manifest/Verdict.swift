package import CanonicalJSON

/// Whether a model can serve an app, and why not, in words for people.
package enum Verdict: Equatable, Sendable {
    /// Notes say what differs and does no harm.
    case compatible(notes: [String])

    /// With what the app declared that it does by itself.
    case compatibleWithAdaptations([String], notes: [String])
    case incompatible([Finding])

    /// The interface fits, this machine does not.
    case notRunnable([Finding])

    /// No file says the interface, or nobody could ask a runtime, and the expectation does not allow that.
    case unknown([Finding])

    /// Whether the app may use the model.
    package var allowsUse: Bool {
        switch self {
        case .compatible, .compatibleWithAdaptations: true
        case .incompatible, .notRunnable, .unknown: false
        }
    }

    /// What stands in the way; empty when nothing does.
    package var findings: [Finding] {
        switch self {
        case .compatible, .compatibleWithAdaptations: []
        case .incompatible(let findings), .notRunnable(let findings), .unknown(let findings): findings
        }
    }

    /// `findings` as sentences.
    package var reasons: [String] { findings.map(\.description) }

    /// What differs and does no harm, adaptations first.
    package var remarks: [String] {
        switch self {
        case .compatible(let notes): notes
        case .compatibleWithAdaptations(let adaptations, let notes): adaptations + notes
        case .incompatible, .notRunnable, .unknown: []
        }
    }

    /// The stable word of `--json`.
    package var word: String {
        switch self {
        case .compatible: "compatible"
        case .compatibleWithAdaptations: "compatible-with-adaptations"
        case .incompatible: "incompatible"
        case .notRunnable: "not-runnable"
        case .unknown: "unknown"
        }
    }

    package var json: JSONValue {
        var object = JSONObject()
        object["verdict"] = .text(word)
        if case .compatibleWithAdaptations(let adaptations, _) = self {
            object["adaptations"] = .array(adaptations.map { .text($0) })
        }
        switch self {
        case .compatible(let notes), .compatibleWithAdaptations(_, let notes):
            object["notes"] = .array(notes.map { .text($0) })
        case .incompatible, .notRunnable, .unknown: object["reasons"] = .array(findings.map(\.json))
        }
        return .object(object)
    }
}

extension Verdict: CustomStringConvertible {
    package var description: String { lines.joined(separator: "\n") }

    /// In a word, then each remark and reason.
    package var lines: [String] {
        let head =
            switch self {
            case .compatible: "compatible"
            case .compatibleWithAdaptations: "compatible with declared adaptations"
            case .incompatible: "incompatible"
            case .notRunnable: "not runnable here"
            case .unknown: "unknown"
            }
        return [head] + (remarks + reasons).map { "  - \($0)" }
    }
}
