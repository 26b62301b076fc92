import Names

/// Published keys and signatures; the private halves have been public for years and sign nothing of ours.
enum Vectors {
    struct Ed25519: Sendable {
        let seed: String
        let publicKey: String
        let message: String
        let signature: String

        /// The seed in PKCS#8 (RFC 8410, 7).
        var pem: [UInt8] {
            let encoded = (Hex.bytes("302e020100300506032b657004220420" + seed)).map { Base64.text($0) } ?? ""
            return Array("-----BEGIN PRIVATE KEY-----\n\(encoded)\n-----END PRIVATE KEY-----\n".utf8)
        }
    }

    /// RFC 8032, 7.1, tests 1 to 3.
    static let ed25519 = [
        Ed25519(
            seed: "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
            publicKey: "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
            message: "",
            signature: "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555"
                + "fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"
        ),
        Ed25519(
            seed: "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
            publicKey: "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
            message: "72",
            signature: "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
                + "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"
        ),
        Ed25519(
            seed: "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
            publicKey: "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
            message: "af82",
            signature: "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac"
                + "18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a"
        ),
    ]

    /// RFC 6979, A.2.5: the key, as Python's cryptography writes it.
    static let p256PublicPEM = """
        -----BEGIN PUBLIC KEY-----
        MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEYP7UuiVanTHJYet0xjVtaMBJuJI7
        Yfps5mliLmDyn7Z5A/4QCLi8maQa6elWKLxk8vGyDC1+n1F3o8KU1EYimQ==
        -----END PUBLIC KEY-----

        """

    static let p256PrivatePEM = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgya+p2EW6dRZrXCFX
        Z7HWk05Qw9s26JsSe4piKxIPZyGhRANCAARg/tS6JVqdMclh63TGNW1owEm4kjth
        +mzmaWIuYPKftnkD/hAIuLyZpBrp6VYovGTy8bIMLX6fUXejwpTURiKZ
        -----END PRIVATE KEY-----

        """

    /// The same key, sealed by Python's cryptography; see ``passphrase``.
    static let p256EncryptedPEM = """
        -----BEGIN ENCRYPTED PRIVATE KEY-----
        MIH0MF8GCSqGSIb3DQEFDTBSMDEGCSqGSIb3DQEFDDAkBBB99IQBtyK3py9GJaUS
        WZqkAgIIADAMBggqhkiG9w0CCQUAMB0GCWCGSAFlAwQBKgQQ0MjBGDPjDVk5yJOA
        i1eDZwSBkMQVMM/M2GF0hvK3nUdiPOS5+TSi+4qgaVEdMRtLdM81NkX7KWPC6gK/
        433Dfz1jSggf2XX6reQ/zSLHf8Z94o8AWBugAjJ+Dd4lEQqTxJFjcP4+yBomynpS
        dA2QZtxj03BJhpWSh9LviCPGPIQPaA6eXWE+tQqZshIPDQw5NU84FJP2L/3cof6S
        kuPNlQEPKw==
        -----END ENCRYPTED PRIVATE KEY-----

        """

    static let passphrase = Array("correct horse".utf8)

    /// The same key in the format before PKCS#8 (SEC 1).
    static let p256TraditionalPEM = """
        -----BEGIN EC PRIVATE KEY-----
        MHcCAQEEIMmvqdhFunUWa1whV2ex1pNOUMPbNuibEnuKYisSD2choAoGCCqGSM49
        AwEHoUQDQgAEYP7UuiVanTHJYet0xjVtaMBJuJI7Yfps5mliLmDyn7Z5A/4QCLi8
        maQa6elWKLxk8vGyDC1+n1F3o8KU1EYimQ==
        -----END EC PRIVATE KEY-----

        """

    /// RFC 6979, A.2.5, with SHA-256, in DER.
    static let p256Signatures = [
        (
            "sample",
            "3046022100efd48b2aacb6a8fd1140dd9cd45e81d69d2c877b56aaf991c34d0ea84eaf3716"
                + "022100f7cb1c942d657c41d436c7a1b6e29f65f3e900dbb9aff4064dc4ab2f843acda8"
        ),
        (
            "test",
            "3045022100f1abb023518351cd71d881567b1ea663ed3efcf6c5132b354f28d3b0b7d38367"
                + "0220019f4113742a2b14bd25926b49c649155f267e60d3814b4c0cc84250e46f0083"
        ),
    ]

    static let p384PublicPEM = """
        -----BEGIN PUBLIC KEY-----
        MHYwEAYHKoZIzj0CAQYFK4EEACIDYgAE65Log31mJxRrLEXi6K9ij7MaBQVlK/Zc
        x/4WJ44gruNsRC8KkczGn3pPlxlcI3DmOgXeb8s/keqGZhkySpDlIPGlGXX4ykib
        stbot9RJY8nmPSmjKf6oMeYmOw5sUqyz
        -----END PUBLIC KEY-----

        """

    static let secp256k1PublicPEM = """
        -----BEGIN PUBLIC KEY-----
        MFYwEAYHKoZIzj0CAQYFK4EEAAoDQgAE2oP5VaHZaS21SzIp18ehPpVEuSwPZjaQ
        +dIqXqTx5hzsuvg1146mCMICm8HpxygVpUMfDEzYVeguRL6FiW9LSg==
        -----END PUBLIC KEY-----

        """

    /// Made for this test, and used nowhere else.
    static let p384PrivatePEM = """
        -----BEGIN PRIVATE KEY-----
        MIG2AgEAMBAGByqGSM49AgEGBSuBBAAiBIGeMIGbAgEBBDDXN7j6wxnbqK4o2hHg
        8utIDMVy9co+BDUS/ZlwC1q8mbJhu1bx+SfvtlTJuA+iydahZANiAASKMaY0shvg
        wVO8RXdrPWOLuzWuOFaxL/9lTExJLuLpVDyemxD8RjVoacjTLU/h6ZrdSuD4/A/1
        c267BF7Rqd8s5f9el6Ni4G8xV/hvG0vhXwmgemPjOYQowlr5BXemrY4=
        -----END PRIVATE KEY-----

        """
}
