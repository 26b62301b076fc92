import Names

/// The SubjectPublicKeyInfo encodings that Sealift knows.
///
/// DER leaves exactly one way to write the bytes before the key, so each
/// algorithm is recognised by its prefix and its total length. Other curves,
/// explicit curve parameters, BER lengths and trailing bytes then all fail one
/// comparison, and no ASN.1 parser has to be trusted with them. RSA keys vary in
/// length: here only their algorithm is recognised, the rest is OpenSSL's, see
/// ``VerifyingKey/isPlainRSA(_:)``.
enum PublicKeyInfo {
    case ed25519(raw: [UInt8])
    case ecdsaP256(point: [UInt8])
    case rsa

    init?(_ encoded: [UInt8]) {
        if let raw = Self.key(in: encoded, after: Self.ed25519Prefix, count: 32) {
            self = .ed25519(raw: raw)
        } else if let point = Self.key(in: encoded, after: Self.p256Prefix, count: 65), point[0] == 4 {
            self = .ecdsaP256(point: point)
        } else if let point = Self.key(in: encoded, after: Self.compressedP256Prefix, count: 33),
            point[0] == 2 || point[0] == 3
        {
            self = .ecdsaP256(point: point)
        } else if encoded.starts(with: [0x30, 0x82]), encoded.dropFirst(4).starts(with: Self.rsaAlgorithm) {
            self = .rsa
        } else {
            return nil
        }
    }

    static func encoding(_ algorithm: KeyAlgorithm, _ key: [UInt8]) -> [UInt8] {
        switch algorithm {
        case .ed25519: ed25519Prefix + key
        case .ecdsaP256: p256Prefix + key
        case .rsaPSS: key
        }
    }

    static func pem(_ encoded: [UInt8]) -> String {
        var text = header + "\n"
        var rest = Base64.text(encoded)[...]
        while !rest.isEmpty {
            text += rest.prefix(64) + "\n"
            rest = rest.dropFirst(64)
        }
        return text + footer + "\n"
    }

    /// The bytes of one PEM block.
    ///
    /// Line lengths, CR LF and blank lines after the block are free, since
    /// tools differ there; anything else around or inside it is refused.
    static func bytes(pem: String) -> [UInt8]? {
        var lines = pem.utf8.split(separator: 0x0A, omittingEmptySubsequences: false).map { line in
            String(Substring(line.last == 0x0D ? line.dropLast() : line))
        }
        while lines.last?.isEmpty == true { lines.removeLast() }
        guard lines.count >= 3, lines.first == header, lines.last == footer else { return nil }
        return Base64.bytes(lines[1..<(lines.count - 1)].joined())
    }

    private static let header = "-----BEGIN PUBLIC KEY-----"
    private static let footer = "-----END PUBLIC KEY-----"

    /// SEQUENCE of 42 { SEQUENCE { id-Ed25519 }, BIT STRING of 33 } (RFC 8410, 4).
    private static let ed25519Prefix: [UInt8] = [
        0x30, 0x2A, 0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70, 0x03, 0x21, 0x00,
    ]

    /// SEQUENCE { SEQUENCE { id-ecPublicKey, secp256r1 }, BIT STRING } (RFC 5480, 2).
    private static let p256Prefix: [UInt8] = [0x30, 0x59] + p256Algorithm + [0x03, 0x42, 0x00]

    private static let compressedP256Prefix: [UInt8] = [0x30, 0x39] + p256Algorithm + [0x03, 0x22, 0x00]

    private static let p256Algorithm: [UInt8] = [
        0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01,
        0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07,
    ]

    /// SEQUENCE { rsaEncryption, NULL } (RFC 3279, 2.3.1).
    private static let rsaAlgorithm: [UInt8] = [
        0x30, 0x0D, 0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01, 0x05, 0x00,
    ]

    private static func key(in encoded: [UInt8], after prefix: [UInt8], count: Int) -> [UInt8]? {
        guard encoded.count == prefix.count + count, encoded.starts(with: prefix) else { return nil }
        return Array(encoded.dropFirst(prefix.count))
    }
}
