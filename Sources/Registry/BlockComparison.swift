import Blobs
import Glibc
import Manifest
import Names
import Signing

/// Reads a file and its list of blocks, and checks that both describe the same bytes.
///
/// A device proves a file by its blocks, everybody else by its digest. A
/// publisher that signed two different things under one name would otherwise
/// be found out only on devices.
struct BlockComparison {
    let blobs: any BlobStore

    /// Blocks, until the file has been read whole.
    func check(_ file: UnprovenFile) throws(RegistryError) {
        let list: BlockList
        do {
            let bytes = try read(whole: file.proof.list, path: file.path)
            list = try BlockList(bytes, fileLength: file.length)
        } catch let error as RegistryError {
            throw error
        } catch {
            throw .blockList(path: file.path, reason: "\(error)")
        }
        guard list.plan.blockSize == file.proof.blockSize else {
            throw .blockList(
                path: file.path,
                reason: "expected blocks of \(list.plan.blockSize) bytes, found \(file.proof.blockSize)"
            )
        }
        let blob = try open(file.proof.file, path: file.path)
        defer { close(blob.descriptor) }
        for index in 0..<list.plan.blockCount {
            let range = list.plan.range(ofBlock: index)
            let block = try read(blob.descriptor, range, path: file.path)
            guard SHA256.digest(of: block) == list.digest(ofBlock: index) else {
                throw .blockList(
                    path: file.path,
                    reason: "block \(index) of file \(file.proof.file) is not the one in list "
                        + "\(file.proof.list); make the list from the file again"
                )
            }
        }
    }

    private func read(whole digest: Digest, path: String) throws(RegistryError) -> [UInt8] {
        let blob = try open(digest, path: path)
        defer { close(blob.descriptor) }
        let limit = Limits.file.rawValue / BlockPlan.greatestBlock * BlockPlan.digestLength
        guard blob.length <= limit else {
            throw .tooLarge(
                what: "\(path): its list of blocks",
                found: ByteCount(rawValue: blob.length),
                limit: ByteCount(rawValue: limit)
            )
        }
        return try read(blob.descriptor, 0..<blob.length, path: path)
    }

    private func open(
        _ digest: Digest,
        path: String
    ) throws(RegistryError) -> (descriptor: Int32, length: UInt64) {
        let blob: (descriptor: Int32, length: UInt64)?
        do { blob = try blobs.open(digest) } catch { throw .storage(reason: "\(error)") }
        guard let blob else { throw .missingBlob(digest: digest, path: path) }
        return blob
    }

    private func read(
        _ descriptor: Int32,
        _ range: Range<UInt64>,
        path: String
    ) throws(RegistryError) -> [UInt8] {
        let wanted = Int(range.upperBound - range.lowerBound)
        let bytes = [UInt8](unsafeUninitializedCapacity: wanted) { buffer, filled in
            filled = 0
            while filled < wanted {
                let place = off_t(range.lowerBound) + off_t(filled)
                let got = pread(descriptor, buffer.baseAddress?.advanced(by: filled), wanted - filled, place)
                if got < 0 && errno == EINTR { continue }
                guard got > 0 else { break }
                filled += got
            }
        }
        guard bytes.count == wanted else {
            throw .damaged(what: "a blob of \(path)", reason: "it ends or cannot be read at its full length")
        }
        return bytes
    }
}
