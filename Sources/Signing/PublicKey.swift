import Names

/// The signature algorithms that Sealift uses.
package enum KeyAlgorithm: Sendable, Hashable {
    /// Ed25519 (RFC 8032), a raw signature of 64 bytes.
    case ed25519

    /// ECDSA on P-256 over SHA-256 (FIPS 186-4), a signature in DER.
    case ecdsaP256

    /// RSA-PSS with SHA-256 and MGF1 of it (RFC 8017, 8.1): verified for other people's repositories, never made.
    case rsaPSS
}

/// A key that verifies signatures.
///
/// Equality is that of the key, not of its spelling: one key in two PEM
/// layouts, or with its point compressed and not, is one key. So a `Set` of
/// these counts keys, which is what a threshold needs.
package struct PublicKey: Hashable, Sendable {
    package let algorithm: KeyAlgorithm

    /// The one spelling of the key.
    ///
    /// Ed25519: the 32 raw bytes; P-256: the 65 bytes of the uncompressed point
    /// (SEC 1, 2.3.3); RSA: SubjectPublicKeyInfo in DER.
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
        guard let key = try? Self.read(keytype: keytype, scheme: scheme, publicText: publicText) else {
            return nil
        }
        self = key
    }

    /// The same, telling a key that is none from one that could not be read.
    ///
    /// - Throws: `SigningError.engineFailed` without the memory for it.
    package static func read(
        keytype: String,
        scheme: String,
        publicText: String
    ) throws(SigningError) -> PublicKey? {
        switch (keytype, scheme) {
        case ("ed25519", "ed25519"):
            return Hex.bytes(publicText).flatMap { PublicKey(rawEd25519: $0) }
        case ("ecdsa", "ecdsa-sha2-nistp256"), ("ecdsa-sha2-nistp256", "ecdsa-sha2-nistp256"):
            return try read(pem: publicText, .ecdsaP256)
        case ("rsa", "rsassa-pss-sha256"):
            return try read(pem: publicText, .rsaPSS)
        default:
            return nil
        }
    }

    private static func read(pem: String, _ algorithm: KeyAlgorithm) throws(SigningError) -> PublicKey? {
        guard let encoded = PublicKeyInfo.bytes(pem: pem), let key = try read(publicKeyInfo: encoded),
            key.algorithm == algorithm
        else { return nil }
        return key
    }

    private static func read(publicKeyInfo encoded: [UInt8]) throws(SigningError) -> PublicKey? {
        switch PublicKeyInfo(encoded) {
        case .ed25519(let raw): return PublicKey(rawEd25519: raw)
        case .ecdsaP256(let given):
            guard let key = try VerifyingKey(.ecdsaP256, given) else { return nil }
            guard let point = key.uncompressedPoint() else { throw .noMemory }
            return PublicKey(.ecdsaP256, canonical: point)
        case .rsa:
            guard try VerifyingKey(.rsaPSS, encoded)?.isPlainRSA(encoded) == true else { return nil }
            return PublicKey(.rsaPSS, canonical: encoded)
        case nil: return nil
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
        guard let key = try? Self.read(publicKeyInfo: encoded) else { return nil }
        self = key
    }

    /// The `keytype` of a TUF key.
    package var keytype: String {
        switch algorithm {
        case .ed25519: "ed25519"
        case .ecdsaP256: "ecdsa"
        case .rsaPSS: "rsa"
        }
    }

    /// The `scheme` of a TUF key.
    package var scheme: String {
        switch algorithm {
        case .ed25519: "ed25519"
        case .ecdsaP256: "ecdsa-sha2-nistp256"
        case .rsaPSS: "rsassa-pss-sha256"
        }
    }

    /// The `keyval.public` of a TUF key: hexadecimal for Ed25519, else PEM with its last line feed.
    package var publicText: String {
        switch algorithm {
        case .ed25519: Hex.text(canonical)
        case .ecdsaP256, .rsaPSS: pem
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
    /// Bytes that OpenSSL cannot even parse are not a valid signature. A check
    /// that could not be made is answered `false` too, so that no caller can
    /// take it for one that went well; ``verifies(_:for:)`` tells them apart.
    package func isValid(_ signature: [UInt8], for message: [UInt8]) -> Bool {
        (try? verifies(signature, for: message[...])) ?? false
    }

    /// Whether `signature` is this key's signature of exactly `message`, which may be a part of something longer.
    ///
    /// - Throws: `SigningError.engineFailed` when it could not be found out, for want of memory above all.
    package func verifies(
        _ signature: [UInt8],
        for message: ArraySlice<UInt8>
    ) throws(SigningError) -> Bool {
        guard let key = try VerifyingKey(algorithm, canonical) else {
            // An Ed25519 value that is no point is refused here by some versions; the others were read before.
            if algorithm == .ed25519 { return false }
            throw .engineFailed(operation: "read a key again", reason: "no reason given")
        }
        return try key.verifies(signature, for: message, algorithm)
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
