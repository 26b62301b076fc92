import Durable
import Generations
import Manifest
import Names
import Signing
import Transfer

/// Gets the files of one variant into `incoming/`, or finds them on the device.
struct VariantDownload: Sendable {
    let model: ModelName
    let content: Variant
    let device: DeviceDirectory

    /// The active version of the same model, whose unchanged files are used again.
    let active: ActiveModel?

    /// Whole files of this version itself, where it is in place and damaged.
    var present: [Digest: String] = [:]

    /// Where it is in place and damaged, each file that is there, whole or not.
    var damaged: [FilePath: String] = [:]

    /// Whether what is found wrong is put away at once.
    var mode = SyncMode.activate

    /// What is in place already, and what must come.
    struct Needs: Sendable {
        /// A verified file for a digest.
        var sources: [Digest: String] = [:]
        var missing: [ManifestFile] = []

        /// Files that may have some blocks of a missing one.
        var relatives: [Digest: [String]] = [:]

        /// Bytes still to be fetched.
        var fetched: UInt64 = 0

        /// Of these and their block lists, what nothing on the device can spare it, as far as is known; for a dry run.
        var unspared: UInt64 = 0

        /// Bytes of disk still to be filled, copies of unchanged files included.
        var disk: UInt64 = 0
    }

    func incoming(_ digest: Digest) -> String { "\(device.incomingPath)/\(digest.hex)" }

    /// Looks at the disk; blocks.
    func needs() throws(SyncError) -> Needs {
        var needs = Needs()
        var seen: Set<Digest> = []
        do throws(DurableError) {
            for file in content.files where seen.insert(file.sha256).inserted {
                if let own = active?.content.files.first(where: { $0.sha256 == file.sha256 }), let active {
                    needs.sources[file.sha256] = active.path(of: own.path)
                    needs.disk += file.length
                } else if let own = present[file.sha256] {
                    needs.sources[file.sha256] = own
                    needs.disk += file.length
                } else if try isComplete(file) {
                    needs.sources[file.sha256] = incoming(file.sha256)
                } else {
                    needs.missing.append(file)
                    needs.relatives[file.sha256] = relatives(of: file)
                    needs.fetched += file.length
                    if mode == .dryRun { needs.unspared += try unspared(file, needs.relatives[file.sha256]) }
                    needs.disk += try unallocated(file.sha256, file.length)
                    if let list = file.blocks?.list {
                        needs.disk += try unallocated(list.sha256, list.length)
                    }
                }
            }
            // Where a file cannot have two names, each is copied out of `incoming/`.
            if needs.fetched > 0, mode == .activate, !device.hasHardLinks() { needs.disk += needs.fetched }
        } catch {
            throw SyncError(error)
        }
        return needs
    }

    /// What a file still takes: its length, without what an earlier attempt wrote or reserved.
    private func unallocated(_ digest: Digest, _ length: UInt64) throws(DurableError) -> UInt64 {
        length - min(length, try Durable.allocated(at: incoming(digest)))
    }

    /// Files of the device that may have some of the file's blocks: itself, damaged, and what it was before.
    private func relatives(of file: ManifestFile) -> [String] {
        guard file.blocks != nil else { return [] }
        var paths = damaged[file.path].map { [$0] } ?? []
        if let active {
            let isEntry = file.path == content.entry
            let before = active.content.files.first { $0.path == file.path }
            if before != nil || isEntry { paths.append(active.path(of: before?.path ?? active.entry)) }
        }
        return paths
    }

    /// Whether an earlier sync got the file and was stopped before it could install it.
    ///
    /// Such a file is read-only. It is proved again, and goes when it is not right:
    /// it may be linked from elsewhere, so it is never written to.
    private func isComplete(_ file: ManifestFile) throws(DurableError) -> Bool {
        let path = incoming(file.sha256)
        guard case .file(let length, let mode)? = try Durable.kind(of: path), mode & 0o222 == 0 else {
            return false
        }
        if length == file.length, let source = try? FileSource(path),
            (try? SHA256.digest(ofFile: source.descriptor)) == file.sha256
        {
            return true
        }
        if self.mode == .activate { try Durable.removeFile(path) }
        return false
    }

    /// Fetches what is missing, one file after the other.
    ///
    /// - Returns: A verified file for each digest.
    func run(
        _ needs: Needs,
        from locations: [RepositoryLocation],
        blobs: any BlobFetching,
        received: @escaping @Sendable (UInt64) -> Void,
        progress: @escaping @Sendable (UInt64) -> Void
    ) async throws(SyncError) -> [Digest: String] {
        var sources = needs.sources
        var before: UInt64 = 0
        for file in needs.missing {
            let subject = "\(model), \(file.path)"
            do throws(FetchError) {
                let blocks = try await blockList(of: file, subject, from: locations, blobs, received)
                let download = BlobDownload(
                    name: subject,
                    digest: file.sha256,
                    length: file.length,
                    blocks: blocks,
                    path: incoming(file.sha256),
                    relatives: needs.relatives[file.sha256] ?? []
                )
                let start = before
                try await blobs.receive(download, from: locations, received: received) {
                    progress(start + $0)
                }
            } catch {
                throw SyncError(error, subject)
            }
            before += file.length
            progress(before)
            sources[file.sha256] = incoming(file.sha256)
        }
        return sources
    }

    /// The signed list of a file's block digests, a blob of its own that stays beside the partial file.
    private func blockList(
        of file: ManifestFile,
        _ subject: String,
        from locations: [RepositoryLocation],
        _ blobs: any BlobFetching,
        _ received: @escaping @Sendable (UInt64) -> Void
    ) async throws(FetchError) -> BlockDigests? {
        guard let list = file.blocks?.list else { return nil }
        let path = incoming(list.sha256)
        let download = BlobDownload(
            name: "the block list of \(subject)",
            digest: list.sha256,
            length: list.length,
            blocks: nil,
            path: path
        )
        try await blobs.receive(download, from: locations, received: received) { _ in }
        do throws(DurableError) {
            let source = try FileSource(path)
            if let digests = try? BlockDigests(source, fileLength: file.length) { return digests }
        } catch {
            throw .storage(error)
        }
        let detail = "a block list of \(list.length) bytes for a file of \(file.length)"
        throw .refused(.malformedAnswer(detail: detail), url: "\(subject)")
    }
}

extension Variant {
    /// Everything that may lie in `incoming/` for this variant: its files and their block lists.
    var blobs: [Digest] { files.flatMap { [$0.sha256] + ($0.blocks.map { [$0.list.sha256] } ?? []) } }
}
