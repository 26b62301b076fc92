import Durable
import Names
import Signing
import Transfer
import Trust

/// The small signed documents: `live.json`, settings, holds, manifests; each fetched once and kept by its digest.
struct TargetContents: Sendable {
    private let store: any MetadataStore
    private let fetcher: any Fetching
    private let locations: [RepositoryLocation]

    init(store: any MetadataStore, fetcher: any Fetching, locations: [RepositoryLocation]) {
        self.store = store
        self.fetcher = fetcher
        self.locations = locations
    }

    static func name(of digest: Digest) -> String { "targets/\(digest.hex)" }

    /// The bytes of a target, proved against what a role signed of it.
    ///
    /// - Throws: `SyncError`: the last location's, when none gave the right bytes.
    func bytes(of path: TargetPath, _ file: TargetFile) async throws(SyncError) -> [UInt8] {
        guard let digest = file.sha256 else {
            throw SyncError(
                code: .metadata,
                "\(path) is signed without a SHA-256 digest; the publisher must sign it again"
            )
        }
        guard file.length <= Limits.manifest.rawValue else {
            throw SyncError(
                code: .metadata,
                "\(path) is signed with \(file.length) bytes, the limit is \(Limits.manifest)"
            )
        }
        let name = Self.name(of: digest)
        do throws(DurableError) {
            if let stored = try store.load(name), file.describes(stored) { return stored }
        } catch {
            throw SyncError(error)
        }
        let bytes = try await fetched(path, file, digest)
        do throws(DurableError) { try store.save(name, bytes) } catch { throw SyncError(error) }
        return bytes
    }

    private func fetched(
        _ path: TargetPath,
        _ file: TargetFile,
        _ digest: Digest
    ) async throws(SyncError) -> [UInt8] {
        var failure = SyncError(.temporary, "\(path): no registry to ask")
        for location in locations {
            let url = location.target(path.description, digest: digest)
            do throws(FetchError) {
                let request = FetchRequest(url: url, maximumLength: ByteCount(rawValue: file.length))
                guard case .bytes(let bytes, _) = try await fetcher.fetch(request) else {
                    failure = SyncError(
                        code: .missingAtServer,
                        "\(url) is missing at the server, although it is signed; try again"
                    )
                    continue
                }
                if file.describes(bytes) { return bytes }
                let found = SHA256.digest(of: bytes)
                failure = SyncError(
                    code: .bytes,
                    "\(url): the bytes have SHA-256 \(found), but \(digest) is signed; tell the registry's operator"
                )
            } catch {
                failure = SyncError(error, path.description)
            }
        }
        throw failure
    }
}
