package import Names

/// How a file is cut into blocks, each with its own signed digest.
///
/// It follows from the length alone: 64 KiB, doubled while the list of
/// digests would exceed 1 MiB, up to 1 MiB. So publisher, registry and device
/// never have to agree on anything. A file under 64 KiB has no plan: its own
/// digest is as small a unit.
package struct BlockPlan: Equatable, Sendable {
    package static let smallestBlock: UInt64 = 64 << 10
    package static let greatestBlock: UInt64 = 1 << 20

    /// The length of a list beyond which blocks grow, in bytes.
    package static let comfortableList: UInt64 = 1 << 20

    package static let digestLength: UInt64 = 32

    package let fileLength: UInt64
    package let blockSize: UInt64
    package let blockCount: UInt64

    /// The bytes of the list: one SHA-256 digest a block.
    package var listLength: UInt64 { blockCount * Self.digestLength }

    /// The plan for a file.
    ///
    /// - Returns: `nil` for a file under 64 KiB.
    package static func `for`(length: UInt64) -> BlockPlan? {
        guard length >= smallestBlock else { return nil }
        var size = smallestBlock
        func count() -> UInt64 { length / size + (length % size == 0 ? 0 : 1) }
        while count() > comfortableList / digestLength && size < greatestBlock { size *= 2 }
        return BlockPlan(fileLength: length, blockSize: size, blockCount: count())
    }

    /// The bytes of the file that block `index` covers; the last may be short.
    ///
    /// - Precondition: `index` is below `blockCount`.
    package func range(ofBlock index: UInt64) -> Range<UInt64> {
        precondition(index < blockCount, "no such block")
        let start = index * blockSize
        return start..<min(fileLength, start + blockSize)
    }
}

/// A block list as fetched: the digests of a file's blocks, in order.
package struct BlockList: Equatable, Sendable {
    package let plan: BlockPlan
    private let bytes: [UInt8]

    /// Takes the bytes of a list for a file of `fileLength` bytes.
    ///
    /// That the list is the signed one is for the caller to know: its digest
    /// stands in the manifest.
    ///
    /// - Throws: `ManifestError.blockList` unless the length is 32 bytes a block of the plan.
    package init(_ bytes: [UInt8], fileLength: UInt64) throws(ManifestError) {
        guard let plan = BlockPlan.for(length: fileLength) else {
            throw .blockList(expected: 0, found: UInt64(bytes.count))
        }
        guard UInt64(bytes.count) == plan.listLength else {
            throw .blockList(expected: plan.listLength, found: UInt64(bytes.count))
        }
        self.plan = plan
        self.bytes = bytes
    }

    /// Puts a list together from the digests of all blocks.
    ///
    /// - Throws: `ManifestError.blockList` unless there is one for each block of the plan.
    package init(_ digests: [Digest], fileLength: UInt64) throws(ManifestError) {
        try self.init(digests.flatMap(\.bytes), fileLength: fileLength)
    }

    /// The list as it is stored and sent.
    package var encoded: [UInt8] { bytes }

    /// The digest of block `index`; `nil` past the end.
    package func digest(ofBlock index: UInt64) -> Digest? {
        guard index < plan.blockCount else { return nil }
        let start = Int(index) * Int(BlockPlan.digestLength)
        return Digest(bytes: Array(bytes[start..<start + Int(BlockPlan.digestLength)]))
    }
}
