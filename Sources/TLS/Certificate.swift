import COpenSSL
import Names

/// Owns one `X509` and frees it exactly once.
struct Certificate: ~Copyable {
    private let pointer: OpaquePointer

    private init(owning pointer: OpaquePointer) { self.pointer = pointer }

    deinit { X509_free(pointer) }

    /// A version 3 certificate of `key` with a serial number that nobody can guess, without issuer or extensions.
    static func blank(
        for key: borrowing EVPKey,
        commonName: String,
        now: UnixTime,
        days: Int64
    ) throws(TLSError) -> Certificate {
        guard let pointer = X509_new() else { throw failed("make a certificate") }
        let certificate = Certificate(owning: pointer)
        let start = now.adding(seconds: -300)
        let end = now.adding(seconds: days * 86_400)
        let name = X509_get_subject_name(pointer)
        let text = Array(commonName.utf8)
        guard X509_set_version(pointer, 2) == 1, certificate.setSerialNumber(),
            ASN1_TIME_set(X509_getm_notBefore(pointer), time_t(start.rawValue)) != nil,
            ASN1_TIME_set(X509_getm_notAfter(pointer), time_t(end.rawValue)) != nil,
            X509_NAME_add_entry_by_txt(name, "CN", copenssl_utf8, text, Int32(clamping: text.count), -1, 0)
                == 1,
            X509_set_pubkey(pointer, key.pointer) == 1
        else { throw failed("make a certificate") }
        return certificate
    }

    /// Reads the first certificate of `pem`.
    static func read(_ pem: [UInt8], what: String) throws(TLSError) -> Certificate {
        guard let input = BIO_new_mem_buf(pem, Int32(clamping: pem.count)) else {
            throw failed("read a certificate")
        }
        defer { BIO_free(input) }
        guard let pointer = PEM_read_bio_X509(input, nil, nil, nil) else {
            throw .unusablePEM(what: what, reason: openSSLReason())
        }
        return Certificate(owning: pointer)
    }

    borrowing func nameIssuer(_ issuer: borrowing Certificate) throws(TLSError) {
        guard X509_set_issuer_name(pointer, X509_get_subject_name(issuer.pointer)) == 1 else {
            throw failed("name the issuer of a certificate")
        }
    }

    /// Adds one extension, in the words of x509v3_config(5).
    borrowing func add(_ kind: Int32, _ value: String, issuer: borrowing Certificate) throws(TLSError) {
        var context = X509V3_CTX()
        X509V3_set_ctx(&context, issuer.pointer, pointer, nil, nil, 0)
        guard let addition = X509V3_EXT_conf_nid(nil, &context, kind, value) else {
            throw failed("make the certificate extension \"\(value)\"")
        }
        defer { X509_EXTENSION_free(addition) }
        guard X509_add_ext(pointer, addition, -1) == 1 else { throw failed("add a certificate extension") }
    }

    borrowing func sign(by key: borrowing EVPKey) throws(TLSError) {
        guard X509_sign(pointer, key.pointer, EVP_sha256()) > 0 else { throw failed("sign a certificate") }
    }

    borrowing func pem() throws(TLSError) -> [UInt8] {
        guard let output = BIO_new(BIO_s_mem()) else { throw failed("write a certificate") }
        defer { BIO_free(output) }
        guard PEM_write_bio_X509(output, pointer) == 1 else { throw failed("write a certificate") }
        return content(of: output)
    }

    borrowing func belongs(to key: borrowing EVPKey) -> Bool {
        defer { ERR_clear_error() }
        return X509_check_private_key(pointer, key.pointer) == 1
    }

    borrowing func expiry() -> UnixTime? {
        let epoch = ASN1_TIME_set(nil, 0)
        defer { ASN1_TIME_free(epoch) }
        var days: Int32 = 0
        var seconds: Int32 = 0
        guard ASN1_TIME_diff(&days, &seconds, epoch, X509_get0_notAfter(pointer)) == 1 else {
            ERR_clear_error()
            return nil
        }
        return UnixTime(rawValue: Int64(days) * 86_400 + Int64(seconds))
    }

    /// 128 random bits, positive; RFC 5280, 4.1.2.2 allows 20 bytes.
    private borrowing func setSerialNumber() -> Bool {
        guard let number = BN_new() else { return false }
        defer { BN_free(number) }
        return BN_rand(number, 128, copenssl_top_any, copenssl_bottom_any) == 1
            && BN_to_ASN1_INTEGER(number, X509_get_serialNumber(pointer)) != nil
    }
}

/// Owns one private `EVP_PKEY` and frees it exactly once.
struct EVPKey: ~Copyable {
    let pointer: OpaquePointer

    private init(owning pointer: OpaquePointer) { self.pointer = pointer }

    deinit { EVP_PKEY_free(pointer) }

    /// A new P-256 key, which every TLS client knows.
    static func generated() throws(TLSError) -> EVPKey {
        guard let pointer = copenssl_generate_p256() else { throw failed("make a key") }
        return EVPKey(owning: pointer)
    }

    static func read(_ pem: [UInt8], what: String) throws(TLSError) -> EVPKey {
        guard let input = BIO_new_mem_buf(pem, Int32(clamping: pem.count)) else { throw failed("read a key") }
        defer { BIO_free(input) }
        guard let pointer = PEM_read_bio_PrivateKey(input, nil, copenssl_no_passphrase, nil) else {
            throw .unusablePEM(what: what, reason: openSSLReason())
        }
        return EVPKey(owning: pointer)
    }

    borrowing func pem() throws(TLSError) -> [UInt8] {
        guard let output = BIO_new(BIO_s_secmem()) else { throw failed("write a key") }
        defer { BIO_free(output) }
        guard PEM_write_bio_PKCS8PrivateKey(output, pointer, nil, nil, 0, nil, nil) == 1 else {
            throw failed("write a key")
        }
        return content(of: output)
    }
}

private func content(of output: OpaquePointer) -> [UInt8] {
    var bytes: UnsafeMutablePointer<CChar>?
    let count = copenssl_bio_bytes(output, &bytes)
    return Array(UnsafeRawBufferPointer(start: bytes, count: count))
}

private func failed(_ operation: String) -> TLSError {
    .engineFailed(operation: operation, reason: openSSLReason())
}
