import Durable
import Names
package import Signing

/// Private keys at rest: PKCS#8 PEM, readable by their owner alone.
package enum KeyFile {
    /// Greatest length of a key file.
    private static let maximumLength = ByteCount.kibibytes(64)

    /// Reads a key.
    ///
    /// - Parameters:
    ///   - path: The file, mode 0600 or stricter.
    ///   - passphrase: Asked only when the key turns out to be encrypted.
    /// - Returns: The key.
    /// - Throws: `PublishingError.file` for a file others may read, `.key` for anything wrong inside.
    package static func read(
        _ path: String,
        passphrase: () throws(PublishingError) -> [UInt8]?
    ) throws(PublishingError) -> SoftwareKey {
        try refusePublicHalf(path)
        var pem: [UInt8]
        do { pem = try Durable.readFile(path, maximum: maximumLength, privacy: .ownerOnly) } catch {
            throw .file(error)
        }
        defer { wipe(&pem) }
        guard !pem.isEmpty else { throw .unpublishable("\(path) is empty; expected a private key in PEM") }
        do { return try SoftwareKey(pem: pem, passphrase: nil) } catch {
            guard case .passphraseMissing = error, var secret = try passphrase() else {
                throw .key(path: path, error)
            }
            defer { wipe(&secret) }
            do { return try SoftwareKey(pem: pem, passphrase: secret) } catch {
                throw .key(path: path, error)
            }
        }
    }

    /// Whoever names the public half means the other one, and is not to be told about its mode.
    private static func refusePublicHalf(_ path: String) throws(PublishingError) {
        guard path.hasSuffix(".pub"), let bytes = try? Durable.readFile(path, maximum: maximumLength),
            PublicKey(pem: String(decoding: bytes, as: UTF8.self)) != nil
        else { return }
        throw .usage("\(path) is the public half of a key; sign with \(path.dropLast(4)), the private half")
    }

    /// Makes a key and writes it, never over another one.
    ///
    /// - Returns: The key; `PATH.pub` beside it holds the public half.
    package static func create(
        _ path: String,
        _ algorithm: KeyAlgorithm,
        passphrase: [UInt8]?
    ) throws(PublishingError) -> SoftwareKey {
        let existing: FileKind?
        do { existing = try Durable.kind(of: path) } catch { throw .file(error) }
        guard existing == nil else {
            throw .usage("\(path) is there already; a key is never overwritten, so choose another name")
        }
        let key: SoftwareKey
        var pem: [UInt8] = []
        defer { wipe(&pem) }
        do {
            key = try SoftwareKey.generate(algorithm)
            pem = try key.pem(passphrase: passphrase)
        } catch { throw .key(path: path, error) }
        do {
            try Durable.writeAtomically(path, pem, mode: 0o600)
            try Durable.writeAtomically(path + ".pub", Array(key.publicKey.pem.utf8), mode: 0o644)
        } catch { throw .file(error) }
        return key
    }
}
