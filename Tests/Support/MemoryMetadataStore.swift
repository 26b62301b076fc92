import Blocking
package import Durable
import Transfer

/// Metadata in memory, which a test can read and spoil.
package final class MemoryMetadataStore: MetadataStore {
    private let files: Guarded<[String: [UInt8]]>

    package init(_ files: [String: [UInt8]] = [:]) { self.files = Guarded(files) }

    /// Every file by its name.
    package var contents: [String: [UInt8]] {
        get { files.withLock { $0 } }
        set { files.withLock { $0 = newValue } }
    }

    package func load(_ name: String) throws(DurableError) -> [UInt8]? { files.withLock { $0[name] } }

    package func save(_ name: String, _ bytes: [UInt8]) throws(DurableError) {
        files.withLock { $0[name] = bytes }
    }
}
