import Names
import Signing
import Testing

@Suite("Software keys")
struct SoftwareKeyTests {
    static let ed25519 = Hex.bytes(Vectors.ed25519[0].publicKey) ?? []

    @Test("a key signs what its public half verifies", arguments: [KeyAlgorithm.ed25519, .ecdsaP256])
    func signs(algorithm: KeyAlgorithm) throws {
        let key = try SoftwareKey.generate(algorithm)
        let other = try SoftwareKey.generate(algorithm)
        #expect(key.publicKey.algorithm == algorithm)
        #expect(key.publicKey != other.publicKey)
        for message in [[], [0], [UInt8](repeating: 7, count: 100_000)] {
            let signature = try key.signature(of: message)
            #expect(key.publicKey.isValid(signature, for: message))
            #expect(!key.publicKey.isValid(signature, for: message + [1]))
            #expect(!other.publicKey.isValid(signature, for: message))
        }
    }

    @Test("Ed25519 makes the published signatures", arguments: Vectors.ed25519)
    func publishedSignature(vector: Vectors.Ed25519) throws {
        let key = try SoftwareKey(pem: vector.pem, passphrase: nil)
        #expect(key.publicKey.publicText == vector.publicKey)
        let message = try #require(Hex.bytes(vector.message))
        #expect(Hex.text(try key.signature(of: message)) == vector.signature)
    }

    @Test(
        "a key survives being written and read",
        arguments: [KeyAlgorithm.ed25519, .ecdsaP256],
        [nil, "a passphrase"]
    )
    func roundTrip(algorithm: KeyAlgorithm, text: String?) throws {
        let passphrase = text.map { Array($0.utf8) }
        let key = try SoftwareKey.generate(algorithm)
        let pem = try key.pem(passphrase: passphrase)
        let header = text == nil ? "-----BEGIN PRIVATE KEY-----\n" : "-----BEGIN ENCRYPTED PRIVATE KEY-----\n"
        #expect(pem.starts(with: header.utf8))
        let read = try SoftwareKey(pem: pem, passphrase: passphrase)
        #expect(read.publicKey == key.publicKey)
        #expect(key.publicKey.isValid(try read.signature(of: [1, 2, 3]), for: [1, 2, 3]))
    }

    @Test("a key that Python's cryptography sealed opens, and only by its passphrase")
    func peer() throws {
        let pem = Array(Vectors.p256EncryptedPEM.utf8)
        let key = try SoftwareKey(pem: pem, passphrase: Vectors.passphrase)
        #expect(key.publicKey.pem == Vectors.p256PublicPEM)
        #expect(try key.pem(passphrase: nil) == Array(Vectors.p256PrivatePEM.utf8))
        #expect(throws: SigningError.passphraseMissing) { try SoftwareKey(pem: pem, passphrase: nil) }
        // About one wrong passphrase in 256 leaves padding that looks right, hence many.
        for number in 0..<600 {
            #expect(throws: SigningError.passphraseWrong) {
                try SoftwareKey(pem: pem, passphrase: Array("wrong \(number)".utf8))
            }
        }
        #expect(throws: SigningError.passphraseWrong) { try SoftwareKey(pem: pem, passphrase: []) }
    }

    @Test("a key is never written under an empty passphrase")
    func emptyPassphrase() throws {
        let key = try SoftwareKey.generate(.ed25519)
        #expect(throws: SigningError.passphraseMissing) { try key.pem(passphrase: []) }
    }

    @Test(
        "what is not one PKCS#8 key is refused as such",
        arguments: [
            "", "hello", Vectors.p256TraditionalPEM, Vectors.p256PublicPEM,
            Vectors.p256PrivatePEM + "x", Vectors.p256PrivatePEM + Vectors.p256PrivatePEM,
            String(Vectors.p256PrivatePEM.dropLast(30)),
            Vectors.p256PrivatePEM.replacing("MIGHAgEA", with: "MIGGAgEA"),
            "-----BEGIN ENCRYPTED PRIVATE KEY-----\nMAAA\n-----END ENCRYPTED PRIVATE KEY-----\n",
        ]
    )
    func notAKey(pem: String) {
        let error = #expect(throws: SigningError.self) {
            try SoftwareKey(pem: Array(pem.utf8), passphrase: Vectors.passphrase)
        }
        guard case .notAKey = error else {
            Issue.record("refused for another reason: \(String(describing: error))")
            return
        }
    }

    @Test("a private key whose public half is another's is refused")
    func mixedHalves() throws {
        // The point of the stored public half, with one key's and then the other's scalar.
        let own = try SoftwareKey.generate(.ecdsaP256).pem(passphrase: nil)
        let other = try SoftwareKey.generate(.ecdsaP256).pem(passphrase: nil)
        let mixed = encoded(own).prefix(73) + encoded(other).dropFirst(73)
        let pem = "-----BEGIN PRIVATE KEY-----\n\(Base64.text(Array(mixed)))\n-----END PRIVATE KEY-----\n"
        let error = #expect(throws: SigningError.self) {
            try SoftwareKey(pem: Array(pem.utf8), passphrase: nil)
        }
        guard case .notAKey = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test("a sound key of another curve is refused by name")
    func otherCurve() {
        #expect(throws: SigningError.unsupportedKey(found: "EC of 384 bits")) {
            try SoftwareKey(pem: Array(Vectors.p384PrivatePEM.utf8), passphrase: nil)
        }
    }

    private func encoded(_ pem: [UInt8]) -> [UInt8] {
        let lines = String(decoding: pem, as: UTF8.self).split(separator: "\n").dropFirst().dropLast()
        return Base64.bytes(lines.joined()) ?? []
    }
}
