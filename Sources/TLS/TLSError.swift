import COpenSSL

/// Why a context, a session or a certificate could not be made.
///
/// What goes wrong on a connection afterwards is a value, ``TLSProgress/failed(reason:)``.
package enum TLSError: Error, Equatable, Sendable {
    /// A refusal: the file holds no certificate chain or key that can be used.
    case unusableFile(path: String, reason: String)

    /// A refusal: the key can be read by everyone on the machine; `mode` is its permission bits.
    case exposedKey(path: String, mode: UInt32)

    /// A refusal: the key does not belong to the certificate.
    case keyMismatch(certificate: String, key: String)

    /// A refusal: the bytes are not a certificate or key in PEM.
    case unusablePEM(what: String, reason: String)

    /// A refusal: neither a DNS name nor an IP address.
    case badHost(String)

    /// An outage: OpenSSL could not do `operation`.
    case engineFailed(operation: String, reason: String)
}

extension TLSError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .unusableFile(let path, let reason):
            "cannot use \(path) for TLS: \(reason)"
        case .exposedKey(let path, let mode):
            "refusing the TLS key \(path): its mode is \(String(mode, radix: 8)), so others than its owner can read it;"
                + " \"chmod 600\" it, and replace the key if others may have seen it"
        case .keyMismatch(let certificate, let key):
            "the TLS key \(key) does not belong to the first certificate of \(certificate)"
        case .unusablePEM(let what, let reason):
            "cannot use the \(what): \(reason)"
        case .badHost(let host):
            "\"\(host)\" is neither a DNS name nor an IP address, so no certificate can be made for it"
        case .engineFailed(let operation, let reason):
            "OpenSSL could not \(operation): \(reason)"
        }
    }
}

/// The last thing OpenSSL complained about on this thread, forgetting all of it.
func openSSLReason() -> String {
    let code = ERR_peek_last_error()
    ERR_clear_error()
    guard code != 0, let text = ERR_reason_error_string(code) else { return "no reason given" }
    return String(cString: text)
}
