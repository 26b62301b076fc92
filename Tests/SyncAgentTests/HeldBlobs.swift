import Blocking
import Durable
import Names
import Support
import SyncAgent
import Synchronization
import Transfer

/// Brings files of a registry in parts: before each further part it does what it is told, and may wait to be stopped.
final class HeldBlobs: BlobFetching {
    /// Tells what to do with a download, from 0, of a file that is long enough to be told about.
    enum Way: Sendable {
        case through

        /// Brings so many bytes more, then nothing until the task is cancelled.
        case stopsAfter(Int)
    }

    private let registry: DeviceRegistry
    private let plan: @Sendable (Int) async throws -> Way
    private let downloads = Mutex(0)

    init(_ registry: DeviceRegistry, _ plan: @escaping @Sendable (Int) async throws -> Way) {
        self.registry = registry
        self.plan = plan
    }

    /// Downloads of long files so far.
    var count: Int { downloads.withLock { $0 } }

    func receive(
        _ download: BlobDownload,
        from locations: [RepositoryLocation],
        received: @escaping @Sendable (UInt64) -> Void,
        progress: @escaping @Sendable (UInt64) -> Void
    ) async throws(FetchError) {
        guard download.length > 50_000 else {
            return try await registry.receive(
                download,
                from: locations,
                received: received,
                progress: progress
            )
        }
        let number = downloads.withLock { count in
            defer { count += 1 }
            return count
        }
        guard let way = try? await plan(number) else { throw .cancelled }
        guard case .stopsAfter(let more) = way else {
            return try await registry.receive(
                download,
                from: locations,
                received: received,
                progress: progress
            )
        }
        let there = (try? Durable.readFileIfPresent(download.path, maximum: .mebibytes(16)))?.count ?? 0
        registry.cutOff(after: min(there + more, Int(download.length) - 1))
        defer { registry.cutOff(after: nil) }
        do throws(FetchError) {
            try await registry.receive(download, from: locations, received: received, progress: progress)
        } catch {
            // What is there stays, as when a line is slow; only a cancellation ends this in time.
            guard (try? await Blocking.sleep(seconds: 60)) != nil else { throw .cancelled }
            throw error
        }
    }
}
