import CanonicalJSON
import Durable
import Generations
import Names
import Signing
import Transfer
import Trust

/// `pin.json` (`sealift/pin@1`): the root of trust that a device's directory began with.
///
/// A directory belongs to one chain of roots. Another registry's root would
/// verify by itself, and its models would take the place of what is active; so
/// it is refused before the first request. A note by this device to itself: it
/// only ever refuses.
struct PinnedRoot: Equatable {
    static let type = "sealift/pin@1"

    let version: Int64
    let sha256: Digest
    let registry: String

    /// The root itself, where it is to be kept.
    private let bytes: [UInt8]?

    init(_ root: Verified<RootDocument>, registry: String) {
        version = root.document.version
        sha256 = root.digest
        bytes = root.bytes
        self.registry = registry
    }

    /// Where the root is kept beside those that followed it.
    var historyName: String { "root_history/" + RoleName.root.fileName(version: version) }

    /// The root file that an operator names.
    static func bytes(ofFile path: String) throws(SyncError) -> [UInt8] {
        do throws(DurableError) { return try Durable.readFile(path, maximum: Limits.root) } catch {
            throw SyncError(
                code: error.isAbsent || error.isWrongPlace ? .place : .usage,
                "the root of trust: \(error)"
            )
        }
    }

    private static func path(in device: DeviceDirectory) -> String { "\(device.path)/pin.json" }

    static func load(from device: DeviceDirectory) -> PinnedRoot? {
        // What is no note of ours refuses nothing.
        guard let bytes = try? Durable.readFileIfPresent(path(in: device), maximum: .kibibytes(16)),
            let value = try? JSONParser.parse(bytes, maximumLength: bytes.count),
            value["type"]?.string == type, let version = value["version"]?.integer,
            let sha256 = value["sha256"]?.string.flatMap({ Digest(hex: $0) }),
            let registry = value["registry"]?.string
        else { return nil }
        return PinnedRoot(version: version, sha256: sha256, registry: registry)
    }

    private init(version: Int64, sha256: Digest, registry: String) {
        self.version = version
        self.sha256 = sha256
        self.registry = registry
        bytes = nil
    }

    func save(to device: DeviceDirectory) throws(SyncError) {
        let value: JSONValue = .members([
            "type": .text(Self.type), "version": .integer(version), "sha256": .text(sha256.hex),
            "registry": .text(registry),
        ])
        do throws(DurableError) {
            try Durable.makeWay(at: Self.path(in: device))
            try Durable.writeAtomically(Self.path(in: device), value.compactJSON)
        } catch { throw SyncError(error) }
        // For `verify` alone: a sync begins with the file that it is given.
        guard let bytes else { return }
        try? FolderMetadataStore(directory: device.trustPath).save(historyName, bytes)
    }

    /// Whether `root` belongs to the chain that the directory follows.
    ///
    /// It is the one that the directory began with, or one that it has followed
    /// since, or the next after the newest of those.
    func hasInChain(_ root: Verified<RootDocument>, _ store: any MetadataStore) -> Bool {
        if root.digest == sha256 { return true }
        let name = RoleName.root.fileName(version: root.document.version)
        let newest = (try? store.load(RoleName.root.fileName)) ?? nil
        if root.bytes == ((try? store.load("root_history/\(name)")) ?? nil) || root.bytes == newest {
            return true
        }
        guard let newest, let last = try? Untrusted<RootDocument>(newest).verifiedByItself().document,
            root.document.version == last.version + 1, let quorum = try? last.quorum(for: .root)
        else { return false }
        return (try? Untrusted<RootDocument>(root.bytes).verified(by: quorum)) != nil
    }
}

extension SyncRun {
    /// Refuses a root that belongs to another chain than the directory's.
    ///
    /// - Returns: What to note once the registry has answered; `nil` when it is noted.
    func pin(
        _ anchor: [UInt8],
        _ device: DeviceDirectory,
        _ store: any MetadataStore
    ) throws(SyncError) -> PinnedRoot? {
        let pinned = PinnedRoot.load(from: device)
        // The usual case needs no signature: the refresh verifies the same bytes anyway.
        if let pinned, SHA256.digest(of: anchor) == pinned.sha256 { return nil }
        // A file that is no root is told by the refresh.
        guard let root = try? Untrusted<RootDocument>(anchor).verifiedByItself() else { return nil }
        let given = PinnedRoot(root, registry: configuration.registries.first ?? "")
        guard let pinned else { return given }
        guard pinned.hasInChain(root, store) else {
            throw SyncError(
                .refused,
                "\(device.path) follows root \(pinned.version) (SHA-256 \(pinned.sha256.hex.prefix(16))…) of "
                    + "\(pinned.registry), but \(configuration.rootFile) is root \(given.version) (SHA-256 "
                    + "\(given.sha256.hex.prefix(16))…), of another chain; give another --directory for it, or the "
                    + "root that this one began with"
            )
        }
        return nil
    }
}
