import Names
import Signing
import Transparency

extension FuzzTarget {
    static let keys = [
        FuzzTarget("public-key", maximumLength: 1_024) { bytes in
            let text = String(decoding: bytes, as: UTF8.self)
            let candidates = [
                PublicKey(pem: text), PublicKey(publicKeyInfo: bytes), PublicKey(rawEd25519: bytes),
                PublicKey(keytype: "ecdsa", scheme: "ecdsa-sha2-nistp256", publicText: text),
                PublicKey(keytype: "rsa", scheme: "rsassa-pss-sha256", publicText: text),
            ]
            for case let key? in candidates {
                try hold(PublicKey(pem: key.pem) == key, "a key's PEM is the key")
                let again = PublicKey(keytype: key.keytype, scheme: key.scheme, publicText: key.publicText)
                try hold(again == key, "a key's TUF form is the key")
                try hold(!key.isValid(bytes, for: bytes), "nothing signs itself")
            }
        },
        FuzzTarget("signature", maximumLength: 512) { bytes in
            let message = Array("message".utf8)
            for key in fixed { try hold(!key.isValid(bytes, for: message), "nobody but the owner signs") }
        },
        // The keys of its corpus are test fixtures whose private numbers everybody knows: 0 and 7.
        FuzzTarget("private-key", maximumLength: 2_048) { bytes in
            let key = try SoftwareKey(pem: bytes, passphrase: nil)
            let written = try must("a key can be written") { try key.pem(passphrase: nil) }
            let again = try must("a written key is a key") {
                try SoftwareKey(pem: written, passphrase: nil)
            }
            try hold(again.publicKey == key.publicKey, "a written key is the key")
        },
        FuzzTarget("log-entry", maximumLength: 1_024) { bytes in
            if let key = NoteVerifierKey(String(decoding: bytes, as: UTF8.self)) {
                try hold(NoteVerifierKey(key.description) == key, "a verifier key's text is the key")
            }
            let entry = try LogEntry(canonical: bytes)
            let written = try must("an entry can be written") { try entry.canonical() }
            try hold(written == bytes, "an entry has one form")
        },
    ]

    /// One key of each algorithm, of which no private half was kept.
    private static let fixed: [PublicKey] = [
        PublicKey(rawEd25519: Array(repeating: 0x58, count: 1) + Array(repeating: 0x66, count: 31)),
        PublicKey(
            pem: """
                -----BEGIN PUBLIC KEY-----
                MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEaxfR8uEsQkf4vOblY6RA8ncDfYEt
                6zOg9KE5RdiYwpZP40Li/hp/m47n60p8D54WK84zV2sxXs7LtkBoN79R9Q==
                -----END PUBLIC KEY-----

                """
        ),
    ].compactMap { $0 }
}
