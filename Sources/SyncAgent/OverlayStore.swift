import Blocking
import Durable
import Transfer

/// A store with changes that stay in memory.
final class OverlayStore: MetadataStore {
    /// What is written through.
    enum Writing: Sendable {
        /// Nothing: what a dry run verifies goes nowhere.
        case never

        /// All that there is room for, so that a recall is learned on a full disk as well.
        case whileThereIsRoom
    }

    private let base: any MetadataStore
    private let writing: Writing
    private let changes = Guarded<[String: [UInt8]]>([:])

    init(over base: any MetadataStore, writing: Writing) {
        self.base = base
        self.writing = writing
    }

    func load(_ name: String) throws(DurableError) -> [UInt8]? {
        if let bytes = changes.withLock({ $0[name] }) { return bytes }
        return try base.load(name)
    }

    func save(_ name: String, _ bytes: [UInt8]) throws(DurableError) {
        if writing == .whileThereIsRoom {
            do throws(DurableError) {
                try base.save(name, bytes)
                changes.withLock { $0[name] = nil }
                return
            } catch {
                guard error.isOutOfSpace else { throw error }
            }
        }
        changes.withLock { $0[name] = bytes }
    }
}
