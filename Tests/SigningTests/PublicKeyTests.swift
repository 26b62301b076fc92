import Names
import Signing
import Testing

@Suite("Public keys")
struct PublicKeyTests {
    @Test("Ed25519 verifies the published signatures and nothing near them", arguments: Vectors.ed25519)
    func ed25519(vector: Vectors.Ed25519) throws {
        let key = try #require(PublicKey(keytype: "ed25519", scheme: "ed25519", publicText: vector.publicKey))
        let message = try #require(Hex.bytes(vector.message))
        let signature = try #require(Hex.bytes(vector.signature))
        #expect(key.isValid(signature, for: message))
        #expect(!key.isValid(signature, for: message + [0]))
        for index in signature.indices {
            var changed = signature
            changed[index] ^= 1
            #expect(!key.isValid(changed, for: message), "byte \(index) changed")
        }
    }

    @Test("P-256 verifies the published signatures and nothing near them", arguments: Vectors.p256Signatures)
    func p256(message: String, hex: String) throws {
        let key = try #require(PublicKey(pem: Vectors.p256PublicPEM))
        let message = Array(message.utf8)
        let signature = try #require(Hex.bytes(hex))
        #expect(key.isValid(signature, for: message))
        #expect(!key.isValid(signature, for: message + [0]))
        for index in signature.indices {
            var changed = signature
            changed[index] ^= 1
            #expect(!key.isValid(changed, for: message), "byte \(index) changed")
        }
    }

