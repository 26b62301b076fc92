/// RSA, by Python's cryptography; the key was made for these tests and signs nothing else.
extension Vectors {
    static let rsaPublicPEM = """
        -----BEGIN PUBLIC KEY-----
        MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAwFhd+W81uHViLfxWOdJf
        LWIlBBE75RZpzOMwXUOMx4ZyE5Hr1MhGphGqv/ZrnloFEoKcsxROjHcwRl1+Cv3x
        iwCaE6rDa0UpAQOHxoHx5uarLfqE47xfjuyfr5MxrbdbUxEgsng19i5YGmyOIgtG
        1frBX38W+pa/cAvdRjHTscEmSCOXKirFGi8FXWwE5bH7Op1e0e/YmloE6Kc7XEn3
        rNPfYlZnnHhDKHanqaOqAuPrVutATCD0K4279wiTn29VasviTb7TlKbDbP+4bcon
        U4MtcgUKsy0tZv9I6yu+TVkKGTlzowemTnXXyehzOVTLwlo37ADZZkgs15lvqPZ9
        SQIDAQAB
        -----END PUBLIC KEY-----

        """

    /// Of "sample", with salts of 32, 222 and 0 bytes.
    static let rsaSignatures = [
        "7022af0c3c8775d575ea069a6a778ebbe0ae2e6c01b425b9406e0f971568e24aced940ee180145fd"
            + "27750af22dd800d8f9eea891e16f324113e81d3245b388e23fe6acec9295f7438619ef6ef294edd5"
            + "531d775884ff59f9ba2b88691887587e37d68aa0067d097f66f62eb2e70f8b3b0b278b1a134d20ce"
            + "066685de39680f8faf4dfa4bfba94cac10c5b20fc68ef94e3436d761781080b1d6859139ddc84431"
            + "25dd9d862106cfa8c0c6fa6933d7e24d180e43730b5c72f7ecf0965f414598db9aca4314811533c1"
            + "f2bb393b6c4ae12e74c28c773630343b6e0b3f736be77ba537ac3ae063baf451f5b10b80f28ea549"
            + "7669fa50f427422313c078b051e8db8b",
        "95d31d7010d3a0f96c072520c6e4f7236ee308e8383b2a10a95da2e4c6b71a0b69bfed425f655050"
            + "11d190fd2cf4d335c53e2a74ff7d41403112fb26f9fc48d99fb32deac8a6cefa977ef778dc210978"
            + "2232291c7d6b008d862351073694ebddbd5ecd46e207e5d763833290626d8c2ed9490b7060e8eeac"
            + "8d70d0c9dff661ed27e108fb5c9d55053647781ca88faf4ce93703c12e4be2f6d3b15dc84c8d1d10"
            + "93bec6626e284421e95fcdd69f60e1fc936f75e7cf127c72be3027d47da715811703025630119d2a"
            + "9615c2221fa1eef87c9d6f743f4590158dcf580a14b927dce33c8274f0d4b71f0809ce2b6a6bffd1"
            + "5a9115331284d0b94cb1ac51aa152a97",
        "a8e18e125b7f9c5136de1b2a41c517887d4c7f229aadbc9db5a85269191e263e8659e1eee931e0b3"
            + "ec669f8d9f729fe611e7ec2492ee2f1562bbdb7d4f5e533595b669f841ae122d19c3e5fab3d75db1"
            + "820fe1d611bd85cf089e3c6e03f5a4b7bd1f17efd995a6a2e99e7d26c80e5c77892e9333188657fc"
            + "418afc6d1bb4cc0ca1dcce13c08beb8b07261ac541025812f2e547295a24f56f926c26c001e82a53"
            + "8b60565f79772c270df8b710301061e2a8d9f9536ca29e1d99e0125020f6e17ccfdab2b1d62f4a28"
            + "909dcb72f1bf5aa4f46c5d806e0eea87d7c0b85b97208d9e2da5209a3aa3fd31a709e2ff12e900ba"
            + "acc132962eacf491192c052c218daf30",
    ]

    /// Of "sample" by PKCS #1 v1.5, and by PSS with another mask digest.
    static let rsaOtherSchemes = [
        "00be2c1d19ff19efe0fb84283438d2fcaad69cbdeb4356a48057f653cc86de11d7921b30b25cea73"
            + "695dc2a981404f2f7081b3f9e663b3bbf49243cce7a0216424e060eb073a1a811349051ee534ab6e"
            + "5a1fdc863fbc7d8aa8aabadebb1139f50bd6cb1d14365e3ac637f0643976d37078cea55bc340a9fe"
            + "abbaab799a125cee9ed439cd4bb4da611c9b3446c32d308038fd2ced26a16e6ab15b60138e675cd5"
            + "c7d8a3b175bac783ef1077e72328195c8f437ba1d004690332fea40a8223e780c6d5e1dd1a32235e"
            + "0f430f44c79cbe71efed0428b234def2794172d748c7ac57f07ffa181cf6705196826dc75303e587"
            + "9fc8ddd4e9f64bb5a55fb03466f290af",
        "96f1bc76704c38ad8aa8a99b9473e32d1cc443d882f07fc247d837a0e3b0573513a0a7924aacfa07"
            + "65a0364f254eec983dd09ab5cf537c0b820eb01e60e34d09d016a4d7d371d44b6e8e5d344cbffa56"
            + "dfaa28f899b4241daff90a97081126ce0d6c105130f9a72120a07e4b21b8119e81412c649e95944e"
            + "72fd6ffdaf56c1b5147286ddb8e820cb5acd007ce0bbada94fdec49a8c8ed97084571872b1d590e6"
            + "3ebbcfe0a9d1647e60aef255b6aa80f4eae333a033ef92472adbe364d2ea3bab9204967b2760b36f"
            + "4b865e92684133ae6844bb0ab31555e6a5e7da9aceafc8c095dda1fc27e8c8a364206ce246230dcd"
            + "2d7a1c72b2e33bf1f434e57ecf4dd862",
    ]

