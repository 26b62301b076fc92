package import Durable
package import Names

/// Why a blob was not stored or given out.
package enum BlobError: Error, Equatable, Sendable {
    /// A refusal: more bytes came than were announced.
    case tooLong(Digest, announced: UInt64)

    /// A refusal: the bytes ended before the announced length.
    case tooShort(Digest, announced: UInt64, received: UInt64)

    /// A refusal: the bytes are not those of the announced digest.
    case digestMismatch(expected: Digest, found: Digest)

    /// The upload failed or was abandoned before; it must begin anew.
    case uploadEnded(Digest)

    /// An outage: the disk or the user's quota has no room for so many bytes.
    case full(directory: String, needed: UInt64)

    /// An outage: the file system refused.
    case failed(DurableError)
}

extension BlobError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .tooLong(let digest, let announced):
            "refused the blob \(digest): more bytes came than the \(announced) announced"
        case .tooShort(let digest, let announced, let received):
            "refused the blob \(digest): it ended after \(received) of \(announced) bytes; send it again"
        case .digestMismatch(let expected, let found):
            "refused the blob \(expected): the bytes received have the digest \(found);"
                + " the file changed since it was digested, or was damaged on the way"
        case .uploadEnded(let digest):
            "the upload of the blob \(digest) has ended; begin it anew"
        case .full(let directory, let needed):
            "no room for \(needed) bytes in \(directory); free some space and try again"
        case .failed(let error):
            "the blob store failed: \(error)"
        }
    }
}
