import Durable
import Manifest
import Names
import Signing
import Transfer

/// What of a file will have to come, for a dry run, which answers as the sync after it would.
extension VariantDownload {
    /// Bytes that are fetched whatever the device has: all that is missing where that can be known, else the least.
    ///
    /// - Parameters:
    ///   - file: That is not there whole.
    ///   - relatives: Files that may have some of its blocks.
    /// - Returns: Bytes, its block list included.
    /// - Throws: What the disk refused.
    func unspared(_ file: ManifestFile, _ relatives: [String]?) throws(DurableError) -> UInt64 {
        let here = try Durable.kind(of: incoming(file.sha256)) == nil ? nil : incoming(file.sha256)
        guard let list = file.blocks?.list else {
            let there = here.flatMap { try? FileSource($0) }?.length ?? 0
            // One that is as long and wrong starts again.
            return there < file.length ? file.length - there : file.length
        }
        guard let digests = knownList(list, of: file) else {
            guard here == nil else { return list.length }
            guard let relatives, !relatives.isEmpty else { return list.length + file.length }
            // Every other file differs in at least one block, and the last is the smallest.
            return list.length + smallestBlock(of: file)
        }
        let sources = ([here].compactMap { $0 } + (relatives ?? [])).compactMap { try? FileSource($0) }
        let blocks = (0..<digests.plan.blockCount).map { digests.plan.range(ofBlock: $0) }
        return zip(blocks.indices, blocks).reduce(0) { sum, block in
            let digest = digests.digest(ofBlock: UInt64(block.0))
            let isHere = sources.contains { has(digest, $0, at: block.1) }
            return sum + (isHere ? 0 : UInt64(block.1.count))
        }
    }

    private func has(_ digest: Digest?, _ source: FileSource, at range: Range<UInt64>) -> Bool {
        guard let digest, range.upperBound <= source.length,
            let bytes = try? source.bytes(at: range.lowerBound, count: range.count)
        else { return false }
        return SHA256.digest(of: bytes) == digest
    }

    private func smallestBlock(of file: ManifestFile) -> UInt64 {
        guard let plan = BlockPlan.for(length: file.length) else { return file.length }
        return UInt64(plan.range(ofBlock: plan.blockCount - 1).count)
    }

    /// The block list, if an earlier sync got it.
    private func knownList(_ list: BlobReference, of file: ManifestFile) -> BlockDigests? {
        guard let source = try? FileSource(incoming(list.sha256)), source.length == list.length,
            (try? SHA256.digest(ofFile: source.descriptor)) == list.sha256
        else { return nil }
        return try? BlockDigests(source, fileLength: file.length)
    }
}
