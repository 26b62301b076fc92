import Durable
package import Names

extension GenerationError {
    /// The stable code of this error.
    package var code: ErrorCode {
        switch self {
        case .missing, .linked: .place
        case .nothingActive, .notActive: .nothingActive
        case .damaged: .damaged
        case .unfit: .refused
        case .condemned: .temporary
        case .disk(let error): error.code
        }
    }
}
