/// Says how much of files may be fetched now; small metadata never asks.
///
/// Asked before each stream and told while it runs, so that a limit is met to
/// the byte and a window that closes stops what is under way.
package protocol TransferPermission: Sendable {
    /// Bytes that may come from now on.
    ///
    /// - Parameter least: With fewer there is nothing to begin.
    /// - Returns: At least that many; `nil` is no limit.
    /// - Throws: Why none may.
    func remaining(atLeast least: UInt64) throws(FetchPause) -> UInt64?

    /// Tells that bytes came.
    ///
    /// - Throws: Why no more may.
    func spend(_ bytes: UInt64) throws(FetchPause)

    /// A download has ended, well or not: what was spent may be written down.
    func settle()
}

/// Why fetching waits although everything works.
package struct FetchPause: Error, Sendable, Equatable, CustomStringConvertible {
    /// For people: the limit that is met, and when or how it goes on.
    package let description: String

    package init(_ description: String) { self.description = description }
}
