import COpenSSL
import Glibc
package import Names

/// A server's certificate, key and rules, from which its sessions are made.
///
/// TLS 1.2 with forward secrecy and authenticated encryption, or TLS 1.3;
/// no renegotiation, no compression; HTTP/1.1 by ALPN. A new certificate is a
/// new `ServerTLS`: sessions that run keep the one they started with.
// Sendable: the context is set up in init, never changed after, and OpenSSL counts its owners atomically.
package final class ServerTLS: @unchecked Sendable {
    let context: OpaquePointer

    /// Reads the certificate chain and the key.
    ///
    /// - Parameters:
    ///   - certificateChainPEMFile: The server's certificate first, then each issuer up to but without the root.
    ///   - keyFile: PEM, not encrypted, readable by its owner alone, as every private key here.
    /// - Throws: `TLSError.unusableFile`, `.exposedKey` or `.keyMismatch`.
    package init(certificateChainPEMFile: String, keyFile: String) throws(TLSError) {
        context = try newContext(TLS_server_method())
        copenssl_set_options(context, copenssl_server_options())
        copenssl_speak_http1(context)
        SSL_CTX_ctrl(context, SSL_CTRL_SET_SESS_CACHE_MODE, Int(SSL_SESS_CACHE_OFF), nil)
        guard access(certificateChainPEMFile, R_OK) == 0 else {
            throw .unusableFile(path: certificateChainPEMFile, reason: String(cString: strerror(errno)))
        }
        guard SSL_CTX_use_certificate_chain_file(context, certificateChainPEMFile) == 1 else {
            throw .unusableFile(path: certificateChainPEMFile, reason: openSSLReason())
        }
        var status = stat()
        guard stat(keyFile, &status) == 0 else {
            throw .unusableFile(path: keyFile, reason: String(cString: strerror(errno)))
        }
        guard status.st_mode & 0o077 == 0 else {
            throw .exposedKey(path: keyFile, mode: status.st_mode & 0o7777)
        }
        guard SSL_CTX_use_PrivateKey_file(context, keyFile, SSL_FILETYPE_PEM) == 1 else {
            let code = ERR_peek_last_error()
            guard copenssl_is_other_key(code) == 0 else {
                ERR_clear_error()
                throw .keyMismatch(certificate: certificateChainPEMFile, key: keyFile)
            }
            throw .unusableFile(path: keyFile, reason: openSSLReason())
        }
        guard SSL_CTX_check_private_key(context) == 1 else {
            ERR_clear_error()
            throw .keyMismatch(certificate: certificateChainPEMFile, key: keyFile)
        }
    }

    deinit { SSL_CTX_free(context) }
}

/// What a client trusts: one certificate authority, and nothing that the system trusts besides.
// Sendable: as ServerTLS.
package final class ClientTLS: @unchecked Sendable {
    let context: OpaquePointer

    /// Trusts the certificate authorities of `authoritiesPEM`.
    ///
    /// - Parameters:
    ///   - authoritiesPEM: One certificate or several.
    ///   - now: The time by which certificates are judged; `nil` asks the system at each handshake.
    /// - Throws: `TLSError.unusablePEM` when there is no certificate.
    package init(authoritiesPEM: [UInt8], now: UnixTime? = nil) throws(TLSError) {
        context = try newContext(TLS_client_method())
        if let now { X509_VERIFY_PARAM_set_time(SSL_CTX_get0_param(context), time_t(now.rawValue)) }
        SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nil)
        guard let input = BIO_new_mem_buf(authoritiesPEM, Int32(clamping: authoritiesPEM.count)) else {
            throw .engineFailed(operation: "read certificates", reason: openSSLReason())
        }
        defer { BIO_free(input) }
        var count = 0
        while let authority = PEM_read_bio_X509(input, nil, nil, nil) {
            X509_STORE_add_cert(SSL_CTX_get_cert_store(context), authority)
            X509_free(authority)
            count += 1
        }
        let reason = openSSLReason()
        guard count > 0 else { throw .unusablePEM(what: "certificate authorities", reason: reason) }
    }

    deinit { SSL_CTX_free(context) }

    /// Looks up the algorithms of TLS, which OpenSSL does once a process, also for others that use it, as libcurl does.
    ///
    /// It takes most of the time of the first connection's set-up. May be
    /// called on any thread, beside other uses.
    package static func prepare() {
        SSL_CTX_free(SSL_CTX_new(TLS_client_method()))
        ERR_clear_error()
    }
}

/// The rules that both ends share.
private func newContext(_ method: OpaquePointer?) throws(TLSError) -> OpaquePointer {
    guard let context = SSL_CTX_new(method) else {
        throw .engineFailed(operation: "make a TLS context", reason: openSSLReason())
    }
    copenssl_never_ask(context)
    let mode =
        Int(SSL_MODE_ENABLE_PARTIAL_WRITE) | Int(SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER)
        | Int(SSL_MODE_RELEASE_BUFFERS)
    copenssl_set_mode(context, mode)
    guard copenssl_set_minimum_version(context, TLS1_2_VERSION) == 1,
        SSL_CTX_set_cipher_list(context, "ECDHE+AESGCM:ECDHE+CHACHA20") == 1
    else {
        SSL_CTX_free(context)
        throw .engineFailed(operation: "set up a TLS context", reason: openSSLReason())
    }
    return context
}
