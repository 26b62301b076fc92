import COpenSSL

/// Something that signs: a key in memory, a token, a command.
package protocol Signer: Sendable {
    /// The key that verifies what this signs.
    var publicKey: PublicKey { get }

    /// Signs exactly `message`.
    ///
    /// - Throws: `SigningError.engineFailed` when the key cannot be used.
    func signature(of message: [UInt8]) throws(SigningError) -> [UInt8]
}

/// A private key held in memory.
///
/// At rest it is PKCS#8 PEM (RFC 5958), encrypted with a passphrase or plain.
/// OpenSSL never gets to ask for a passphrase on the terminal: whoever reads a
/// key says what to do without one.
package struct SoftwareKey: Signer {
    package let publicKey: PublicKey
    private let key: PrivateKey

    /// Makes a new key.
    ///
    /// - Throws: `SigningError.unsupportedKey` for RSA, `.engineFailed` when OpenSSL cannot.
    package static func generate(_ algorithm: KeyAlgorithm) throws(SigningError) -> SoftwareKey {
        let made =
            switch algorithm {
            case .ed25519: copenssl_generate_ed25519()
            case .ecdsaP256: copenssl_generate_p256()
            case .rsaPSS: throw .unsupportedKey(found: "RSA")
            }
        guard let made else { throw .engineFailed(operation: "make a key", reason: openSSLReason()) }
        return try SoftwareKey(PrivateKey(owning: made))
    }

    /// Reads a key.
    ///
    /// - Parameters:
    ///   - pem: One PKCS#8 block. Text before it is skipped, as everywhere; behind it only white space may follow.
    ///   - passphrase: Needed for an encrypted key, ignored for a plain one.
    /// - Throws: `SigningError.notAKey`, `.unsupportedKey`, `.passphraseMissing` or `.passphraseWrong`.
    package init(pem: [UInt8], passphrase: [UInt8]?) throws(SigningError) {
        try self.init(try PrivateKeyPEM.read(pem, passphrase: passphrase))
    }

    /// Also proves that the two halves belong together, which no encoding does.
    private init(_ key: PrivateKey) throws(SigningError) {
        guard let encoded = key.publicKeyInfo(), let publicKey = PublicKey(publicKeyInfo: encoded),
            publicKey.algorithm != .rsaPSS
        else {
            throw .unsupportedKey(found: key.algorithmName)
        }
        let probe = Array("sealift key check".utf8)
        let signature = try key.signature(of: probe, publicKey.algorithm)
        guard publicKey.isValid(signature, for: probe) else {
            throw .notAKey(reason: "its public half belongs to another key")
        }
        self.key = key
        self.publicKey = publicKey
    }

    /// The key at rest.
    ///
    /// - Parameter passphrase: Encrypts (PBES2, PBKDF2 with HMAC-SHA-256, AES-256-CBC); `nil` writes it plain.
    /// - Returns: One PKCS#8 block in PEM.
    /// - Throws: `SigningError.passphraseMissing` for an empty one, `.engineFailed` when OpenSSL cannot.
    package func pem(passphrase: [UInt8]?) throws(SigningError) -> [UInt8] {
        try PrivateKeyPEM.write(key, passphrase: passphrase)
    }

    package func signature(of message: [UInt8]) throws(SigningError) -> [UInt8] {
        try key.signature(of: message, publicKey.algorithm)
    }
}

/// Owns one private `EVP_PKEY`; OpenSSL wipes it when the last owner goes.
// Sendable: the pointer never changes, and OpenSSL lets threads share a key that none of them alters.
final class PrivateKey: @unchecked Sendable {
    let pointer: OpaquePointer

    init(owning pointer: OpaquePointer) { self.pointer = pointer }

    deinit { EVP_PKEY_free(pointer) }

    var algorithmName: String {
        guard let name = EVP_PKEY_get0_type_name(pointer) else { return "of an unknown algorithm" }
        let bits = EVP_PKEY_get_bits(pointer)
        return "\(String(cString: name)) of \(bits) bits"
    }

    func publicKeyInfo() -> [UInt8]? {
        var encoded: UnsafeMutablePointer<UInt8>?
        let count = i2d_PUBKEY(pointer, &encoded)
        guard count > 0, let encoded else {
            ERR_clear_error()
            return nil
        }
        defer { copenssl_free(encoded) }
        return Array(UnsafeBufferPointer(start: encoded, count: Int(count)))
    }

    func signature(of message: [UInt8], _ algorithm: KeyAlgorithm) throws(SigningError) -> [UInt8] {
        guard let context = EVP_MD_CTX_new() else {
            throw .engineFailed(operation: "sign", reason: openSSLReason())
        }
        defer { EVP_MD_CTX_free(context) }
        let digest = algorithm == .ecdsaP256 ? EVP_sha256() : nil
        var count = 128
        var signature = [UInt8](repeating: 0, count: count)
        guard EVP_DigestSignInit(context, nil, digest, nil, pointer) == 1,
            EVP_DigestSign(context, &signature, &count, message, message.count) == 1
        else { throw .engineFailed(operation: "sign", reason: openSSLReason()) }
        return Array(signature[..<count])
    }
}
