import CanonicalJSON
import Durable
import Manifest
import ModelFormats
import Names
import Signing
import Support
import SyncAgent
import Synchronization
import Transfer
import Trust

/// A whole registry in memory: simulated metadata, and the documents and blobs under it.
final class DeviceRegistry: Fetching, BlobFetching {
    static let url = "https://registry.test/"
    static let start = UnixTime(rawValue: 1_790_000_000)

    let metadata: RegistrySimulator

    private struct State {
        var targets: [String: [UInt8]] = [:]
        var blobs: [Digest: [UInt8]] = [:]
        var live: [ModelName: LiveDocument] = [:]
        var requests: [String] = []

        /// After how many bytes every blob is cut off.
        var cutOff: Int?
        var outage = false

        /// Why no file may be fetched.
        var pause: FetchPause?

        /// Makes the bytes of every version differ.
        var released: UInt8 = 0
    }

    private let state = Mutex(State())

    init(_ models: [String] = ["vision/detector"]) throws {
        let names = try models.map { try require(ModelName($0)) }
        var repository = try SimulatedRepository.sealift(names[0], now: Self.start)
        for model in names.dropFirst() {
            for role in [SealiftRole.live(model), .release(model)] {
                guard let parent = role.delegator, let pattern = role.pattern else { continue }
                try repository.delegate(role.roleName, by: parent.roleName, paths: [pattern])
            }
        }
        metadata = RegistrySimulator(repository)
        var settings = SettingsDocument()
        settings.grace = 10 * 86_400
        put(settings.canonical, at: SettingsDocument.targetPath, .targets)
        for model in names {
            metadata.change { repository in
                repository.roles[SealiftRole.release(model).roleName]?.targets = [:]
            }
            setLive(LiveDocument(model: model))
        }
        try publish()
    }

    // MARK: publishing

    /// Signs everything anew.
    func publish() throws { try metadata.change { try $0.publish() } }

    private func put(_ bytes: [UInt8], at path: String, _ role: SealiftRole) {
        let target = TargetPath(path)
        metadata.change { repository in
            repository.roles[role.roleName]?.targets[target] = TargetFile(of: bytes)
        }
        let url = metadata.location.target(path, digest: SHA256.digest(of: bytes))
        state.withLock { $0.targets[url] = bytes }
    }

    /// Signs other settings, and publishes.
    func change(_ settings: SettingsDocument) throws {
        put(settings.canonical, at: SettingsDocument.targetPath, .targets)
        try publish()
    }

    func setLive(_ live: LiveDocument) {
        state.withLock { $0.live[live.model] = live }
        put(live.canonical, at: live.targetPath, .live(live.model))
    }

    /// Changes what is live of a model, and publishes: every role anew, or these.
    func changeLive(
        _ model: String = "vision/detector",
        signing roles: [RoleName]? = nil,
        _ change: (LiveDocument) throws -> LiveDocument
    ) throws {
        let name = try require(ModelName(model))
        setLive(try change(try require(state.withLock { $0.live[name] })))
        try metadata.change { try $0.publish(roles) }
    }

    /// Holds a version back for a day, and publishes.
    func hold(_ manifest: ModelManifest) throws {
        let held = Hold(
            manifest: SHA256.digest(of: manifest.canonical),
            reason: "crashes",
            since: Self.start,
            until: Self.start.adding(seconds: 86_400)
        )
        let document = HoldDocument(model: manifest.model, holds: [held])
        put(document.canonical, at: document.targetPath, .hold)
        try publish()
    }

    /// Releases a version and lists it on `stable`.
    @discardableResult
    func release(
        _ version: String,
        of model: String = "vision/detector",
        width: UInt64 = 4,
        weights: Int = 64,
        signedWidth: UInt64? = nil,
        operators: UInt64 = 17,
        specification: Int64? = nil,
        checks: [JSONValue] = [],
        as format: ModelFormat = .onnx,
        rollout: Int = Listing.fullRollout,
        labels: String = "labels/en.txt"
    ) throws -> ModelManifest {
        let name = try require(ModelName(model))
        let marker: UInt8 = state.withLock { state in
            state.released += 1
            return state.released
        }
        let bytes = SmallModel.bytes(
            width: width,
            marker: marker,
            weights: weights,
            operators: operators
        )
        let signed = signedWidth.map { SmallModel.bytes(width: $0, marker: 0) } ?? bytes
        var inspection = try ModelFile.inspect(source: MemorySource(signed), name: "model.onnx")
        inspection.requires.specificationVersion = specification
        let manifest = ModelManifest(
            model: name,
            version: try require(ModelVersion(version)),
            created: Self.start,
            interface: inspection.interface,
            variants: [
                Variant(
                    name: try require(VariantName("fp32")),
                    format: format,
                    entry: try require(FilePath("model.onnx")),
                    requires: inspection.requires,
                    files: [try file("model.onnx", bytes), try file(labels, Array("cat\ndog".utf8))]
                )
            ],
            checks: checks
        )
        put(try manifest.encoded(), at: manifest.targetPath, .release(name))
        let listed = ListedVersion(version: manifest.version, manifest: SHA256.digest(of: manifest.canonical))
        let stable = try require(ChannelName("stable"))
        try changeLive(model) { try $0.adding(listed, to: stable, rollout: rollout) }
        return manifest
    }

