import COpenSSL

/// Why a key could not be read, made or used, or a file not digested.
///
/// A signature that does not hold is not an error: it is the answer `false` of
/// ``PublicKey/isValid(_:for:)``. No case carries key bytes or a passphrase.
package enum SigningError: Error, Equatable, Sendable {
    /// An outage: the system could not read the file; `code` is its `errno`.
    case unreadable(code: Int32)

    /// A refusal: the bytes are not one private key in PKCS#8 PEM.
    case notAKey(reason: String)

    /// A refusal: the key is encrypted and no passphrase came with it, or an empty one was given to encrypt by.
    case passphraseMissing

    /// A refusal: the key is encrypted with another passphrase.
    case passphraseWrong

    /// A refusal: a sound key, but of an algorithm or curve that Sealift does not use.
    case unsupportedKey(found: String)

    /// An outage: OpenSSL could not do `operation`.
    case engineFailed(operation: String, reason: String)
}

extension SigningError {
    static let noMemory = SigningError.engineFailed(
        operation: "check a signature",
        reason: "no memory is left"
    )
}

extension SigningError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .unreadable(let code):
            "cannot read the file to digest it: system error \(code)"
        case .notAKey(let reason):
            "not a private key in PKCS#8 PEM (\"-----BEGIN PRIVATE KEY-----\" or"
                + " \"-----BEGIN ENCRYPTED PRIVATE KEY-----\"): \(reason)"
        case .passphraseMissing:
            "the private key needs a passphrase and none was given"
        case .passphraseWrong:
            "the passphrase does not open the private key"
        case .unsupportedKey(let found):
            "the private key is \(found); expected Ed25519 or ECDSA P-256"
        case .engineFailed(let operation, let reason):
            "OpenSSL could not \(operation): \(reason)"
        }
    }
}

/// The last thing OpenSSL complained about on this thread, forgetting all of it.
///
/// OpenSSL queues errors for each thread, and a queue left full is taken by the
/// next TLS call for its own failure. So every failing path ends here.
func openSSLReason() -> String {
    let code = ERR_peek_last_error()
    ERR_clear_error()
    guard code != 0, let text = ERR_reason_error_string(code) else { return "no reason given" }
    return String(cString: text)
}
