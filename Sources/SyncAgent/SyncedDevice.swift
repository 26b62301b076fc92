import Generations
package import Names

/// A device directory as its operator sees it; needs no network, no lock and no configuration.
public struct SyncedDevice: Sendable {
    private let device: DeviceDirectory

    /// Opens the directory.
    ///
    /// - Throws: `SyncError` of kind `refused` when there is none.
    public init(directory: String) throws(SyncError) {
        do { device = try DeviceDirectory.open(directory) } catch { throw SyncError(error) }
    }

    /// What is active, and how current it is at `now`.
    package func status(at now: UnixTime) throws(SyncError) -> DeviceStatus {
        throw SyncError(.internal, "status is not there yet")
    }

    /// The last decision about `model`, and why the active version is active.
    public func why(_ model: String) throws(SyncError) -> ModelDecision {
        throw SyncError(.internal, "why is not there yet")
    }

    /// Reads every byte of the active generation again and compares it with the signed manifests.
    ///
    /// - Returns: The number of bytes read.
    /// - Throws: `SyncError` of kind `refused`, naming the first file that differs.
    public func verify() throws(SyncError) -> UInt64 {
        throw SyncError(.internal, "verify is not there yet")
    }
}
