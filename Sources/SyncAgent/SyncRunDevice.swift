import Blocking
import Durable
import Generations
import Names

/// How a sync finds the device: its directory, its lock, and what is active there.
extension SyncRun {
    func openDevice(_ setbacks: inout Setbacks) throws(SyncError) -> DeviceDirectory {
        let path = configuration.directory
        if mode == .activate {
            do throws(GenerationError) { return try DeviceDirectory.create(path) } catch {
                // What is active may have to be left all the same.
                guard let device = try? DeviceDirectory.open(path),
                    ((try? device.activeGeneration()) ?? nil) != nil
                else { throw SyncError(error) }
                setbacks.note(SyncError(error))
                return device
            }
        }
        return try onDisk { () throws(GenerationError) in
            do throws(GenerationError) { return try DeviceDirectory.open(path) } catch {
                guard case .missing = error else { throw error }
                return DeviceDirectory.assumed(path)
            }
        }
    }

    /// A courtesy between syncs, so that they do not fetch the same bytes twice; safety does not rest on it.
    func takeLock(
        _ device: DeviceDirectory,
        _ setbacks: inout Setbacks
    ) async throws(SyncError) -> DirectoryLock? {
        guard mode == .activate else { return nil }
        let patience = Double(configuration.lockPatience)
        do throws(DurableError) {
            return try await BlockingPool.shared.run { () throws(DurableError) in
                // Nobody can hold what is no file.
                if case .file? = try Durable.kind(of: device.lockPath) {
                } else {
                    try Durable.removeTree(device.lockPath)
                }
                return try DirectoryLock(device.lockPath, waiting: patience)
            }
        } catch {
            guard case .locked(_, let holder) = error else {
                setbacks.note(SyncError(error))
                return nil
            }
            throw SyncError(
                code: .locked,
                "another sync of \(device.path) is running (\(holder)) and did not end within "
                    + "\(configuration.lockPatience) s; try again later"
            )
        }
    }

    /// The active generation; one that cannot be read counts as none and is replaced.
    func activeGeneration(of device: DeviceDirectory) async -> (ActiveGeneration?, damage: String?) {
        do throws(SyncError) {
            let active = try await onDiskThread { () throws(GenerationError) in try device.activeGeneration()
            }
            return (active, nil)
        } catch {
            return (nil, error.message)
        }
    }
}