    static let rsa1024PublicPEM = """
        -----BEGIN PUBLIC KEY-----
        MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQCf+xfxYEKBfH2b0w/dB25DB4V3
        PLfBBKW5HvsYuWqEe2419qptXldtpk9lRAMb7gjYZzGowBHX/Rw0nGPa0gJDyGgT
        zdfz9ox1rhjpC6owvTbVvShKwX0i1eNiOTl1kZGbZb0SIRcJEhGOYEndJJX4vc6K
        TmIN9ugBv9sgKt5ppQIDAQAB
        -----END PUBLIC KEY-----

        """

    static let rsaPrivatePEM = """
        -----BEGIN PRIVATE KEY-----
        MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQDAWF35bzW4dWIt
        /FY50l8tYiUEETvlFmnM4zBdQ4zHhnITkevUyEamEaq/9mueWgUSgpyzFE6MdzBG
        XX4K/fGLAJoTqsNrRSkBA4fGgfHm5qst+oTjvF+O7J+vkzGtt1tTESCyeDX2Llga
        bI4iC0bV+sFffxb6lr9wC91GMdOxwSZII5cqKsUaLwVdbATlsfs6nV7R79iaWgTo
        pztcSfes099iVmeceEModqepo6oC4+tW60BMIPQrjbv3CJOfb1Vqy+JNvtOUpsNs
        /7htyidTgy1yBQqzLS1m/0jrK75NWQoZOXOjB6ZOddfJ6HM5VMvCWjfsANlmSCzX
        mW+o9n1JAgMBAAECggEACiQ+pDm8Y+Lwj8snwrm4Yfy0RfAgr9YMMwzhjnFS2WxZ
        1HVTsW7z5qq0zZVRHFLTxKOVXo3aDGb2aSdhz3OPSkx4U0QkNKI7ZL3KaWmNlyaf
        bPeyDQ3wHemVC91fd7DcxFb5Wd+jvLy50X7ayam9jOfBTWc2j3TmWCKQArT62/rj
        Por3OZFoc/P9Z2QECJApXmIpqLTiLR7KjSeAnIX144QqtqTx6jDdAOn3uFG4SlIZ
        2/kIK2fMfT+Vr9KOTcAXIZpRCUK138WCyVb/TBZDxLMApUtrVZfxmdqABdiYYKt5
        diaMUouVcZ/bdQOkNyokyb99rpcaMxjkijig1MSMGQKBgQDmfXyudMsO8TDZlXXR
        JyIw/0Mc3W6JAeP5LKAJo3MVjlelW8FMl1SY6fQn502mfdy/8e3qqqpFLc3YIsnd
        8aJ4DMAi72DVVrCMlBHrOuUORx2voBnKuFLtcAOUyBnjeQ8KK/saqQvy71e7qvEX
        zoNyUVcELGS+TpYGQ56JE1rMpQKBgQDVohyvGuWxPmhYWhmVTubFQ8vAnNwSzwbn
        6yRdK71Unmzyu6vFZ7BDd9EE3kU5taw3k3Llgg3TB6vkUUg4YPtvjzR73yUyeSCD
        KnAuPl+blqfYjUZKY0qfQLol1N1P5o/aGOD3NvZBmVNx4jWbvLqb3dKIm0mEULKC
        zh/Kg5PY1QKBgQC8SlMqqVqg0EQZ29EtlYyG/mCzGemMnzC/g8cRWKdROsE64qQc
        j5uad7TvTDPRCQzm+RplFBqY/PwlzvWeDCGvdKsZXvh6D6GWlfe1dJ1edpY3vNCV
        HNMSCOnEB1uuylyQ8LDnbKXIReIj+1eNHTWgk/ZEAIgkN0qzv1WpoVgRyQKBgCP5
        dJMYGG3McI3QPlaiPsIhNIJu57BTJHqRYkI+R1ekhfwqFjbbyxbRamVDeKzLJwEE
        12hGikVrGUsNVPgJfM3Ac7oYTY8+TndIAjQHVNpCeGlDAP8t0TcYE0Cjo9D8pmS3
        o8p9euJ5C1A2I4jiMxpkNDvEypB5dlYIl9nmZlMxAoGAMpTmJw6SRSca+lr8KOKG
        OAjeHJkd563SGJiBU79Xtj1nKNKgv0Tb7Io1O6000p4ltFTr0Ti5manjgJpQGiEg
        Oy3aKFFdmNIzrm/VaIp5BkrhhTkNc47XG4+aDYdbX8N7iQM40frxEQuh+XqSx0gp
        gQt+nPkLevHHOiytmpAZZhQ=
        -----END PRIVATE KEY-----

        """
}
