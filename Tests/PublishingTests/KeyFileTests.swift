import Durable
import Publishing
import Signing
import Support
import Testing

@Suite("Key files")
struct KeyFileTests {
    @Test("an encrypted key opens with its passphrase alone, and a plain one asks for none")
    func passphrase() throws {
        let scratch = Scratch()
        let file = scratch.path("key.pem")
        let key = try KeyFile.create(file, .ecdsaP256, passphrase: Array("open".utf8))
        let read = try KeyFile.read(file) { () throws(PublishingError) -> [UInt8]? in Array("open".utf8) }
        #expect(read.publicKey == key.publicKey)
        for wrong in [Array("shut".utf8), nil] {
            #expect(throws: PublishingError.self) {
                try KeyFile.read(file) { () throws(PublishingError) -> [UInt8]? in wrong }
            }
        }
        let plain = scratch.path("plain.pem")
        _ = try KeyFile.create(plain, .ed25519, passphrase: nil)
        _ = try KeyFile.read(plain) { () throws(PublishingError) -> [UInt8]? in throw .usage("asked") }
    }

    @Test("the public half in the place of the private one, and an empty file, are told as what they are")
    func notAPrivateKey() throws {
        let scratch = Scratch()
        let file = scratch.path("key.pem")
        _ = try KeyFile.create(file, .ed25519, passphrase: nil)
        let none: () throws(PublishingError) -> [UInt8]? = { () throws(PublishingError) in nil }
        #expect { try KeyFile.read(file + ".pub", passphrase: none) } throws: {
            "\($0)".contains("public half") && "\($0)".contains("sign with \(file),")
        }
        let empty = scratch.path("empty.pem")
        try Durable.writeAtomically(empty, [], mode: 0o600)
        #expect { try KeyFile.read(empty, passphrase: none) } throws: {
            "\($0)".contains("empty.pem is empty")
        }
        #expect { try PublicKeyFile.read(empty) } throws: { "\($0)".contains("empty.pem is empty") }
    }

    @Test("a wiped secret is gone")
    func wiped() {
        var secret: [UInt8] = [1, 2, 3]
        wipe(&secret)
        #expect(secret.isEmpty)
    }
}
