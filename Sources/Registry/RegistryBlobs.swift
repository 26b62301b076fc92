import Blobs
import Blocking
package import Names

extension Registry {
    /// Seconds that an uploaded or found blob stays without a manifest that needs it.
    fileprivate static let lease: Int64 = 24 * 3_600

    /// The blobs that are still to be uploaded; those that are here stay for a day.
    ///
    /// One that was recorded and is gone from the store, or has another length
    /// there, is missing too: publishing it again puts it right.
    package func missing(of digests: [Digest], now: UnixTime) async throws(RegistryError) -> [Digest] {
        let unknown = Set(try await store.lease(digests, until: now.adding(seconds: Self.lease)))
        return try await BlockingPool.shared.run { () throws(RegistryError) -> [Digest] in
            var missing: [Digest] = []
            for digest in digests {
                let isHere = unknown.contains(digest) ? false : try isWhole(digest)
                if !isHere { missing.append(digest) }
            }
            return missing
        }
    }

    /// Whether the store has the blob that was recorded; its bytes are not read.
    func isWhole(_ digest: Digest) throws(RegistryError) -> Bool {
        guard let length = blobs.length(of: digest) else { return false }
        return try store.blobLength(digest) == length
    }

    /// Begins to receive a blob; `nil` when it is here already.
    ///
    /// - Throws: `.tooLarge`, `.storage`.
    package func receive(
        _ digest: Digest,
        length: UInt64,
        now: UnixTime
    ) async throws(RegistryError) -> BlobReception? {
        guard ByteCount(rawValue: length) <= Limits.file else {
            throw .tooLarge(what: "blob \(digest)", found: ByteCount(rawValue: length), limit: Limits.file)
        }
        let missing = try await missing(of: [digest], now: now)
        guard !missing.isEmpty else { return nil }
        let blobs = blobs
        let upload = try await BlockingPool.shared.run { () throws(RegistryError) -> BlobUpload in
            do throws(BlobError) {
                return try blobs.beginUpload(expecting: digest, length: length)
            } catch {
                throw RegistryError(error)
            }
        }
        return BlobReception(upload: upload, store: store)
    }

    /// A blob for a reader; its row decides whether it is there, its bytes come from the blob store.
    package func openBlob(_ digest: Digest) throws(RegistryError) -> (descriptor: Int32, length: UInt64)? {
        guard try store.blobLength(digest) != nil else { return nil }
        do throws(BlobError) {
            return try blobs.open(digest)
        } catch {
            throw RegistryError(error)
        }
    }
}

/// A blob on its way in: checked while it is received, recorded when it is whole.
package struct BlobReception: Sendable {
    private let upload: BlobUpload
    private let store: any RegistryStore

    init(upload: BlobUpload, store: any RegistryStore) {
        self.upload = upload
        self.store = store
    }

    package func write(_ bytes: [UInt8]) async throws(RegistryError) {
        let upload = upload
        try await BlockingPool.shared.run { () throws(RegistryError) in
            var failure: BlobError?
            bytes.withUnsafeBytes { buffer in
                do throws(BlobError) {
                    try upload.write(buffer)
                } catch {
                    failure = error
                }
            }
            if let failure { throw RegistryError(failure) }
        }
    }

    /// The row is written after the file is durable: a row never says more than the disk.
    package func finish(now: UnixTime) async throws(RegistryError) {
        let upload = upload
        try await BlockingPool.shared.run { () throws(RegistryError) in
            do throws(BlobError) {
                try upload.finish()
            } catch {
                throw RegistryError(error)
            }
        }
        try await store.recordBlob(
            upload.digest,
            length: upload.length,
            lease: now.adding(seconds: Registry.lease),
            now: now
        )
    }

    package func abandon() { upload.abandon() }
}

extension RegistryError {
    init(_ error: BlobError) {
        switch error {
        case .tooLong(let digest, _), .tooShort(let digest, _, _), .digestMismatch(let digest, _):
            self = .digestMismatch(expected: digest, reason: "\(error)")
        case .uploadEnded, .full, .failed: self = .storage(reason: "\(error)")
        }
    }
}
