import Blocking
import Durable
package import Generations
import Manifest
import Names
import Transfer
import Trust

/// How the errors of the modules below become one of the kinds a caller acts on.
extension SyncError {
    package init(_ error: GenerationError) {
        if case .disk(let error) = error {
            self.init(error)
        } else {
            self.init(code: error.code, error.description)
        }
    }

    /// A disk that is full or failing may be well later; what is not what it must be stays so.
    init(_ error: DurableError) {
        // Whoever asked for the directory did not name this file: somebody took it away while we looked.
        self.init(code: error.isAbsent ? .disk : error.code, error.description)
    }

    /// - Parameters:
    ///   - error: What happened.
    ///   - subject: What it happened to, for people.
    init(_ error: FetchError, _ subject: String) {
        self.init(code: error.code, subject.isEmpty ? error.description : "\(subject): \(error)")
        if case .outage(.status(_, let seconds?), _) = error {
            // A server may not silence a device for longer than a day.
            retryAfter = Int64(min(max(seconds.rounded(.up), 0), 86_400))
        }
    }

    /// An error of the chain as a whole or of one of its roles.
    ///
    /// An expired role is `refused` here; whoever knows what is active and how
    /// long its grace lasts makes `expired` of it.
    init(_ error: UpdateError, _ subject: String) {
        switch error {
        case .refused(let refusal): self.init(code: refusal.code, "\(subject): \(refusal)")
        case .fetch(let error): self.init(error, subject)
        case .absent, .notStored: self.init(code: error.code, "\(subject): \(error)")
        // Names the registry itself.
        case .noTimestamp: self.init(code: error.code, "\(error)")
        case .storage(let error): self.init(error)
        }
    }

    init(_ error: ManifestError, _ subject: String) { self.init(code: .document, "\(subject): \(error)") }
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
