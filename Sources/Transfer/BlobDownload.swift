import Manifest
package import Names

/// A file that signed metadata describes.
package struct BlobDownload: Sendable {
    /// For people: the file's path in its model.
    package let name: String
    package let digest: Digest
    package let length: UInt64

    /// The digests of its blocks; without them the whole file is checked at its end.
    package let blocks: BlockDigests?

    /// Where the bytes go.
    ///
    /// What is there already from an earlier attempt is proved again and kept.
    package let path: String

    /// Files of this device that may hold some of the blocks, at the same place.
    ///
    /// Nothing is believed of them: a block is taken when its digest is the
    /// signed one. They are not written to.
    package let relatives: [String]

    /// - Precondition: `blocks` were read for a file of `length` bytes.
    package init(
        name: String,
        digest: Digest,
        length: UInt64,
        blocks: BlockDigests?,
        path: String,
        relatives: [String] = []
    ) {
        precondition(blocks.map { $0.plan.fileLength == length } ?? true, "the block list of another file")
        self.name = name
        self.digest = digest
        self.length = length
        self.blocks = blocks
        self.path = path
        self.relatives = relatives
    }
}

/// The proof that a download ended well.
package struct BlobReceipt: Sendable, Equatable {
    /// What proved the bytes.
    package enum Proof: Sendable { case wholeDigest, everyBlock }

    package let digest: Digest

    /// Exactly the signed length.
    package let length: UInt64
    package let proof: Proof

    /// Body bytes that came over the network, bad and repeated ones included.
    package let received: UInt64

    /// Bytes that were there from an earlier attempt and proved good.
    package let resumed: UInt64

    /// Bytes that other files of this device had.
    package let reused: UInt64
}
