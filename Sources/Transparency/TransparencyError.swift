package import Names

/// Why something of the log was refused.
package enum TransparencyError: Error, Equatable, Sendable {
    /// Longer than an entry may be (C2SP tlog-tiles: 65,535 bytes).
    case entryTooLong(found: Int, limit: ByteCount)

    /// Not a `sealift/entry@1`.
    case malformedEntry(reason: String)

    /// JSON, but not its own RFC 8785 form.
    case notCanonical
}

extension TransparencyError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .entryTooLong(let found, let limit):
            "a log entry of \(found) bytes, the limit is \(limit.rawValue)"
        case .malformedEntry(let reason): "not a log entry: \(reason)"
        case .notCanonical: "a log entry that is not in its canonical form (RFC 8785)"
        }
    }
}
