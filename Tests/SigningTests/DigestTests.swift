import Glibc
import Names
import Signing
import Testing

@Suite("Digests")
struct DigestTests {
    /// FIPS 180-4, the examples that NIST publishes with it.
    static let known: [(message: [UInt8], digest: String)] = [
        ([], "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        (Array("abc".utf8), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            Array("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq".utf8),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
        (
            [UInt8](repeating: UInt8(ascii: "a"), count: 1_000_000),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"
        ),
    ]

    @Test("SHA-256 gives the published digests, at once and in pieces", arguments: known)
    func sha256(message: [UInt8], digest: String) {
        #expect(SHA256.digest(of: message).hex == digest)
        var stream = DigestStream()
        for start in stride(from: 0, to: message.count, by: 4_093) {
            let piece = message[start..<min(start + 4_093, message.count)]
            if start.isMultiple(of: 2) {
                stream.update(Array(piece))
            } else {
                piece.withUnsafeBytes { stream.update($0) }
            }
        }
        let found = stream.finish()
        #expect(found.hex == digest)
    }

    @Test("SHA-512 gives the published digest")
    func sha512() {
        #expect(
            Hex.text(SHA512.digest(of: Array("abc".utf8)))
                == "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
                + "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"
        )
    }

    /// RFC 4231, cases 1, 2 and 6.
    @Test(
        "HMAC gives the published codes",
        arguments: [
            (
                [UInt8](repeating: 0x0B, count: 20), "Hi There",
                "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
            ),
            (
                Array("Jefe".utf8), "what do ya want for nothing?",
                "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
            ),
            (
                [UInt8](repeating: 0xAA, count: 131),
                "Test Using Larger Than Block-Size Key - Hash Key First",
                "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
            ),
        ]
    )
    func hmac(key: [UInt8], message: String, code: String) {
        #expect(Hex.text(hmacSHA256(key: key, message: Array(message.utf8))) == code)
    }

    @Test("a file is digested whole, wherever its descriptor stands, and the descriptor stays there")
    func file() throws {
        let stream = try #require(tmpfile())
        defer { fclose(stream) }
        let descriptor = fileno(stream)
        let content = (0..<2_500_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        try #require(write(descriptor, content, content.count) == content.count)
        lseek(descriptor, 17, SEEK_SET)
        #expect(try SHA256.digest(ofFile: descriptor) == SHA256.digest(of: content))
        #expect(lseek(descriptor, 0, SEEK_CUR) == 17)
    }

    @Test("a file that cannot be read is an outage that names the system's reason")
    func unreadableFile() {
        #expect(throws: SigningError.unreadable(code: EBADF)) { try SHA256.digest(ofFile: -1) }
    }

    @Test("random bytes have the length asked for and do not repeat")
    func random() {
        #expect(randomBytes(0).isEmpty)
        #expect(randomBytes(33).count == 33)
        #expect(randomBytes(16) != randomBytes(16))
    }
}
