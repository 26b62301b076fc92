import Durable
import Names
import Signing
import Transfer
import Trust

/// The small signed documents: `live.json`, settings, holds, manifests; each fetched once and kept by its digest.
struct TargetContents: Sendable {
    private let store: any MetadataStore
    private let fetcher: any Fetching
    private let mirrors: Mirrors

    init(store: any MetadataStore, fetcher: any Fetching, mirrors: Mirrors) {
        self.store = store
        self.fetcher = fetcher
        self.mirrors = mirrors
    }

    static func name(of digest: Digest) -> String { "targets/\(digest.hex)" }

    /// The bytes of a target, proved against what a role signed of it.
    ///
    /// - Throws: `SyncError`, when no location gave the right bytes: a refusal rather than an outage.
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
        var failure: SyncError?
        func note(_ error: SyncError, _ location: RepositoryLocation) {
            if failure == nil || failure?.kind == .temporary { failure = error }
            mirrors.failed(location, error.message, asked: error.retryAfter.map { Double($0) })
        }
        for location in mirrors.inOrder {
            let url = location.target(path.description, digest: digest)
            do throws(FetchError) {
                let request = FetchRequest(url: url, maximumLength: ByteCount(rawValue: file.length))
                guard case .bytes(let bytes, _) = try await fetcher.fetch(request) else {
                    let text = "\(url) is missing at the server, although it is signed; try again"
                    note(SyncError(code: .missingAtServer, text), location)
                    continue
                }
                if file.describes(bytes) {
                    mirrors.succeeded(location)
                    return bytes
                }
                let found = SHA256.digest(of: bytes)
                let text =
                    "\(url): the bytes have SHA-256 \(found), but \(digest) is signed; tell the registry's operator"
                note(SyncError(code: .bytes, text), location)
            } catch {
                if case .cancelled = error { throw SyncError(error, path.description) }
                note(SyncError(error, path.description), location)
            }
        }
        throw failure ?? SyncError(.temporary, "\(path): no registry to ask")
    }
}
