import CanonicalJSON
import Names
import Signing
import Support
import Testing
import Transfer
import Trust

/// Another repository's timestamp, which an Ed25519 key and an RSA key must both sign.
@Suite("A threshold that an RSA key must help to meet")
struct RSAThresholdTests {
    /// What the RSA signatures are over, but for the version.
    private static let signed = [
        #"{"_type":"timestamp","expires":"2026-12-03T00:53:20Z","meta":{"snapshot.json":{"version":1}},"#,
        #""spec_version":"1.0.34","version":2}"#,
    ].joined()

    /// A client that has root 2; version 2 of the timestamp carries the Ed25519 key's signature and `signature`.
    private func world(_ signature: String) async throws -> World {
        let world = try World(plain: ())
        try await world.synchronise()
        let key = try #require(
            PublicKey(keytype: "rsa", scheme: "rsassa-pss-sha256", publicText: Self.publicPEM)
        )
        let id = Authoring.keyID(of: key)
        try world.registry.change { repository in
            repository.root.keys[id] = KeyObject(key)
            repository.root.roles[.timestamp]?.keyIDs.append(id)
            repository.root.roles[.timestamp]?.threshold = 2
            try repository.publishRoot()
            repository.timestamp = TimestampDocument(
                version: 2,
                expires: World.days(3),
                issued: nil,
                snapshot: MetaFile(version: 1)
            )
            #expect(String(decoding: repository.timestamp.signed.olpcCanonical, as: UTF8.self) == Self.signed)
            try repository.signTimestamp()
            try repository.rewriteSignatures(of: .timestamp) { signatures in
                signatures.append(.members(["keyid": .text(id), "sig": .text(signature)]))
            }
        }
        return world
    }

    @Test("with a signature by RSA-PSS the threshold is met")
    func good() async throws {
        let world = try await world(Self.good)
        try await world.synchronise()
        world.expectStored(.root, .timestamp)
    }

    @Test(
        "a signature of version 3, by another RSA key, or by PKCS #1 v1.5 leaves it unmet",
        arguments: [ofVersion3, byAnotherKey, byPKCS1]
    )
    func wrong(signature: String) async throws {
        #expect(signature.count == Self.good.count)
        let world = try await world(signature)
        let before = world.store.contents
        var updater = world.updater()
        await #expect(throws: UpdateError.refused(.thresholdNotMet(role: .timestamp, valid: 1, needed: 2))) {
            try await updater.refresh()
        }
        world.expectStored(.root)
        #expect(world.store.contents["timestamp.json"] == before["timestamp.json"])
    }
}

/// Made by OpenSSL with a key that was thrown away.
extension RSAThresholdTests {
    private static let publicPEM = """
        -----BEGIN PUBLIC KEY-----
        MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAi+AJNz54tcyZxvhAEsFq
        nyuSwtvO4+0pVDw4N1ywChC135YfhBr+T7mE6BGSzehw2+GmGPwd2NxhYihRoRwE
        Wxt+yzpasHBrrsyLTZq0NlB3JCWDt2cDXl3EFIyVIy8idD6NJ5iF/HxEcL6tZ1lK
        D2jTT2Xn2+kb/WKw03x+I4PahYCfOnVBKqpkH3iJDoPlEIHQ1Xa9++/QvtP2XP3Y
        Sl8DZC5J3V28ezrf7Hm88+K7Mbj0KeTTR8O/bvm8BHFhk+VLee2r/ORlQaeVuMRA
        is3mr0s3MAv2yf8z2sYf8KqP2ttAdlNAICIPFQhT35ndHP3Oq+fAwXYSkDv6PjGB
        bwIDAQAB
        -----END PUBLIC KEY-----

        """

    private static let good =
        "53e511603d96daecbb09c6a1134261a9c02d64a8ec5d3effbc023764ede92498d81d3ce019513e18"
        + "469a85bdd386e892c148730bb2b9d98087f552dca316b9e6a84763f123a3c54c2fcf9c88682338d5"
        + "72ceaf9523aa58e7aeb239082e2ff2b14cf33c11b2aa04d060bec72ff56c0b1790cc8bc5cc5a5d8d"
        + "362d72fa5865f23a9a2f28b0330b4fb3537c69b1c727db72c4dbe1129e3519fe31998c078562d420"
        + "2b96442607d966e4a048776d9ce73000859538ed196309315d2a166bc7576080bc842d9599486154"
        + "6fe15c5e0c2d46e7bdbaff083dcef1237d7f9755a7cb64bcfea093ceabb2a8eea653dd738a2fe8f2"
        + "06afce979493e724e919535a6054cf71"

    private static let ofVersion3 =
        "0f07d53c7458a9b6f4c14a9869f9db6cdf0b15c0822e9a934515446f008f2f398c2bbb43fc382738"
        + "5245c5478f9c403f4792544a5aebdcdc9990e38e4963a2c76e29efe8114873ce91f8949d43e9003f"
        + "f200cdeb3bc202e075a0ffc4ecfc8a384bd42943250f2086b3f46553051ecd7866d05425cc831794"
        + "b5e1638091ccd469b1d4cacb91cbe09abd7228675310e63ce9d2cb3b75a4fc90a3fc3ff61a7a0cbb"
        + "a7db2468c14385dd8bbd7fb36cfcee8e90569e0d9358a6adbd74273a88f9a4e4217a78f2950b8efa"
        + "fa712037c9fe6cf99798b339c941f3b72a277c52d11f3313919238d75c4b8c31033663abcf800f39"
        + "9801b183c140a9e7f8bc977153d643c2"

    private static let byAnotherKey =
        "25691af7e38ff7243354e25a59f512acd9cb358c32c041c829fc39818185842adfc242149086670d"
        + "59e9b6290afa7d3e9ccb867feb23391bba998314712474ddf9454683c3f34cb84be39a7b7b1bb8b7"
        + "16cf5bed73e204a34e0ddc2fa4a8e1ac9602023b8a1faa2b19ce7799f057ea48bbb3e830510af4dd"
        + "af42cea4338ee60b737aafc514a17539d9f1dd6176ef20484734e853fbdc2ac384c261d7bec3d372"
        + "ca6e5d81b0629d1cd3fe738d89cae1b7a73cc266b06bda8019c606c4a41196b1aacdf23a1246c50d"
        + "3b0579215eaf7c546342ebe68a5a48ca177be00f4c88c4e4a0bc97431ac30c76e38eb558109c6316"
        + "eced88031cbfd7a53587db9eb212690c"

    private static let byPKCS1 =
        "4cdbf5e68ebd7ab899d17782dec1e3ce8caaf26ffebe83c1225d0c9995167e7a0b337a72d054c340"
        + "fa08965783f0026a060c4bf2bbd10ddd2677b140ec283adabfb3b12af512cc119bb1e492350c358a"
        + "f2ef260e3b911e775c000763f6b15aba6e550d6b88516300da0b69a6c38f2c82d4103a447b0983d5"
        + "9408784c1e99004f90c92d28afc8e65e6b8db52408879d6ebbe724fd28889498067577f9e87a1fba"
        + "ae90a8d76f016f726329eaef38c96cabe4c747066199324f5e3639030163393d7cbb2db38b8b9ba0"
        + "1244dd3d5660083b992973bc2113d16637fef6c57e8142f9b039f8a0637fc2fba9e058bb1c272736"
        + "b3a248a6b2c8f48b598a98bd89a29972"
}
