import COpenSSL

/// What tests let go wrong where OpenSSL is asked about a signature.
package enum VerificationFault {
    /// Whether there is no memory left for it.
    @TaskLocal package static var lacksMemory = false
}

/// Owns one public `EVP_PKEY` and frees it exactly once.
struct VerifyingKey: ~Copyable {
    private let pointer: OpaquePointer

    /// Takes the bytes of a key; OpenSSL refuses a point that is not on the curve.
    ///
    /// Only RSA keys go through OpenSSL's decoders, which look for the form of
    /// what they get and take ten times as long as all the rest.
    ///
    /// - Parameters:
    ///   - algorithm: Of the key.
    ///   - bytes: Ed25519: the 32 raw bytes; P-256: a point of 65 or 33; RSA: SubjectPublicKeyInfo in DER.
    /// - Throws: `SigningError.engineFailed` without the memory for it.
    init?(_ algorithm: KeyAlgorithm, _ bytes: [UInt8]) throws(SigningError) {
        if VerificationFault.lacksMemory { throw .noMemory }
        let parsed: OpaquePointer? =
            switch algorithm {
            case .ed25519: EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nil, bytes, bytes.count)
            case .ecdsaP256: copenssl_p256_public_key(bytes, bytes.count)
            case .rsaPSS:
                bytes.withUnsafeBufferPointer { buffer in
                    var cursor = buffer.baseAddress
                    return d2i_PUBKEY(nil, &cursor, buffer.count)
                }
            }
        guard let parsed else {
            if copenssl_lacked_memory() != 0 { throw .noMemory }
            return nil
        }
        pointer = parsed
    }

    deinit { EVP_PKEY_free(pointer) }

    /// - Throws: `SigningError.engineFailed` when it could not be found out.
    borrowing func verifies(
        _ signature: [UInt8],
        for message: ArraySlice<UInt8>,
        _ algorithm: KeyAlgorithm
    ) throws(SigningError) -> Bool {
        guard let context = EVP_MD_CTX_new() else { throw .noMemory }
        defer {
            EVP_MD_CTX_free(context)
            ERR_clear_error()
        }
        let digest = algorithm == .ed25519 ? nil : EVP_sha256()
        var keyContext: OpaquePointer?
        // Neither depends on the signature or the message.
        guard EVP_DigestVerifyInit(context, &keyContext, digest, nil, pointer) == 1 else {
            throw .engineFailed(operation: "begin to check a signature", reason: openSSLReason())
        }
        if algorithm == .rsaPSS {
            // Any salt length, since signers differ; MGF1 takes the digest of the message.
            guard EVP_PKEY_CTX_set_rsa_padding(keyContext, RSA_PKCS1_PSS_PADDING) == 1,
                EVP_PKEY_CTX_set_rsa_pss_saltlen(keyContext, copenssl_any_salt_length) == 1
            else { throw .engineFailed(operation: "check an RSA-PSS signature", reason: openSSLReason()) }
        }
        let code = message.withUnsafeBufferPointer { message in
            EVP_DigestVerify(context, signature, signature.count, message.baseAddress, message.count)
        }
        if code != 1, copenssl_lacked_memory() != 0 { throw .noMemory }
        return code == 1
    }

    borrowing func uncompressedPoint() -> [UInt8]? {
        guard let x = coordinate(OSSL_PKEY_PARAM_EC_PUB_X), let y = coordinate(OSSL_PKEY_PARAM_EC_PUB_Y)
        else {
            ERR_clear_error()
            return nil
        }
        return [4] + x + y
    }

    /// Whether this is an RSA key of 2,048 to 8,192 bits and `encoded` is its only spelling in DER.
    ///
    /// Smaller keys can be broken; greater ones let a repository's owner buy
    /// our time with one signature.
    borrowing func isPlainRSA(_ encoded: [UInt8]) -> Bool {
        defer { ERR_clear_error() }
        guard EVP_PKEY_get_base_id(pointer) == EVP_PKEY_RSA,
            (2_048...8_192).contains(EVP_PKEY_get_bits(pointer))
        else { return false }
        var again: UnsafeMutablePointer<UInt8>?
        let count = i2d_PUBKEY(pointer, &again)
        guard count > 0, let again else { return false }
        defer { copenssl_free(again) }
        return UnsafeBufferPointer(start: again, count: Int(count)).elementsEqual(encoded)
    }

    private borrowing func coordinate(_ name: String) -> [UInt8]? {
        var number: OpaquePointer?
        guard EVP_PKEY_get_bn_param(pointer, name, &number) == 1 else { return nil }
        defer { BN_free(number) }
        var bytes = [UInt8](repeating: 0, count: 32)
        return BN_bn2binpad(number, &bytes, 32) == 32 ? bytes : nil
    }
}
