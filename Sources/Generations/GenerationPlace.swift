/// Where a set of active versions stands: a generation, or the fallback that was made ready with it.
package enum GenerationPlace: Hashable, Sendable {
    case generation(UInt64)

    /// What the device goes back to when the generation of this number fails.
    case fallback(UInt64)

    package var number: UInt64 {
        switch self {
        case .generation(let number), .fallback(let number): number
        }
    }

    package var isFallback: Bool {
        if case .fallback = self { true } else { false }
    }

    /// `generations/000042` or `fallback/000042`, from the device directory; also what `current` says.
    package var relativePath: String {
        (isFallback ? "fallback/" : "generations/") + DeviceDirectory.name(ofGeneration: number)
    }

    /// The place that the text of a link names.
    ///
    /// - Returns: `nil` for any text that ``relativePath`` does not write.
    init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let number = DeviceDirectory.number(ofGeneration: parts[1]) else {
            return nil
        }
        switch parts[0] {
        case "generations": self = .generation(number)
        case "fallback": self = .fallback(number)
        default: return nil
        }
    }
}
