import Names
import Signing
import Testing

@Suite("RSA keys of other repositories")
struct RSATests {
    private func parsed(
        _ scheme: String = "rsassa-pss-sha256",
        _ pem: String = Vectors.rsaPublicPEM
    ) -> PublicKey? {
        PublicKey(keytype: "rsa", scheme: scheme, publicText: pem)
    }

    @Test("RSA-PSS verifies with any length of salt, and nothing near it", arguments: Vectors.rsaSignatures)
    func verifies(hex: String) throws {
        let key = try #require(parsed())
        let signature = try #require(Hex.bytes(hex))
        let message = Array("sample".utf8)
        #expect(key.isValid(signature, for: message))
        #expect(!key.isValid(signature, for: message + [0]))
        #expect(!key.isValid(signature + [0], for: message))
        #expect(!key.isValid(Array(signature.dropLast()), for: message))
        #expect(!key.isValid([], for: message))
        for index in stride(from: 0, to: signature.count, by: 17) {
            var changed = signature
            changed[index] ^= 1
            #expect(!key.isValid(changed, for: message))
        }
    }

    @Test("another padding or mask is not RSA-PSS with SHA-256", arguments: Vectors.rsaOtherSchemes)
    func otherScheme(hex: String) throws {
        let key = try #require(parsed())
        #expect(!key.isValid(try #require(Hex.bytes(hex)), for: Array("sample".utf8)))
    }

    @Test("a key is written as it was read")
    func written() throws {
        let key = try #require(parsed())
        #expect(key.algorithm == .rsaPSS)
        #expect(key.keytype == "rsa")
        #expect(key.scheme == "rsassa-pss-sha256")
        #expect(key.publicText == Vectors.rsaPublicPEM)
        #expect(PublicKey(pem: key.pem) == key)
    }

    @Test("a short key, another scheme, and a second spelling are no keys")
    func noKey() throws {
        #expect(parsed("rsassa-pss-sha256", Vectors.rsa1024PublicPEM) == nil)
        #expect(parsed("rsa-pkcs1v15-sha256") == nil)
        #expect(parsed("rsassa-pss-sha256", Vectors.p256PublicPEM) == nil)
        #expect(
            PublicKey(keytype: "ecdsa", scheme: "ecdsa-sha2-nistp256", publicText: Vectors.rsaPublicPEM)
                == nil
        )
        let encoded = try #require(parsed()).publicKeyInfo
        #expect(PublicKey(publicKeyInfo: encoded + [0]) == nil)
        for count in 0..<encoded.count { #expect(PublicKey(publicKeyInfo: Array(encoded[..<count])) == nil) }
        // The outer length in one byte more than DER allows.
        #expect(PublicKey(publicKeyInfo: [0x30, 0x83, 0] + encoded[2...]) == nil)
    }

    @Test("Sealift neither makes nor uses RSA keys to sign")
    func neverSigns() {
        #expect(throws: SigningError.unsupportedKey(found: "RSA")) { try SoftwareKey.generate(.rsaPSS) }
        #expect(throws: SigningError.unsupportedKey(found: "RSA of 2048 bits")) {
            try SoftwareKey(pem: Array(Vectors.rsaPrivatePEM.utf8), passphrase: nil)
        }
    }
}
