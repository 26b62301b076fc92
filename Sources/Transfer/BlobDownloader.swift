/// Downloads files and proves them as they arrive.
package struct BlobDownloader: Sendable {
    private let configuration: TransferConfiguration

    package init(configuration: TransferConfiguration) { self.configuration = configuration }

    /// Gets a file, whole and proved, from the first location that can give it.
    ///
    /// Ends with the bytes on the disk at `download.path`. On an outage or a
    /// full disk what was proved so far stays there for the next call.
    ///
    /// - Parameters:
    ///   - download: What, and where to.
    ///   - locations: Where from, tried in turn.
    ///   - progress: Told the bytes proved so far (received, for a file without
    ///     a block list); never goes backwards. Called from another thread.
    /// - Returns: The receipt.
    /// - Throws: ``FetchError``.
    package func download(
        _ download: BlobDownload,
        from locations: [RepositoryLocation],
        progress: @escaping @Sendable (UInt64) -> Void = { _ in }
    ) async throws(FetchError) -> BlobReceipt {
        throw .outage(.other(detail: "not there yet"), url: download.name)
    }
}
