package import Names

/// A file that signed metadata describes.
package struct BlobDownload: Sendable {
    /// For people: the file's path in its model.
    package let name: String
    package let digest: Digest
    package let length: UInt64

    /// The digests of its blocks; without them the whole file is checked at its end.
    package let blocks: BlockList?

    /// Where the bytes go.
    ///
    /// What is there already from an earlier attempt is proved again and kept.
    package let path: String

    /// - Precondition: `blocks` were read for a file of `length` bytes.
    package init(name: String, digest: Digest, length: UInt64, blocks: BlockList?, path: String) {
        precondition(blocks.map { $0.fileLength == length } ?? true, "the block list of another file")
        self.name = name
        self.digest = digest
        self.length = length
        self.blocks = blocks
        self.path = path
    }
}

/// The SHA-256 digests of a file's blocks, in order, from a list that was itself verified.
package struct BlockList: Sendable, Equatable {
    package let blockSize: Int
    package let count: Int
    let fileLength: UInt64
    private let bytes: [UInt8]

    /// Reads a list; `nil` when the three values do not agree.
    ///
    /// - Parameters:
    ///   - bytes: 32 bytes a block.
    ///   - blockSize: A power of two from 1 KiB to 1 MiB; the last block may be shorter.
    ///   - fileLength: The signed length of the file.
    package init?(bytes: [UInt8], blockSize: Int, fileLength: UInt64) {
        guard (1 << 10...1 << 20).contains(blockSize), blockSize & (blockSize - 1) == 0 else { return nil }
        let size = UInt64(blockSize)
        let count = fileLength / size + (fileLength % size == 0 ? 0 : 1)
        guard bytes.count % 32 == 0, UInt64(bytes.count / 32) == count else { return nil }
        self.bytes = bytes
        self.fileLength = fileLength
        self.blockSize = blockSize
        self.count = bytes.count / 32
    }

    /// The raw digest of block `index`.
    ///
    /// - Precondition: There is such a block.
    func expected(_ index: Int) -> ArraySlice<UInt8> { bytes[index * 32..<index * 32 + 32] }
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
}
