package import Names
import Signing

/// The Merkle tree of RFC 6962, 2.1, over SHA-256, grown leaf by leaf.
///
/// Kept are only the roots of the complete subtrees on the right edge, so
/// appending and taking the root need a hash for each bit of the size. The
/// root does not commit to the size: whoever stores one stores both.
package struct MerkleTree: Sendable, Equatable {
    private struct Subtree: Equatable {
        let height: Int
        let root: Digest
    }

    private var edge: [Subtree] = []
    package private(set) var size: UInt64 = 0

    package init() {}

    package init(leafHashes: some Sequence<Digest>) {
        for hash in leafHashes { append(leafHash: hash) }
    }

    /// `SHA-256(0x00 || entry)`.
    package static func leafHash(_ entry: [UInt8]) -> Digest { SHA256.digest(of: [0] + entry) }

    /// `SHA-256(0x01 || left || right)`.
    package static func node(_ left: Digest, _ right: Digest) -> Digest {
        SHA256.digest(of: [1] + left.bytes + right.bytes)
    }

    package mutating func append(leafHash: Digest) {
        var subtree = Subtree(height: 0, root: leafHash)
        while let left = edge.last, left.height == subtree.height {
            subtree = Subtree(height: left.height + 1, root: Self.node(left.root, subtree.root))
            edge.removeLast()
        }
        edge.append(subtree)
        size += 1
    }

    /// The root hash; that of the empty tree is the digest of nothing.
    package var root: Digest {
        guard var root = edge.last?.root else { return SHA256.digest(of: []) }
        for subtree in edge.dropLast().reversed() { root = Self.node(subtree.root, root) }
        return root
    }
}
