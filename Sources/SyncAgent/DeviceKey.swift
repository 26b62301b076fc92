import CanonicalJSON
import Durable
import Generations
import Names
package import Signing
import Trust

/// The key of one device: made on it, kept by it (`device/key.pem`, mode 0600), and used for receipts alone.
enum DeviceKey {
    private static func path(in device: DeviceDirectory) -> String { "\(device.path)/device/key.pem" }

    /// The key that was made on the device; `nil` when there is none, or what is there is none.
    static func stored(on device: DeviceDirectory) throws(SyncError) -> SoftwareKey? {
        guard let stored = try device.ownFile(path(in: device), maximum: .kibibytes(4)) else { return nil }
        // Whoever could read a key may have it: what it signs proves nothing any more.
        return stored.exposure == .none ? try? SoftwareKey(pem: stored.bytes, passphrase: nil) : nil
    }

    /// The device's key, made here when there is none.
    static func key(of device: DeviceDirectory) throws(SyncError) -> SoftwareKey {
        if let key = try stored(on: device) { return key }
        let path = path(in: device)
        let key: SoftwareKey
        let pem: [UInt8]
        do throws(SigningError) {
            key = try SoftwareKey.generate(.ed25519)
            pem = try key.pem(passphrase: nil)
        } catch { throw SyncError(.internal, "no key could be made: \(error)") }
        do throws(DurableError) {
            try device.makePrivateFolder()
            try Durable.makeWay(at: path)
            try Durable.writeAtomically(path, pem, mode: 0o600)
        } catch { throw SyncError(error) }
        return key
    }
}

/// `device/enrollment.json` (`sealift/enrollment@1`): the registry that knows this device's key.
///
/// Without it no receipt is made: a registry would not count it.
struct Enrollment: DeviceNote {
    static let type = "sealift/enrollment@1"
    static let fileName = "device/enrollment.json"

    /// Base URL; empty for none.
    var registry = ""

    /// The ID of the key that was enrolled; another one would not be counted.
    var key = ""

    init() {}

    init(registry: String, key: String) {
        self.registry = registry
        self.key = key
    }

    init?(_ value: JSONValue) {
        guard let registry = value["registry"]?.string, let key = value["key"]?.string else { return nil }
        self.init(registry: registry, key: key)
    }

    var members: JSONObject {
        var object = JSONObject()
        object["key"] = .text(key)
        object["registry"] = .text(registry)
        return object
    }
}

extension SyncedDevice {
    /// Notes that `registry` knows this device's key, which is made if there is none.
    ///
    /// For whoever posts that key to a registry; no command does before registries take receipts.
    ///
    /// - Returns: The public key.
    package func enroll(at registry: String) throws(SyncError) -> PublicKey {
        // Two that find no key would each make one, and one of the two registries would know the wrong one.
        let lock: DirectoryLock
        do throws(DurableError) {
            lock = try DirectoryLock(Receipts.lockPath(of: device), waiting: 10)
        } catch { throw SyncError(error) }
        defer { withExtendedLifetime(lock) {} }
        let key = try DeviceKey.key(of: device).publicKey
        try onDisk { () throws(GenerationError) in
            try device.save(Enrollment(registry: registry, key: Authoring.keyID(of: key)))
        }
        return key
    }
}