    private func file(_ path: String, _ bytes: [UInt8]) throws -> ManifestFile {
        let digest = SHA256.digest(of: bytes)
        state.withLock { $0.blobs[digest] = bytes }
        var reference: BlockListReference?
        if let plan = BlockPlan.for(length: UInt64(bytes.count)) {
            let digests = (0..<plan.blockCount).map { index in
                let range = plan.range(ofBlock: index)
                return SHA256.digest(of: Array(bytes[Int(range.lowerBound)..<Int(range.upperBound)]))
            }
            let list = try Manifest.BlockList(digests, fileLength: plan.fileLength).encoded
            let listDigest = SHA256.digest(of: list)
            state.withLock { $0.blobs[listDigest] = list }
            let blob = BlobReference(sha256: listDigest, length: UInt64(list.count))
            reference = BlockListReference(size: plan.blockSize, list: blob)
        }
        return ManifestFile(
            path: try require(FilePath(path)),
            length: UInt64(bytes.count),
            sha256: digest,
            blocks: reference
        )
    }

    // MARK: lying

    /// Serves other bytes under a blob's address.
    func tamper(_ digest: Digest, _ change: (inout [UInt8]) -> Void) {
        state.withLock { state in
            guard var bytes = state.blobs[digest] else { return }
            change(&bytes)
            state.blobs[digest] = bytes
        }
    }

    /// Serves other bytes for every target whose address contains `part`.
    func tamperTargets(containing part: String, _ change: (inout [UInt8]) -> Void) {
        state.withLock { state in
            for url in state.targets.keys where url.contains(part) {
                change(&state.targets[url, default: []])
            }
        }
    }

    func cutOff(after bytes: Int?) { state.withLock { $0.cutOff = bytes } }
    func pause(_ reason: FetchPause?) { state.withLock { $0.pause = reason } }
    func setOutage(_ isOut: Bool) { state.withLock { $0.outage = isOut } }

    /// What was asked for since the last call, in order, without the base.
    func takeRequests() -> [String] {
        let own = state.withLock { state in
            defer { state.requests = [] }
            return state.requests
        }
        return metadata.takeRequests() + own
    }

    // MARK: answering

    func fetch(_ request: FetchRequest) async throws(FetchError) -> FetchOutcome {
        guard request.url.hasPrefix(Self.url), !state.withLock({ $0.outage }) else {
            throw .outage(.notConnected(detail: "nobody listens"), url: request.url)
        }
        if request.url.hasPrefix(Self.url + "metadata/") { return try await metadata.fetch(request) }
        let found: [UInt8]? = state.withLock { state in
            state.requests.append(String(request.url.dropFirst(Self.url.utf8.count)))
            if let target = state.targets[request.url] { return target }
            return Digest(hex: request.url.suffix(64)).flatMap { state.blobs[$0] }
        }
        guard let found else { return .absent }
        guard UInt64(found.count) <= request.maximumLength.rawValue else {
            throw .refused(.tooLong(limit: request.maximumLength, announced: nil), url: request.url)
        }
        return .bytes(found, etag: nil)
    }

    func receive(
        _ download: BlobDownload,
        from locations: [RepositoryLocation],
        received: @escaping @Sendable (UInt64) -> Void,
        progress: @escaping @Sendable (UInt64) -> Void
    ) async throws(FetchError) {
        if let pause = state.withLock({ $0.pause }) { throw .paused(pause) }
        let url =
            (locations.contains(metadata.location) ? metadata.location : locations.first)?
            .blob(download.digest) ?? ""
        let request = FetchRequest(url: url, maximumLength: ByteCount(rawValue: download.length))
        guard case .bytes(let bytes, _) = try await fetch(request) else { throw .outage(.absent, url: url) }
        let cut = state.withLock { $0.cutOff }
        do {
            let there = try Durable.readFileIfPresent(
                download.path,
                maximum: ByteCount(rawValue: download.length)
            )
            let resumed = there?.count ?? 0
            let part = cut.map { Array(bytes.prefix($0)) } ?? bytes
            try Durable.writeAtomically(download.path, part)
            received(UInt64(max(0, part.count - resumed)))
            progress(UInt64(part.count))
            guard part.count == bytes.count else {
                throw FetchError.outage(
                    .cutOff(received: UInt64(part.count), expected: download.length),
                    url: url
                )
            }
            let found = SHA256.digest(of: bytes)
            guard found == download.digest else {
                try Durable.removeFile(download.path)
                throw FetchError.refused(.digest(expected: download.digest, found: found), url: url)
            }
        } catch let error as FetchError {
            throw error
        } catch {
            throw .storage(.system(operation: "write", path: download.path, code: 5))
        }
    }
}

struct MissingValue: Error {}

func require<Value>(_ value: Value?) throws -> Value {
    guard let value else { throw MissingValue() }
    return value
}
