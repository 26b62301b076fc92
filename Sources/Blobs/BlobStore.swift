package import Names

/// Keeps bytes under their SHA-256 digest.
///
/// A blob appears whole and verified or not at all, and never changes. Calls
/// block on the disk: make them from a thread that may.
package protocol BlobStore: Sendable {
    /// Whether the blob is there.
    func contains(_ digest: Digest) -> Bool

    /// The blob's length in bytes, `nil` when it is absent.
    func length(of digest: Digest) -> UInt64?

    /// Makes room for a blob that will be exactly `length` bytes long.
    ///
    /// - Throws: `BlobError.full` when the bytes cannot fit.
    func beginUpload(expecting digest: Digest, length: UInt64) throws(BlobError) -> BlobUpload

    /// Opens a blob for reading.
    ///
    /// - Returns: A descriptor that the caller closes, and the length; `nil` when the blob is absent.
    func open(_ digest: Digest) throws(BlobError) -> (descriptor: Int32, length: UInt64)?

    /// Reads a whole blob again and compares it with its name.
    func verify(_ digest: Digest) throws(BlobError) -> BlobCondition

    /// What may still be stored.
    func freeSpace() throws(BlobError) -> ByteCount

    /// Removes a blob, durably; an absent one is no error.
    func remove(_ digest: Digest) throws(BlobError)
}

/// What reading a blob again found.
package enum BlobCondition: Equatable, Sendable {
    case whole
    case absent
    case damaged(found: Digest, length: UInt64)
}
