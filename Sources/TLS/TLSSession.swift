import COpenSSL
import Glibc

/// What one step on a session came to.
package enum TLSProgress: Equatable, Sendable {
    /// The handshake or the closing is complete.
    case done

    /// So many bytes, at least one, were read or written.
    case bytes(Int)

    /// Nothing can be done until the socket is readable; then repeat the same call.
    case wantsRead

    /// Nothing can be done until the socket is writable; then repeat the same call.
    case wantsWrite

    /// The peer said that it sends no more.
    case closed

    /// The session is of no more use, also not for closing it politely.
    case failed(reason: String)
}

/// One TLS connection over a socket that does not block.
///
/// Each call does what it can now and says what it waits for, so that one
/// thread serves many. A write that wants to be repeated may come again from
/// another buffer, but must begin with the same bytes.
///
/// The socket stays the caller's: closing the session does not close it, and
/// the session must go first. A peer that has gone never raises SIGPIPE here.
///
/// Not `Sendable`: belongs to one thread at a time.
package struct TLSSession: ~Copyable {
    private let session: OpaquePointer
    private var isBroken = false

    /// Will answer a client's handshake.
    ///
    /// - Throws: `TLSError.engineFailed` when there is no memory.
    package init(accepting context: ServerTLS, socket: Int32) throws(TLSError) {
        session = try newSession(context.context, socket)
        SSL_set_accept_state(session)
    }

    /// Will open a handshake with `host`, which the server's certificate must name.
    ///
    /// - Parameters:
    ///   - context: Whom to trust.
    ///   - socket: Connected, and not blocking.
    ///   - host: A DNS name or an IP address.
    /// - Throws: `TLSError.engineFailed` when there is no memory.
    package init(connecting context: ClientTLS, socket: Int32, host: String) throws(TLSError) {
        session = try newSession(context.context, socket)
        SSL_set_connect_state(session)
        // An address goes to the address check; only names are sent as SNI (RFC 6066, 3).
        if X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(session), host) != 1 {
            ERR_clear_error()
            SSL_set1_host(session, host)
            copenssl_set_server_name(session, host)
        }
    }

    deinit { SSL_free(session) }

    /// Goes on with the handshake; reading and writing would do so too.
    ///
    /// - Returns: `.done`, `.wantsRead`, `.wantsWrite`, `.closed` or `.failed`.
    package mutating func handshake() -> TLSProgress {
        ERR_clear_error()
        let code = SSL_do_handshake(session)
        return code == 1 ? .done : progress(after: code)
    }

    /// Reads up to `buffer.count` bytes.
    ///
    /// - Precondition: `buffer` is not empty.
    package mutating func read(into buffer: UnsafeMutableRawBufferPointer) -> TLSProgress {
        precondition(!buffer.isEmpty, "reading into nothing")
        ERR_clear_error()
        var count = 0
        let code = SSL_read_ex(session, buffer.baseAddress, buffer.count, &count)
        return code == 1 ? .bytes(count) : progress(after: code)
    }

    /// Writes some of `bytes`, from the first on.
    ///
    /// - Precondition: `bytes` is not empty.
    package mutating func write(_ bytes: UnsafeRawBufferPointer) -> TLSProgress {
        precondition(!bytes.isEmpty, "writing nothing")
        ERR_clear_error()
        var count = 0
        let code = SSL_write_ex(session, bytes.baseAddress, bytes.count, &count)
        return code == 1 ? .bytes(count) : progress(after: code)
    }

    /// Bytes that are decrypted and not yet read, for which no socket event will come any more.
    package var pendingBytes: Int { Int(SSL_pending(session)) }

    /// The protocol version agreed on, `TLSv1.3`.
    package var version: String { String(cString: SSL_get_version(session)) }

    /// Tells the peer that no more will be sent, and does not wait for its answer.
    ///
    /// - Returns: `.done`, `.wantsWrite` or `.failed`.
    package mutating func close() -> TLSProgress {
        guard !isBroken, SSL_is_init_finished(session) == 1 else { return .done }
        ERR_clear_error()
        let code = SSL_shutdown(session)
        return code >= 0 ? .done : progress(after: code)
    }

    private mutating func progress(after code: Int32) -> TLSProgress {
        let systemError = errno
        switch SSL_get_error(session, code) {
        case SSL_ERROR_WANT_READ: return .wantsRead
        case SSL_ERROR_WANT_WRITE: return .wantsWrite
        case SSL_ERROR_ZERO_RETURN: return .closed
        case SSL_ERROR_SYSCALL:
            isBroken = true
            ERR_clear_error()
            return .failed(
                reason: systemError == 0 ? "the connection ended" : String(cString: strerror(systemError))
            )
        default:
            isBroken = true
            return .failed(reason: refusalOfCertificate() ?? openSSLReason())
        }
    }

    /// Why the peer's certificate was refused, which says more than "certificate verify failed".
    private borrowing func refusalOfCertificate() -> String? {
        let result = SSL_get_verify_result(session)
        guard result != X509_V_OK, let text = X509_verify_cert_error_string(result) else { return nil }
        ERR_clear_error()
        return "certificate refused: " + String(cString: text)
    }
}

private enum SocketMethod {
    // Made once; OpenSSL reads it from every thread and nothing changes it.
    nonisolated(unsafe) static let shared = copenssl_socket_method()
}

private func newSession(_ context: OpaquePointer, _ socket: Int32) throws(TLSError) -> OpaquePointer {
    guard let method = SocketMethod.shared, let session = SSL_new(context) else {
        throw .engineFailed(operation: "make a TLS session", reason: openSSLReason())
    }
    guard let bio = copenssl_socket_new(method, socket) else {
        SSL_free(session)
        throw .engineFailed(operation: "make a TLS session", reason: openSSLReason())
    }
    SSL_set_bio(session, bio, bio)
    return session
}
