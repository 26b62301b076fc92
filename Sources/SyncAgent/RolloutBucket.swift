import Durable
import Generations
import Names
import Signing

/// This device's place in rollouts: a secret that never leaves it decides, so widening a rollout never removes a device.
enum RolloutBucket {
    /// HMAC-SHA256(secret, manifest digest ‖ channel), its first eight bytes as a number, modulo 10,000.
    static func bucket(secret: [UInt8], manifest: Digest, channel: ChannelName) -> Int {
        let code = hmacSHA256(key: secret, message: manifest.bytes + Array(channel.description.utf8))
        let number = code.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return Int(number % 10_000)
    }

    private static func path(in device: DeviceDirectory) -> String { "\(device.path)/device/rollout" }

    /// The device's secret; `nil` when it has none yet.
    static func storedSecret(of device: DeviceDirectory) throws(SyncError) -> [UInt8]? {
        do throws(DurableError) {
            let limit = ByteCount(rawValue: 32)
            let stored = try Durable.readFileIfPresent(path(in: device), maximum: limit, privacy: .ownerOnly)
            return stored?.count == 32 ? stored : nil
        } catch {
            // Not what was made here, so as good as none.
            guard error.isOfContent else { throw SyncError(error) }
            return nil
        }
    }

    /// The device's secret, made here when there is none.
    static func secret(of device: DeviceDirectory) throws(SyncError) -> [UInt8] {
        if let stored = try storedSecret(of: device) { return stored }
        let secret = randomBytes(32)
        do throws(DurableError) {
            try Durable.makeDirectory("\(device.path)/device", mode: 0o700)
            try Durable.makeWay(at: path(in: device))
            try Durable.writeAtomically(path(in: device), secret, mode: 0o600)
            return secret
        } catch {
            throw SyncError(error)
        }
    }
}
