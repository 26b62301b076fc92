import Durable
import Glibc
package import Manifest
package import Names
import Signing

/// A file of the publisher's machine, read once: its length, its digest and the digests of its blocks.
package struct MeasuredFile: Sendable {
    /// Where it lies here.
    package let location: String

    /// Its entry in the manifest.
    package let entry: ManifestFile

    /// The bytes of its block list, itself a blob; `nil` for a file under 64 KiB.
    package let blockList: [UInt8]?

    /// Reads and digests a file in one pass, whole file and blocks together.
    ///
    /// - Parameters:
    ///   - location: Where it lies.
    ///   - path: Its name in the manifest.
    ///   - listed: What it was when its model was read; other bytes could be another model.
    /// - Throws: `PublishingError.file` when it cannot be read, `.unpublishable` when it changes meanwhile.
    package init(
        _ location: String,
        as path: FilePath,
        unchangedSince listed: FileState? = nil
    ) throws(PublishingError) {
        let descriptor: Int32
        do { descriptor = try Durable.openForReading(location) } catch { throw .file(error) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .file(.system("examine", location)) }
        let state = FileState(status)
        let length = state.length
        let change = "\(location) changed while it was read; publish when it is finished"
        guard listed == nil || listed == state else { throw .unpublishable(change) }
        guard length <= Limits.file.rawValue else {
            throw .unpublishable("\(location) has \(length) bytes; the most is \(Limits.file)")
        }
        let plan = BlockPlan.for(length: length)
        var whole = DigestStream()
        var blocks: [Digest] = []
        var buffer = [UInt8](repeating: 0, count: Int(plan?.blockSize ?? BlockPlan.smallestBlock))
        var rest = length
        while rest > 0 {
            let wanted = min(rest, UInt64(buffer.count))
            let count = Self.fill(&buffer, Int(wanted), from: descriptor)
            guard count == Int(wanted) else {
                throw .unpublishable(change)
            }
            let block = buffer[0..<count]
            block.withUnsafeBytes { whole.update($0) }
            if plan != nil {
                var stream = DigestStream()
                block.withUnsafeBytes { stream.update($0) }
                blocks.append(stream.finish())
            }
            rest -= wanted
        }
        var after = stat()
        guard fstat(descriptor, &after) == 0, FileState(after) == state else {
            throw .unpublishable(change)
        }

        let list: BlockList?
        do { list = plan == nil ? nil : try BlockList(blocks, fileLength: length) } catch {
            throw .unpublishable("\(location): \(error)")
        }
        self.location = location
        blockList = list?.encoded
        entry = ManifestFile(
            path: path,
            length: length,
            sha256: whole.finish(),
            blocks: list.map { list in
                let reference = BlobReference(
                    sha256: SHA256.digest(of: list.encoded),
                    length: UInt64(list.encoded.count)
                )
                return BlockListReference(size: list.plan.blockSize, list: reference)
            }
        )
    }

    /// Reads until `count` bytes are there or the file ends.
    private static func fill(_ buffer: inout [UInt8], _ count: Int, from descriptor: Int32) -> Int {
        var done = 0
        while done < count {
            let found = buffer.withUnsafeMutableBytes {
                read(descriptor, $0.baseAddress?.advanced(by: done), count - done)
            }
            if found < 0 && errno == EINTR { continue }
            guard found > 0 else { break }
            done += found
        }
        return done
    }
}
