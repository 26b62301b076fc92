import COpenSSL
import Names

/// The signature algorithms that Sealift uses.
package enum KeyAlgorithm: Sendable, Hashable, CaseIterable {
    /// Ed25519 (RFC 8032), a raw signature of 64 bytes.
    case ed25519

    /// ECDSA on P-256 over SHA-256 (FIPS 186-4), a signature in DER.
    case ecdsaP256
}

/// A key that verifies signatures.
///
/// Equality is that of the key, not of its spelling: one key in two PEM
/// layouts, or with its point compressed and not, is one key. So a `Set` of
/// these counts keys, which is what a threshold needs.
package struct PublicKey: Hashable, Sendable {
    package let algorithm: KeyAlgorithm

    /// Ed25519: the 32 raw bytes; P-256: the 65 bytes of the uncompressed point (SEC 1, 2.3.3).
    private let canonical: [UInt8]

    private init(_ algorithm: KeyAlgorithm, canonical: [UInt8]) {
        self.algorithm = algorithm
        self.canonical = canonical
    }

    /// Wraps a raw Ed25519 key.
    ///
    /// Encodings that RFC 8032, 5.1.3 forbids are refused, because they would
    /// give one key a second spelling. A value that is no point on the curve
    /// is not looked for: it verifies nothing.
    ///
    /// - Returns: `nil` unless there are 32 bytes that may encode a key.
    package init?(rawEd25519 bytes: [UInt8]) {
        guard bytes.count == 32, Self.isCanonicalEd25519(bytes) else { return nil }
        self.init(.ed25519, canonical: bytes)
    }

    /// Reads the `keytype`, `scheme` and `keyval.public` of a TUF key (TUF 1.0.34, 4.2.1).
    ///
    /// - Returns: `nil` for a type or scheme that is not known here, and for a
    ///   malformed key: such a key counts for nothing, but the file around it
    ///   stays readable.
    package init?(keytype: String, scheme: String, publicText: String) {
        switch (keytype, scheme) {
        case ("ed25519", "ed25519"):
            guard let bytes = Hex.bytes(publicText) else { return nil }
            self.init(rawEd25519: bytes)
        case ("ecdsa", "ecdsa-sha2-nistp256"), ("ecdsa-sha2-nistp256", "ecdsa-sha2-nistp256"):
            guard let key = PublicKey(pem: publicText), key.algorithm == .ecdsaP256 else { return nil }
            self = key
        default:
            return nil
        }
    }

    /// Reads one SubjectPublicKeyInfo in PEM (RFC 7468, 13) and nothing else.
    ///
    /// - Returns: `nil` for text around the block, bytes behind the key,
    ///   anything that is not DER, another algorithm or curve, and a point
    ///   that is not on the curve.
    package init?(pem: String) {
        guard let encoded = PublicKeyInfo.bytes(pem: pem) else { return nil }
        self.init(publicKeyInfo: encoded)
    }

    /// Reads one SubjectPublicKeyInfo in DER (RFC 5280, 4.1.2.7).
    package init?(publicKeyInfo encoded: [UInt8]) {
        switch PublicKeyInfo(encoded) {
        case .ed25519(let raw): self.init(rawEd25519: raw)
        case .ecdsaP256:
            guard let point = VerifyingKey(publicKeyInfo: encoded)?.uncompressedPoint() else { return nil }
            self.init(.ecdsaP256, canonical: point)
        case nil: return nil
        }
    }

    /// The `keytype` of a TUF key.
    package var keytype: String {
        switch algorithm {
        case .ed25519: "ed25519"
        case .ecdsaP256: "ecdsa"
        }
    }

    /// The `scheme` of a TUF key.
    package var scheme: String {
        switch algorithm {
        case .ed25519: "ed25519"
        case .ecdsaP256: "ecdsa-sha2-nistp256"
        }
    }

    /// The `keyval.public` of a TUF key: hexadecimal for Ed25519, else PEM with its last line feed.
    package var publicText: String {
        switch algorithm {
        case .ed25519: Hex.text(canonical)
        case .ecdsaP256: pem
        }
    }

    /// SubjectPublicKeyInfo in PEM, lines of 64, as `openssl pkey -pubout` writes it.
    package var pem: String { PublicKeyInfo.pem(publicKeyInfo) }

    /// SubjectPublicKeyInfo in DER.
    package var publicKeyInfo: [UInt8] { PublicKeyInfo.encoding(algorithm, canonical) }

    /// The 32 raw bytes of an Ed25519 key, `nil` for any other.
    package var rawEd25519: [UInt8]? { algorithm == .ed25519 ? canonical : nil }

    /// Whether `signature` is this key's signature of exactly `message`.
    ///
    /// Bytes that OpenSSL cannot even parse are not a valid signature. The
    /// answer is then `false`, not an error, so that no caller can take a
    /// failed check for a skipped one.
    package func isValid(_ signature: [UInt8], for message: [UInt8]) -> Bool {
        guard let key = VerifyingKey(publicKeyInfo: publicKeyInfo) else { return false }
        return key.isValid(signature, for: message, algorithm)
    }

    /// Whether the encoding is the only one of its point: y below 2^255 - 19, and no sign on x = 0.
    private static func isCanonicalEd25519(_ bytes: [UInt8]) -> Bool {
        let sign = bytes[31] & 0x80
        let top = bytes[31] & 0x7F
        let middleIsOnes = top == 0x7F && bytes[1..<31].allSatisfy { $0 == 0xFF }
        if middleIsOnes, bytes[0] >= 0xED { return false }
        let isMinusOne = middleIsOnes && bytes[0] == 0xEC
        let isOne = top == 0 && bytes[0] == 1 && bytes[1..<31].allSatisfy { $0 == 0 }
        return sign == 0 || !(isOne || isMinusOne)
    }
}

/// Owns one public `EVP_PKEY` and frees it exactly once.
private struct VerifyingKey: ~Copyable {
    private let pointer: OpaquePointer

    /// OpenSSL refuses a point that is not on the curve.
    init?(publicKeyInfo encoded: [UInt8]) {
        let parsed = encoded.withUnsafeBufferPointer { buffer in
            var cursor = buffer.baseAddress
            return d2i_PUBKEY(nil, &cursor, buffer.count)
        }
        guard let parsed else {
            ERR_clear_error()
            return nil
        }
        pointer = parsed
    }

    deinit { EVP_PKEY_free(pointer) }

    borrowing func isValid(_ signature: [UInt8], for message: [UInt8], _ algorithm: KeyAlgorithm) -> Bool {
        guard let context = EVP_MD_CTX_new() else { return false }
        defer {
            EVP_MD_CTX_free(context)
            ERR_clear_error()
        }
        let digest = algorithm == .ecdsaP256 ? EVP_sha256() : nil
        guard EVP_DigestVerifyInit(context, nil, digest, nil, pointer) == 1 else { return false }
        return EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
    }

    borrowing func uncompressedPoint() -> [UInt8]? {
        guard let x = coordinate(OSSL_PKEY_PARAM_EC_PUB_X), let y = coordinate(OSSL_PKEY_PARAM_EC_PUB_Y)
        else {
            ERR_clear_error()
            return nil
        }
        return [4] + x + y
    }

    private borrowing func coordinate(_ name: String) -> [UInt8]? {
        var number: OpaquePointer?
        guard EVP_PKEY_get_bn_param(pointer, name, &number) == 1 else { return nil }
        defer { BN_free(number) }
        var bytes = [UInt8](repeating: 0, count: 32)
        return BN_bn2binpad(number, &bytes, 32) == 32 ? bytes : nil
    }
}
