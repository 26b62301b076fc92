import Durable
import Generations
import Glibc
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
            // For looking: whose it is and who may read it is put right by the sync that uses it.
            let stored = try Durable.readFileIfPresent(path(in: device), maximum: ByteCount(rawValue: 32))
            return stored?.count == 32 ? stored : nil
        } catch {
            // Not what was made here, so as good as none.
            guard error.isOfContent else { throw SyncError(error) }
            return nil
        }
    }

    /// The device's secret, made here when there is none.
    ///
    /// Others may have had a hand on it, as after a `chmod -R g+w` over the
    /// directory. Who could only read it knows this device's place in rollouts
    /// and cannot choose it: it is kept, since a new one would only give the
    /// device another place. Who could write it may have chosen that place, so it
    /// is made anew.
    ///
    /// - Returns: The secret, and what was put right, for people.
    static func secret(of device: DeviceDirectory) throws(SyncError) -> (secret: [UInt8], warnings: [String])
    {
        let file = path(in: device)
        let stored = try device.ownFile(file, maximum: ByteCount(rawValue: 32))
        var warnings: [String] = []
        if let stored, stored.bytes.count == 32 {
            switch stored.exposure {
            case .none: return (stored.bytes, [])
            case .reading:
                let warning = "\(file) could be read by others; its mode is 0600 again, and the secret stays"
                return (stored.bytes, [warning])
            case .writing:
                warnings.append(
                    "\(file) could be changed by others; it was made anew with mode 0600, so that nobody but chance chose "
                        + "this device's place in rollouts"
                )
            }
        }
        let secret = randomBytes(32)
        do throws(DurableError) {
            try device.makePrivateFolder()
            try Durable.makeWay(at: file)
            try Durable.writeAtomically(file, secret, mode: 0o600)
            return (secret, warnings)
        } catch {
            throw SyncError(error)
        }
    }
}

extension DeviceDirectory {
    /// `device/`, mode 0700: what is this device's alone.
    func makePrivateFolder() throws(DurableError) {
        if try Durable.kind(of: "\(path)/device") == .link {
            throw .system(operation: "use the link", path: "\(path)/device", code: ELOOP)
        }
        try Durable.makeDirectory("\(path)/device", mode: 0o700)
        try Durable.keepPrivate(directory: "\(path)/device")
    }

    /// A private file of this device, private again after this; `nil` when there is none, or nothing that was made here.
    func ownFile(
        _ path: String,
        maximum: ByteCount
    ) throws(SyncError) -> (bytes: [UInt8], exposure: Exposure)? {
        do throws(DurableError) {
            try Durable.keepPrivate(directory: Durable.parent(of: path))
            return try Durable.readOwnFile(path, maximum: maximum)
        } catch {
            // Not what was made here, so as good as none.
            guard error.isOfContent else { throw SyncError(error) }
            return nil
        }
    }
}
