import COpenSSL

/// Overwrites a secret where it lies.
///
/// Copies that the language made on the way are out of reach; whoever holds
/// the last one calls this.
package func wipe(_ secret: inout [UInt8]) {
    secret.withUnsafeMutableBytes { OPENSSL_cleanse($0.baseAddress, $0.count) }
    secret = []
}
