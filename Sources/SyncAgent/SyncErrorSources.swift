import Blocking
import Durable
package import Generations
import Manifest
import Transfer
import Trust

/// How the errors of the modules below become one of the kinds a caller acts on.
extension SyncError {
    package init(_ error: GenerationError) {
        let kind: Kind =
            switch error {
            case .disk(let error): Self.kind(of: error)
            case .missing, .nothingActive, .notActive: .usage
            case .damaged, .unfit: .refused
            }
        self.init(kind, error.description)
    }

    init(_ error: DurableError) { self.init(Self.kind(of: error), error.description) }

    /// A disk that is full or failing may be well later; what is not what it must be stays so.
    private static func kind(of error: DurableError) -> Kind {
        switch error {
        case .system where error.isWrongPlace: .usage
        case .system, .locked: .temporary
        case .notRegularFile, .tooLong, .tooOpen, .foreignOwner: .refused
        }
    }

    /// - Parameters:
    ///   - error: What happened.
    ///   - subject: What it happened to, for people.
    init(_ error: FetchError, _ subject: String) {
        let kind: Kind =
            switch error {
            case .refused(.plainHTTP, _), .refused(.malformedURL, _): .usage
            case .refused: .refused
            case .outage, .storage, .paused, .cancelled: .temporary
            }
        self.init(kind, subject.isEmpty ? error.description : "\(subject): \(error)")
    }

    /// An error of the chain as a whole or of one of its roles.
    ///
    /// An expired role is `refused` here; whoever knows what is active and how
    /// long its grace lasts makes `expired` of it.
    init(_ error: UpdateError, _ subject: String) {
        switch error {
        case .refused(let refusal): self.init(.refused, "\(subject): \(refusal)")
        case .fetch(let error): self.init(error, subject)
        case .absent, .notStored: self.init(.temporary, "\(subject): \(error)")
        case .storage(let error): self.init(error)
        }
    }

    init(_ error: ManifestError, _ subject: String) { self.init(.refused, "\(subject): \(error)") }
}

extension UpdateError {
    var isExpiry: Bool {
        guard case .refused(.expired) = self else { return false }
        return true
    }
}

/// Runs steps on the disk, so that their errors come out as `SyncError`.
func onDisk<Success>(_ steps: () throws(GenerationError) -> Success) throws(SyncError) -> Success {
    do throws(GenerationError) { return try steps() } catch { throw SyncError(error) }
}

/// The same on a thread that may block.
func onDiskThread<Success: Sendable>(
    _ steps: @escaping @Sendable () throws(GenerationError) -> Success
) async throws(SyncError) -> Success {
    do throws(GenerationError) { return try await BlockingPool.shared.run(steps) } catch {
        throw SyncError(error)
    }
}
