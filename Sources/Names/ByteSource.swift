/// Bytes that can be read at any offset: a file, or memory in tests.
///
/// Readers of untrusted formats take this, so that they step over weights
/// without reading them. Synchronous; a conforming type says whether it may be
/// shared.
package protocol ByteSource {
    /// The length in bytes, fixed for the life of the source.
    var length: UInt64 { get }

    /// Reads exactly `count` bytes from `offset`.
    ///
    /// - Throws: `ByteSourceError.outOfBounds` beyond the end, `.unreadable` when the system fails.
    func bytes(at offset: UInt64, count: Int) throws(ByteSourceError) -> [UInt8]
}

/// Why a source could not give the bytes.
package enum ByteSourceError: Error, Equatable, Sendable {
    case outOfBounds(offset: UInt64, count: Int, length: UInt64)
    case unreadable(code: Int32)
}

/// Bytes in memory.
package struct MemorySource: ByteSource, Sendable {
    private let content: [UInt8]

    package init(_ content: [UInt8]) { self.content = content }

    package var length: UInt64 { UInt64(content.count) }

    package func bytes(at offset: UInt64, count: Int) throws(ByteSourceError) -> [UInt8] {
        let (end, overflow) = offset.addingReportingOverflow(UInt64(max(0, count)))
        guard !overflow, count >= 0, end <= length else {
            throw .outOfBounds(offset: offset, count: count, length: length)
        }
        return Array(content[Int(offset)..<Int(end)])
    }
}
