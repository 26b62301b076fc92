import Names
import Synchronization

/// Counts what is read, so that a test can say how much a reader looked at, and how much at once.
final class CountingSource: ByteSource {
    private let source: any ByteSource & Sendable
    private let count = Mutex<UInt64>(0)
    private let largest = Mutex<UInt64>(0)

    init(_ source: any ByteSource & Sendable) { self.source = source }

    var length: UInt64 { source.length }

    var bytesRead: UInt64 { count.withLock { $0 } }

    /// The most that one read asked for, which is memory.
    var largestRead: UInt64 { largest.withLock { $0 } }

    func bytes(at offset: UInt64, count: Int) throws(ByteSourceError) -> [UInt8] {
        self.count.withLock { $0 += UInt64(count) }
        largest.withLock { $0 = max($0, UInt64(count)) }
        return try source.bytes(at: offset, count: count)
    }
}

/// A file with a hole of zeros in it, as large as one likes.
struct HollowSource: ByteSource {
    let head: [UInt8]
    let hole: UInt64
    let tail: [UInt8]

    var length: UInt64 { UInt64(head.count) + hole + UInt64(tail.count) }

    func bytes(at offset: UInt64, count: Int) throws(ByteSourceError) -> [UInt8] {
        guard offset + UInt64(count) <= length else {
            throw .outOfBounds(offset: offset, count: count, length: length)
        }
        let tailStart = UInt64(head.count) + hole
        return (offset..<offset + UInt64(count)).map { index in
            if index < UInt64(head.count) { return head[Int(index)] }
            return index < tailStart ? 0 : tail[Int(index - tailStart)]
        }
    }
}
