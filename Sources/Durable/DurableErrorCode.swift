package import Names

extension DurableError {
    /// The stable code of this error.
    package var code: ErrorCode {
        switch self {
        case .system where isOutOfSpace: .diskFull
        case .system where isAbsent || isWrongPlace: .place
        case .system: .disk
        case .locked: .locked
        case .tooOpen, .foreignOwner: .keyMode
        case .notRegularFile, .tooLong: .damaged
        }
    }
}
