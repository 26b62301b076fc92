import Blocking
import Durable
import Transfer

/// A store with changes that stay in memory.
///
/// A file that cannot be read may be newer than what comes in its place. So
/// what is verified without it counts for this sync alone, which ends with that
/// error: nothing is written over it.
final class OverlayStore: MetadataStore {
    /// What is written through.
    enum Writing: Sendable {
        /// Nothing: what a dry run verifies goes nowhere.
        case never

        /// All that can be, so that a recall is learned on a full disk as well, and where something is in the way.
        case whatCanBe
    }

    private let base: any MetadataStore
    private let writing: Writing
    private let changes = Guarded<[String: [UInt8]]>([:])
    private let unreadable = Guarded<Set<String>>([])
    private let firstFailure = Guarded<DurableError?>(nil)

    init(over base: any MetadataStore, writing: Writing) {
        self.base = base
        self.writing = writing
    }

    /// What could not be read or written, other than for want of room; the first.
    var failure: DurableError? { firstFailure.withLock { $0 } }

    func load(_ name: String) throws(DurableError) -> [UInt8]? {
        if let bytes = changes.withLock({ $0[name] }) { return bytes }
        do throws(DurableError) { return try base.load(name) } catch {
            guard writing == .whatCanBe else { throw error }
            note(error)
            _ = unreadable.withLock { $0.insert(name) }
            return nil
        }
    }

    func save(_ name: String, _ bytes: [UInt8]) throws(DurableError) {
        if writing == .whatCanBe, !unreadable.withLock({ $0.contains(name) }) {
            do throws(DurableError) {
                try base.save(name, bytes)
                changes.withLock { $0[name] = nil }
                return
            } catch {
                if !error.isOutOfSpace { note(error) }
            }
        }
        changes.withLock { $0[name] = bytes }
    }

    private func note(_ error: DurableError) { firstFailure.withLock { $0 = $0 ?? error } }
}
