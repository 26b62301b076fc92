package import Names

extension TrustError {
    /// The stable code of this error.
    package var code: ErrorCode {
        switch self {
        case .thresholdNotMet, .duplicateSignature, .keyIDMismatch: .signature
        case .versionOutOfOrder, .rollback, .replayed, .removedFromSnapshot: .rollback
        case .lengthMismatch, .digestMismatch, .versionMismatch: .bytes
        case .expired: .expired
        case .issuedInFuture, .clockBehind: .clock
        case .signingFailed: .key
        case .unverifiable: .temporary
        default: .metadata
        }
    }
}
