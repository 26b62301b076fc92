import Blocking
import Durable
import Generations
package import Names

/// A device directory as its operator sees it; needs no network, no lock and no configuration.
public struct SyncedDevice: Sendable {
    let device: DeviceDirectory
    let clock: @Sendable () -> UnixTime

    /// Opens the directory.
    ///
    /// - Throws: `SyncError` of kind `usage` when there is none.
    public init(directory: String) throws(SyncError) {
        try self.init(directory: directory, clock: { MachineClock.now })
    }

    /// Opens the directory with a clock of its own, for tests.
    package init(directory: String, clock: @escaping @Sendable () -> UnixTime) throws(SyncError) {
        self.clock = clock
        device = try onDisk { () throws(GenerationError) in
            let device = try DeviceDirectory.open(directory)
            // Any other folder would look like a device on which nothing is active.
            let parts = [device.currentPath, device.generationsPath]
            guard parts.contains(where: { (try? Durable.kind(of: $0)).flatMap { $0 } != nil }) else {
                throw .missing(path: directory)
            }
            return device
        }
    }

    /// What a collection removed, or would.
    public struct Collected: Sendable, Equatable {
        /// Paths from the device directory.
        public var removed: [String]

        /// What stays because a program uses it.
        public var leased: [String]

        /// The bytes that were in what is removed.
        public var bytes: UInt64
    }

    /// Deletes what nothing needs any more.
    ///
    /// - Parameters:
    ///   - mode: `.dryRun` deletes nothing.
    ///   - retain: Seconds that versions stay after they were left.
    /// - Returns: What was deleted, or would be.
    /// - Throws: `SyncError` of kind `temporary` while a sync of the directory runs, unless nothing is deleted: what it
    ///   puts in place belongs to no generation yet.
    public func collect(
        _ mode: SyncMode = .activate,
        retain: Int64 = 86_400
    ) async throws(SyncError) -> Collected {
        let (device, now) = (device, clock())
        return try await onDiskThread { () throws(GenerationError) in
            var lock: DirectoryLock?
            // Whoever only looks is in nobody's way, also where nothing can be written.
            do throws(DurableError) {
                if mode == .activate { lock = try DirectoryLock(device.lockPath) }
            } catch {
                throw .disk(error)
            }
            defer { withExtendedLifetime(lock) {} }
            // Parts of downloads that a later sync may finish stay.
            let keep: (String) -> Bool = { _ in true }
            let plan = try device.collect(now: now, retain: retain, isWanted: keep, mode: .report)
            let bytes = plan.removed.reduce(UInt64(0)) { $0 + device.length(of: $1) }
            guard mode == .activate else {
                return Collected(removed: plan.removed, leased: plan.leased, bytes: bytes)
            }
            let report = try device.collect(now: now, retain: retain, isWanted: keep)
            return Collected(removed: report.removed, leased: report.leased, bytes: bytes)
        }
    }
}
