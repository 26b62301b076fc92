package import Transfer

/// Gets one file, proved, to its place on the disk.
package protocol BlobFetching: Sendable {
    /// As `BlobDownloader.download`; `received` is told the bytes that came over the network, also before an error.
    func receive(
        _ download: BlobDownload,
        from locations: [RepositoryLocation],
        received: @escaping @Sendable (UInt64) -> Void,
        progress: @escaping @Sendable (UInt64) -> Void
    ) async throws(FetchError)
}

extension BlobDownloader: BlobFetching {
    package func receive(
        _ download: BlobDownload,
        from locations: [RepositoryLocation],
        received: @escaping @Sendable (UInt64) -> Void,
        progress: @escaping @Sendable (UInt64) -> Void
    ) async throws(FetchError) {
        _ = try await self.download(download, from: locations, received: received, progress: progress)
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
