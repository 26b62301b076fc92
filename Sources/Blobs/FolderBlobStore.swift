import Durable
import Glibc
package import Names
import Signing

/// Blobs as files in a folder.
///
/// ```
/// <directory>/<hh>/<sha256>     hh: the first two digits; mode 0444, so that a web server may read it
/// <directory>/incoming/<name>   what is being received; mode 0600, swept when left over
/// ```
package struct FolderBlobStore: BlobStore {
    /// The folder, without a slash at the end.
    package let directory: String

    private var incoming: String { "\(directory)/incoming" }

    /// Opens the store, making the folder when it is not there.
    ///
    /// - Throws: `BlobError.failed` when it cannot be made.
    package init(directory: String) throws(BlobError) {
        var directory = directory
        while directory.utf8.count > 1, directory.utf8.last == UInt8(ascii: "/") { directory.removeLast() }
        self.directory = directory
        try translating { () throws(DurableError) in
            try Durable.makeDirectory(directory)
            try Durable.makeDirectory("\(directory)/incoming", mode: 0o700)
        }
    }

    package func contains(_ digest: Digest) -> Bool { length(of: digest) != nil }

    package func length(of digest: Digest) -> UInt64? {
        guard case .file(let length, _)? = try? Durable.kind(of: place(of: digest).file) else { return nil }
        return length
    }

    package func freeSpace() throws(BlobError) -> ByteCount {
        try translating { () throws(DurableError) in try Durable.freeSpace(at: directory) }
    }

    package func beginUpload(expecting digest: Digest, length: UInt64) throws(BlobError) -> BlobUpload {
        let name = "\(digest.hex).\(Hex.text(randomBytes(8)))"
        return try BlobUpload(
            store: directory,
            incoming: "\(incoming)/\(name)",
            digest: digest,
            length: length
        )
    }

    package func open(_ digest: Digest) throws(BlobError) -> (descriptor: Int32, length: UInt64)? {
        let path = place(of: digest).file
        return try translating { () throws(DurableError) in
            let descriptor: Int32
            do throws(DurableError) {
                descriptor = try Durable.openForReading(path)
            } catch  where error.isAbsent {
                return nil
            }
            var status = stat()
            guard fstat(descriptor, &status) == 0 else {
                let error = DurableError.system("examine", path)
                close(descriptor)
                throw error
            }
            return (descriptor, UInt64(max(0, status.st_size)))
        }
    }

    package func verify(_ digest: Digest) throws(BlobError) -> BlobCondition {
        guard let (descriptor, length) = try open(digest) else { return .absent }
        defer { close(descriptor) }
        do throws(SigningError) {
            let found = try SHA256.digest(ofFile: descriptor)
            return found == digest ? .whole : .damaged(found: found, length: length)
        } catch {
            let code = if case .unreadable(let code) = error { code } else { EIO }
            throw .failed(.system(operation: "read", path: place(of: digest).file, code: code))
        }
    }

    package func remove(_ digest: Digest) throws(BlobError) {
        let place = place(of: digest)
        try translating { () throws(DurableError) in
            guard try Durable.kind(of: place.file) != nil else { return }
            try Durable.removeFile(place.file)
            try Durable.synchronizeDirectory(place.directory)
        }
    }

    /// Deletes what uploads left behind that a crash cut off.
    ///
    /// - Parameter olderThan: Files written to since then belong to uploads that may still run, and stay.
    /// - Returns: How many files went.
    /// - Throws: `BlobError.failed`.
    package func sweep(olderThan: UnixTime) throws(BlobError) -> Int {
        try translating { () throws(DurableError) in
            var swept = 0
            for name in try Durable.names(in: incoming) {
                let path = "\(incoming)/\(name)"
                var status = stat()
                guard lstat(path, &status) == 0, status.st_mtim.tv_sec < olderThan.rawValue else { continue }
                try Durable.removeFile(path)
                swept += 1
            }
            return swept
        }
    }

    private func place(of digest: Digest) -> BlobPlace { BlobPlace(store: directory, digest: digest) }
}

private func translating<Success>(
    _ body: () throws(DurableError) -> Success
) throws(BlobError) -> Success {
    do throws(DurableError) {
        return try body()
    } catch {
        throw .failed(error)
    }
}
