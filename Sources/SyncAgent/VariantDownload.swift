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

    /// What is in place already, and what must come.
    struct Needs: Sendable {
        /// A verified file for a digest.
        var sources: [Digest: String] = [:]
        var missing: [ManifestFile] = []

        /// Bytes still to be fetched.
        var fetched: UInt64 = 0

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
                    needs.fetched += file.length
                    let partial = try Durable.kind(of: incoming(file.sha256))
                    if case .file(let length, _)? = partial {
                        needs.disk += file.length - min(length, file.length)
                    } else {
                        needs.disk += file.length
                    }
                }
            }
        } catch {
            throw SyncError(error)
        }
        return needs
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
        try Durable.removeFile(path)
        return false
    }

    /// Fetches what is missing, one file after the other.
    ///
    /// - Returns: A verified file for each digest, and the bytes that came over the network.
    func run(
        _ needs: Needs,
        from locations: [RepositoryLocation],
        peers: Peers,
        progress: @escaping @Sendable (UInt64) -> Void
    ) async throws(SyncError) -> (sources: [Digest: String], received: UInt64) {
        var sources = needs.sources
        var received: UInt64 = 0
        var before: UInt64 = 0
        for file in needs.missing {
            let subject = "\(model), \(file.path)"
            do throws(FetchError) {
                let blocks = try await blockList(of: file, from: locations, peers.fetcher)
                let download = BlobDownload(
                    name: subject,
                    digest: file.sha256,
                    length: file.length,
                    blocks: blocks,
                    path: incoming(file.sha256)
                )
                let start = before
                received += try await peers.blobs.bytesReceived(for: download, from: locations) {
                    progress(start + $0)
                }
            } catch {
                throw SyncError(error, subject)
            }
            before += file.length
            progress(before)
            sources[file.sha256] = incoming(file.sha256)
        }
        return (sources, received)
    }

    /// The signed list of a file's block digests, a blob of its own.
    private func blockList(
        of file: ManifestFile,
        from locations: [RepositoryLocation],
        _ fetcher: any Fetching
    ) async throws(FetchError) -> BlockList? {
        guard let blocks = file.blocks else { return nil }
        var failure = FetchError.outage(.absent, url: "\(file.path)")
        for location in locations {
            let url = location.blob(blocks.list.sha256)
            do throws(FetchError) {
                let limit = ByteCount(rawValue: blocks.list.length)
                guard
                    case .bytes(let bytes, _) = try await fetcher.fetch(
                        FetchRequest(url: url, maximumLength: limit)
                    )
                else {
                    failure = .outage(.absent, url: url)
                    continue
                }
                let found = SHA256.digest(of: bytes)
                guard found == blocks.list.sha256 else {
                    failure = .refused(.digest(expected: blocks.list.sha256, found: found), url: url)
                    continue
                }
                if let list = try? BlockList(bytes, fileLength: file.length) { return list }
                failure = .refused(.malformedAnswer(detail: "a block list of another length"), url: url)
            } catch {
                failure = error
            }
        }
        throw failure
    }
}