    @Test("bytes that are no signature are answered with false", arguments: [Vectors.p256PublicPEM, nil])
    func notASignature(pem: String?) throws {
        let key = try #require(
            pem.map { PublicKey(pem: $0) } ?? PublicKey(rawEd25519: SoftwareKeyTests.ed25519)
        )
        let whole = try #require(
            Hex.bytes(pem == nil ? Vectors.ed25519[0].signature : Vectors.p256Signatures[0].1)
        )
        let message = pem == nil ? [] : Array("sample".utf8)
        try #require(key.isValid(whole, for: message))
        for count in 0..<whole.count { #expect(!key.isValid(Array(whole[..<count]), for: message)) }
        #expect(!key.isValid(whole + [0], for: message))
        #expect(!key.isValid([UInt8](repeating: 0, count: 64), for: message))
        #expect(!key.isValid([UInt8](repeating: 0xFF, count: 100_000), for: message))
        var generator = SystemRandomNumberGenerator()
        for count in 0..<200 {
            let noise = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
            #expect(!key.isValid(noise, for: message), "\(noise)")
        }
    }

    @Test("a signature in BER with a long length is not one in DER")
    func berSignature() throws {
        let key = try #require(PublicKey(pem: Vectors.p256PublicPEM))
        let signature = try #require(Hex.bytes(Vectors.p256Signatures[0].1))
        let loose = [0x30, 0x81, signature[1]] + signature[2...]
        #expect(!key.isValid(loose, for: Array("sample".utf8)))
    }

    @Test("a key is written as Python's securesystemslib writes it")
    func written() throws {
        let key = try #require(PublicKey(pem: Vectors.p256PublicPEM))
        #expect(key.publicText == Vectors.p256PublicPEM)
        #expect(key.keytype == "ecdsa")
        #expect(key.scheme == "ecdsa-sha2-nistp256")
        #expect(key.rawEd25519 == nil)
        let other = try #require(PublicKey(rawEd25519: SoftwareKeyTests.ed25519))
        #expect(other.publicText == Vectors.ed25519[0].publicKey)
        #expect(
            other.pem == """
                -----BEGIN PUBLIC KEY-----
                MCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=
                -----END PUBLIC KEY-----

                """
        )
        #expect(PublicKey(pem: other.pem) == other)
    }

    @Test("one key in another layout, or with its point compressed, is one key")
    func oneKey() throws {
        let key = try #require(PublicKey(pem: Vectors.p256PublicPEM))
        let joined = Vectors.p256PublicPEM.split(separator: "\n").dropFirst().dropLast().joined()
        let wide = "-----BEGIN PUBLIC KEY-----\n\(joined)\n-----END PUBLIC KEY-----"
        let windows = Vectors.p256PublicPEM.split(separator: "\n").joined(separator: "\r\n") + "\r\n\r\n"
        // y ends in 0x99, which is odd: the prefix is 3.
        let x = Array(key.publicKeyInfo[27..<59])
        let compressed = try #require(
            Hex.bytes("3039301306072a8648ce3d020106082a8648ce3d030107032200")
        )
        let keys = [
            key, PublicKey(pem: wide), PublicKey(pem: windows),
            PublicKey(publicKeyInfo: compressed + [3] + x),
            PublicKey(keytype: "ecdsa-sha2-nistp256", scheme: "ecdsa-sha2-nistp256", publicText: wide),
        ]
        #expect(Set(keys) == [key])
        let mirrored = try #require(PublicKey(publicKeyInfo: compressed + [2] + x))
        #expect(mirrored != key)
    }

    @Test(
        "another curve, another type or another scheme is no key",
        arguments: [
            ("ecdsa", "ecdsa-sha2-nistp256", Vectors.p384PublicPEM),
            ("ecdsa", "ecdsa-sha2-nistp256", Vectors.secp256k1PublicPEM),
            ("ecdsa", "ecdsa-sha2-nistp384", Vectors.p256PublicPEM),
            ("ed25519", "ed25519", Vectors.p256PublicPEM),
            ("ed25519", "ed25519", Vectors.ed25519[0].publicKey + "00"),
            ("ed25519", "ed25519", Vectors.ed25519[0].publicKey.uppercased()),
            ("ed25519", "ed25519ph", Vectors.ed25519[0].publicKey),
            ("ecdsa", "ecdsa-sha2-nistp256", Vectors.ed25519[0].publicKey),
            ("rsa", "rsassa-pss-sha256", Vectors.p256PublicPEM),
            ("", "", ""),
        ]
    )
    func noKey(keytype: String, scheme: String, text: String) {
        #expect(PublicKey(keytype: keytype, scheme: scheme, publicText: text) == nil)
    }

    @Test("PEM with anything around, inside or behind the key is no key")
    func loosePEM() {
        let pem = Vectors.p256PublicPEM
        #expect(PublicKey(pem: "x\n" + pem) == nil)
        #expect(PublicKey(pem: pem + "x") == nil)
        #expect(PublicKey(pem: pem + pem) == nil)
        #expect(PublicKey(pem: pem.replacing("PUBLIC", with: "PRIVATE")) == nil)
        #expect(PublicKey(pem: pem.replacing("Yfps", with: "Y ps")) == nil)
        #expect(PublicKey(pem: pem.replacing("Yfps", with: "Yfps\u{0}")) == nil)
        #expect(PublicKey(pem: "") == nil)
    }

    @Test("DER cut short, with bytes behind, or with a point off the curve is no key")
    func looseDER() throws {
        let encoded = try #require(PublicKey(pem: Vectors.p256PublicPEM)).publicKeyInfo
        for count in 0..<encoded.count { #expect(PublicKey(publicKeyInfo: Array(encoded[..<count])) == nil) }
        #expect(PublicKey(publicKeyInfo: encoded + [0]) == nil)
        var offCurve = encoded
        offCurve[90] ^= 1
        #expect(PublicKey(publicKeyInfo: offCurve) == nil)
        var hybrid = encoded
        hybrid[26] = 7
        #expect(PublicKey(publicKeyInfo: hybrid) == nil)
    }

    @Test(
        "a second spelling of an Ed25519 key is no key",
        arguments: [
            // y = 2^255 - 19, which is 0; y = 2^255 - 1; x = 0 with a sign, for y = 1 and for y = -1.
            "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
            "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
            "0100000000000000000000000000000000000000000000000000000000000080",
            "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        ]
    )
    func secondSpelling(hex: String) throws {
        #expect(PublicKey(rawEd25519: try #require(Hex.bytes(hex))) == nil)
    }
}
