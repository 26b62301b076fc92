import COpenSSL

/// Overwrites a secret where it lies.
///
/// Copies that the language made on the way are out of reach; whoever holds
/// the last one calls this.
package func wipe(_ secret: inout [UInt8]) {
    secret.withUnsafeMutableBytes { OPENSSL_cleanse($0.baseAddress, $0.count) }
    secret = []
}

/// Overwrites a secret where it lies, if there is one.
package func wipe(_ secret: inout [UInt8]?) {
    guard var bytes = secret else { return }
    // One owner, or the overwriting would be of a copy.
    secret = nil
    wipe(&bytes)
}
