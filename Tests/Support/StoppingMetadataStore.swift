import Blocking
package import Durable
import Transfer

/// A store whose process dies at one of its writes.
///
/// Up to that write it is the store below; from it on every call fails, as
/// nothing runs any more.
package final class StoppingMetadataStore: MetadataStore {
    /// Whether the fatal write still reached the disk.
    package enum Stop: Sendable, CaseIterable {
        case beforeWriting, afterWriting
    }

    package static let stopped = DurableError.system(operation: "write", path: "stopped by the test", code: 5)

    private let store: MemoryMetadataStore
    private let fatal: Int
    private let stop: Stop
    private let state = Guarded<(writes: [String], isOver: Bool)>(([], false))

    /// - Parameters:
    ///   - store: What is on the disk.
    ///   - fatal: Which write is the last, from 0.
    ///   - stop: On which side of that write the process dies.
    package init(_ store: MemoryMetadataStore, at fatal: Int, _ stop: Stop) {
        self.store = store
        self.fatal = fatal
        self.stop = stop
    }

    /// The names written so far, in order, the fatal one too.
    package var writes: [String] { state.withLock { $0.writes } }

    package func load(_ name: String) throws(DurableError) -> [UInt8]? {
        guard !state.withLock({ $0.isOver }) else { throw Self.stopped }
        return try store.load(name)
    }

    package func save(_ name: String, _ bytes: [UInt8]) throws(DurableError) {
        let (isOver, isFatal) = state.withLock { state in
            defer {
                state.writes.append(name)
                state.isOver = state.isOver || state.writes.count > fatal
            }
            return (state.isOver, state.writes.count == fatal)
        }
        guard !isOver, !isFatal || stop == .afterWriting else { throw Self.stopped }
        try store.save(name, bytes)
        if isFatal { throw Self.stopped }
    }
}
