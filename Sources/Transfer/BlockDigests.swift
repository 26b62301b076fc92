import Blocking
package import Manifest
package import Names

/// The signed digests of a file's blocks, read from their list as they are needed.
///
/// A list of a large file has up to 32 MiB; 64 KiB of it are in memory.
package final class BlockDigests: Sendable {
    package let plan: BlockPlan
    private let list: any ByteSource & Sendable
    private let window = Guarded<(start: UInt64, bytes: [UInt8])>((0, []))

    private static let windowLength: UInt64 = 64 << 10

    /// - Parameters:
    ///   - list: 32 bytes a block; that they are the signed ones is for the caller to know.
    ///   - fileLength: Of the file that it describes.
    /// - Throws: `ManifestError.blockList` unless the length is that of the file's plan.
    package init(_ list: any ByteSource & Sendable, fileLength: UInt64) throws(ManifestError) {
        let plan = BlockPlan.for(length: fileLength)
        guard let plan, plan.listLength == list.length else {
            throw .blockList(expected: plan?.listLength ?? 0, found: list.length)
        }
        self.plan = plan
        self.list = list
    }

    /// The digest of block `index`; `nil` past the end, and for a list that cannot be read any more.
    package func digest(ofBlock index: UInt64) -> Digest? {
        guard index < plan.blockCount else { return nil }
        let start = index * BlockPlan.digestLength
        return window.withLock { window in
            if start < window.start || start >= window.start + UInt64(window.bytes.count) {
                let first = start / Self.windowLength * Self.windowLength
                let count = Int(min(Self.windowLength, plan.listLength - first))
                guard let bytes = try? list.bytes(at: first, count: count) else { return nil }
                window = (first, bytes)
            }
            let offset = Int(start - window.start)
            return Digest(bytes: Array(window.bytes[offset..<offset + Int(BlockPlan.digestLength)]))
        }
    }
}
