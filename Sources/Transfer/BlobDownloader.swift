import Blocking
import Names

/// Downloads files and proves them as they arrive.
///
/// What other files of the device have already is taken from there. One stream
/// brings the rest into a ring of 8 MiB; a second thread digests and writes it.
/// On a small machine that is faster than several streams, and memory does not
/// grow with the file.
package struct BlobDownloader: Sendable {
    private let fetcher: CurlFetcher

    package init(configuration: TransferConfiguration) {
        self.init(fetcher: CurlFetcher(configuration: configuration))
    }

    /// Shares a fetcher's connections.
    package init(fetcher: CurlFetcher) { self.fetcher = fetcher }

    /// Gets a file, whole and proved, from the first location that can give it.
    ///
    /// Ends with the bytes on the disk at `download.path`. On an outage or a
    /// full disk what was proved so far stays there for the next call.
    ///
    /// - Parameters:
    ///   - download: What, and where to.
    ///   - locations: Where from, tried in turn.
    ///   - received: Told the bytes that came over the network, once, also where an error follows.
    ///   - progress: Told the bytes proved so far; never goes backwards. Called from another thread.
    /// - Returns: The receipt.
    /// - Throws: ``FetchError``.
    package func download(
        _ download: BlobDownload,
        from locations: [RepositoryLocation],
        received: @escaping @Sendable (UInt64) -> Void = { _ in },
        progress: @escaping @Sendable (UInt64) -> Void = { _ in }
    ) async throws(FetchError) -> BlobReceipt {
        let cancellation = Cancellation()
        return try await BlockingPool.shared.run(cancelling: cancellation) {
            () throws(FetchError) -> BlobReceipt in
            let session = try DownloadSession(download, locations, fetcher, cancellation, progress)
            defer { received(session.received) }
            return try session.run()
        }
    }
}
