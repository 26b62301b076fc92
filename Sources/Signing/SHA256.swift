import COpenSSL
import Glibc
package import Names

/// SHA-256 (FIPS 180-4) of things that are already there; ``DigestStream`` takes them as they come.
package enum SHA256 {
    package static func digest(of bytes: [UInt8]) -> Digest {
        var stream = DigestStream()
        stream.update(bytes)
        return stream.finish()
    }

    /// Digests a whole file from its first byte, whatever the descriptor's position, which stays.
    ///
    /// - Parameter descriptor: Open for reading; stays open.
    /// - Returns: The digest of every byte up to the end that the last read found.
    /// - Throws: `SigningError.unreadable` when a read fails.
    package static func digest(ofFile descriptor: Int32) throws(SigningError) -> Digest {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 4_096)
        defer { buffer.deallocate() }
        var stream = DigestStream()
        var offset: off_t = 0
        while true {
            let count = pread(descriptor, buffer.baseAddress, buffer.count, offset)
            if count < 0 {
                guard errno == EINTR else { throw .unreadable(code: errno) }
                continue
            }
            guard count > 0 else { return stream.finish() }
            stream.update(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            offset += off_t(count)
        }
    }
}

/// SHA-512 (FIPS 180-4), for metadata that names it.
package enum SHA512 {
    package static func digest(of bytes: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: 64)
        let done = EVP_Digest(bytes, bytes.count, &digest, nil, EVP_sha512(), nil)
        precondition(done == 1, "OpenSSL has no SHA-512")
        return digest
    }
}

/// A SHA-256 digest of bytes that come in pieces.
// Sendable because it has one owner at a time, and every change needs exclusive access to it.
package struct DigestStream: ~Copyable, @unchecked Sendable {
    private let context: UnsafeMutablePointer<SHA256_CTX>

    package init() {
        guard let context = copenssl_sha256_new() else { preconditionFailure("there is no memory left") }
        self.context = context
    }

    deinit { copenssl_sha256_free(context) }

    package mutating func update(_ bytes: [UInt8]) {
        copenssl_sha256_update(context, bytes, bytes.count)
    }

    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress else { return }
        copenssl_sha256_update(context, start, bytes.count)
    }

    package consuming func finish() -> Digest {
        var bytes = [UInt8](repeating: 0, count: 32)
        copenssl_sha256_final(context, &bytes)
        guard let digest = Digest(bytes: bytes) else { preconditionFailure("a digest has 32 bytes") }
        return digest
    }
}

/// A SHA-512 digest of bytes that come in pieces.
package struct SHA512Stream: ~Copyable {
    private let context: OpaquePointer

    package init() {
        guard let context = EVP_MD_CTX_new(), EVP_DigestInit_ex(context, EVP_sha512(), nil) == 1 else {
            preconditionFailure("OpenSSL has no SHA-512, or there is no memory left")
        }
        self.context = context
    }

    deinit { EVP_MD_CTX_free(context) }

    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        EVP_DigestUpdate(context, bytes.baseAddress, bytes.count)
    }

    package consuming func finish() -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 64)
        let done = EVP_DigestFinal_ex(context, &bytes, nil)
        precondition(done == 1, "OpenSSL could not finish a digest")
        return bytes
    }
}

/// HMAC with SHA-256 (RFC 2104), 32 bytes.
package func hmacSHA256(key: [UInt8], message: [UInt8]) -> [UInt8] {
    var code = [UInt8](repeating: 0, count: 32)
    let done = HMAC(EVP_sha256(), key, Int32(key.count), message, message.count, &code, nil)
    precondition(done != nil, "OpenSSL has no HMAC")
    return code
}

/// Bytes that nobody can guess, from OpenSSL's generator.
///
/// - Precondition: The system gives randomness; going on without would be worse than stopping.
package func randomBytes(_ count: Int) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    guard count > 0 else { return bytes }
    let done = RAND_bytes(&bytes, Int32(count))
    precondition(done == 1, "the system gives no randomness")
    return bytes
}
