import Durable
import Synchronization
import Transfer

/// A store whose changes stay in memory: what a dry run verifies goes nowhere.
final class OverlayStore: MetadataStore {
    private let base: any MetadataStore
    private let changes = Mutex<[String: [UInt8]]>([:])

    init(over base: any MetadataStore) { self.base = base }

    func load(_ name: String) throws(DurableError) -> [UInt8]? {
        if let bytes = changes.withLock({ $0[name] }) { return bytes }
        return try base.load(name)
    }

    func save(_ name: String, _ bytes: [UInt8]) throws(DurableError) {
        changes.withLock { $0[name] = bytes }
    }
}
