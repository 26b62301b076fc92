import Durable
import Names

/// Puts a file together from bytes that nobody has vouched for, and knows what is proved.
///
/// One thread works on it at a time: the one that writes while a stream runs,
/// the one that decides between streams.
protocol Assembly: Sendable {
    /// Bytes whose digests held; for a file without a block list, bytes taken in.
    var proved: UInt64 { get }

    /// Bytes whose digests held; for a file without a block list none until its end.
    var verified: UInt64 { get }

    /// The fewest bytes that can be proved at once.
    var unit: UInt64 { get }

    /// The bytes to ask for next, starting where a block starts, or `nil` when all are proved.
    var wanted: Range<UInt64>? { get }

    /// Where a server that sends the whole file may be stopped.
    var end: UInt64 { get }

    /// Proves again what an earlier attempt left in the file.
    ///
    /// - Parameter goesOn: Asked now and then; `false` stops early.
    /// - Throws: What the disk refused.
    func resume(while goesOn: () -> Bool) throws(DurableError)

    /// Takes what is the same, at the same place, in a file that nobody vouches for either.
    ///
    /// - Parameters:
    ///   - path: The other file; one that cannot be read has nothing to give.
    ///   - goesOn: As above.
    /// - Throws: What the disk refused.
    func reuse(_ path: String, while goesOn: () -> Bool) throws(DurableError)

    /// A stream begins.
    func begin()

    /// Takes a piece that does not cross a multiple of 1 MiB.
    ///
    /// - Returns: `false` when the stream should stop.
    func take(_ position: UInt64, _ bytes: UnsafeRawBufferPointer) -> Bool

    /// A stream has ended.
    ///
    /// - Returns: Whether it brought bytes that were wrong.
    /// - Throws: What the disk refused.
    func settle() throws(DurableError) -> Bool

    /// Forgets what could not be proved, where that is possible.
    ///
    /// - Returns: `false` when there was nothing to forget.
    func startAgain() throws(DurableError) -> Bool

    /// What stayed wrong though it was fetched more than `times` times.
    func persistentFault(after times: Int) -> FetchRefusal?
}
