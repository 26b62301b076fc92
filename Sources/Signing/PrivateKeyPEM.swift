import COpenSSL

/// Private keys at rest: PKCS#8 (RFC 5958) in PEM.
enum PrivateKeyPEM {
    /// Rounds of PBKDF2 with HMAC-SHA-256, as OWASP asked in 2023.
    ///
    /// OpenSSL's own default of 2,048 is that of RFC 2898, of the year 2000.
    private static let rounds: Int32 = 600_000

    private static let plainName = "PRIVATE KEY"
    private static let encryptedName = "ENCRYPTED PRIVATE KEY"

    static func read(_ pem: [UInt8], passphrase: [UInt8]?) throws(SigningError) -> PrivateKey {
        guard let input = BIO_new_mem_buf(pem, Int32(clamping: pem.count)) else {
            throw .engineFailed(operation: "read a key", reason: openSSLReason())
        }
        defer { BIO_free(input) }
        var name: UnsafeMutablePointer<CChar>?
        var header: UnsafeMutablePointer<CChar>?
        var content: UnsafeMutablePointer<UInt8>?
        var count = 0
        // Secure, so that OpenSSL wipes the buffers too that it decodes in.
        guard PEM_read_bio_ex(input, &name, &header, &content, &count, copenssl_pem_secure) == 1, let name,
            let header, let content
        else {
            throw .notAKey(reason: openSSLReason())
        }
        defer {
            copenssl_secure_free(name)
            copenssl_secure_free(header)
            copenssl_secure_clear_free(content, count)
        }
        guard header.pointee == 0 else {
            throw .notAKey(reason: "it is encrypted in the format before PKCS#8")
        }
        guard onlyWhiteSpaceFollows(in: input) else { throw .notAKey(reason: "something follows the key") }
        switch String(cString: name) {
        case plainName: return try plain(content, count)
        case encryptedName: return try encrypted(content, count, passphrase)
        case let other:
            throw .notAKey(reason: "found \"\(other)\"; \"openssl pkcs8 -topk8\" converts older keys")
        }
    }

    static func write(_ key: PrivateKey, passphrase: [UInt8]?) throws(SigningError) -> [UInt8] {
        guard let output = BIO_new(BIO_s_secmem()), let plain = EVP_PKEY2PKCS8(key.pointer) else {
            throw .engineFailed(operation: "write a key", reason: openSSLReason())
        }
        defer {
            BIO_free(output)
            PKCS8_PRIV_KEY_INFO_free(plain)
        }
        if let passphrase {
            guard !passphrase.isEmpty else { throw .passphraseMissing }
            guard
                let scheme = PKCS5_pbe2_set_iv(EVP_aes_256_cbc(), rounds, nil, 16, nil, NID_hmacWithSHA256),
                let sealed = encrypt(plain, passphrase, scheme)
            else { throw .engineFailed(operation: "encrypt a key", reason: openSSLReason()) }
            defer { X509_SIG_free(sealed) }
            guard PEM_write_bio_PKCS8(output, sealed) == 1 else {
                throw .engineFailed(operation: "write a key", reason: openSSLReason())
            }
        } else {
            guard PEM_write_bio_PKCS8_PRIV_KEY_INFO(output, plain) == 1 else {
                throw .engineFailed(operation: "write a key", reason: openSSLReason())
            }
        }
        var bytes: UnsafeMutablePointer<CChar>?
        let count = copenssl_bio_bytes(output, &bytes)
        return Array(UnsafeRawBufferPointer(start: bytes, count: count))
    }

    private static func plain(
        _ content: UnsafePointer<UInt8>,
        _ count: Int
    ) throws(SigningError) -> PrivateKey {
        var cursor: UnsafePointer<UInt8>? = content
        guard let parsed = d2i_PKCS8_PRIV_KEY_INFO(nil, &cursor, count) else {
            throw .notAKey(reason: openSSLReason())
        }
        defer { PKCS8_PRIV_KEY_INFO_free(parsed) }
        guard cursor == content + count else {
            throw .notAKey(reason: "bytes follow the key inside its block")
        }
        return try key(in: parsed)
    }

    private static func encrypted(
        _ content: UnsafePointer<UInt8>,
        _ count: Int,
        _ passphrase: [UInt8]?
    ) throws(SigningError) -> PrivateKey {
        var cursor: UnsafePointer<UInt8>? = content
        guard let sealed = d2i_X509_SIG(nil, &cursor, count) else {
            throw .notAKey(reason: openSSLReason())
        }
        defer { X509_SIG_free(sealed) }
        guard cursor == content + count else {
            throw .notAKey(reason: "bytes follow the key inside its block")
        }
        guard let passphrase else { throw .passphraseMissing }
        guard let opened = decrypt(sealed, passphrase) else {
            guard copenssl_was_wrong_passphrase() == 0 else { throw .passphraseWrong }
            throw .notAKey(reason: "it is encrypted in a way that this OpenSSL does not open")
        }
        defer { PKCS8_PRIV_KEY_INFO_free(opened) }
        return try key(in: opened)
    }

    private static func key(in parsed: OpaquePointer) throws(SigningError) -> PrivateKey {
        guard let pointer = EVP_PKCS82PKEY(parsed) else { throw .notAKey(reason: openSSLReason()) }
        return PrivateKey(owning: pointer)
    }

    private static func decrypt(_ sealed: OpaquePointer, _ passphrase: [UInt8]) -> OpaquePointer? {
        passphrase.withUnsafeBytes { bytes in
            PKCS8_decrypt(sealed, bytes.assumingMemoryBound(to: CChar.self).baseAddress, Int32(bytes.count))
        }
    }

    /// Takes `scheme` over in every case.
    private static func encrypt(
        _ plain: OpaquePointer,
        _ passphrase: [UInt8],
        _ scheme: UnsafeMutablePointer<X509_ALGOR>
    ) -> OpaquePointer? {
        let sealed = passphrase.withUnsafeBytes { bytes in
            let text = bytes.assumingMemoryBound(to: CChar.self).baseAddress
            return PKCS8_set0_pbe(text, Int32(bytes.count), plain, scheme)
        }
        if sealed == nil { X509_ALGOR_free(scheme) }
        return sealed
    }

    private static func onlyWhiteSpaceFollows(in input: OpaquePointer) -> Bool {
        var byte: UInt8 = 0
        while BIO_read(input, &byte, 1) == 1 {
            guard [0x20, 0x09, 0x0A, 0x0D].contains(byte) else { return false }
        }
        return true
    }
}
