package import Transfer

/// Gets one file, proved, to its place on the disk.
package protocol BlobFetching: Sendable {
    /// As `BlobDownloader.download`.
    ///
    /// - Returns: The bytes that came over the network.
    func bytesReceived(
        for download: BlobDownload,
        from locations: [RepositoryLocation],
        progress: @escaping @Sendable (UInt64) -> Void
    ) async throws(FetchError) -> UInt64
}

extension BlobDownloader: BlobFetching {
    package func bytesReceived(
        for download: BlobDownload,
        from locations: [RepositoryLocation],
        progress: @escaping @Sendable (UInt64) -> Void
    ) async throws(FetchError) -> UInt64 {
        try await self.download(download, from: locations, progress: progress).received
    }
}

/// How an agent reaches registries; tests put their own in its place.
package struct Peers: Sendable {
    let fetcher: any Fetching
    let blobs: any BlobFetching

    /// Takes receipts to the registry.
    let exchange: any APIExchanging

    /// How each registry and mirror did lately, with files of any kind.
    let standings: MirrorStandings

    /// The operator's limits on model files, where there are any.
    let permission: (any TransferPermission)?

    package init(
        fetcher: any Fetching,
        blobs: any BlobFetching,
        exchange: any APIExchanging,
        standings: MirrorStandings = MirrorStandings(),
        permission: (any TransferPermission)? = nil
    ) {
        self.fetcher = fetcher
        self.blobs = blobs
        self.exchange = exchange
        self.standings = standings
        self.permission = permission
    }
}
