import Blobs
import CanonicalJSON
import Manifest
import Names
import Registry
import RegistryAPI
import RegistryStoreSQLite
import Signing
import Support
import Trust

/// A registry with one namespace, `vision`, in a folder of its own.
struct TestRegistry {
    static let start = UnixTime(rawValue: 1_790_000_000)
    static let model = name("vision/detector")

    let scratch = Scratch()
    let root: SoftwareKey
    let targets: SoftwareKey
    let online: SoftwareKey
    let log: SoftwareKey
    let publisher: SoftwareKey
    let store: any RegistryStore
    let blobs: FolderBlobStore
    let registry: Registry
    let token: Token

    init(now: UnixTime = start) async throws {
        root = try SoftwareKey.generate(.ecdsaP256)
        targets = try SoftwareKey.generate(.ecdsaP256)
        online = try SoftwareKey.generate(.ed25519)
        log = try SoftwareKey.generate(.ed25519)
        publisher = try SoftwareKey.generate(.ecdsaP256)
        store = try SQLiteRegistryStore.create(path: scratch.path("registry.sqlite"), now: now)
        blobs = try FolderBlobStore(directory: scratch.path("blobs"))
        let creation = RegistryCreation(
            profile: .solo,
            rootSigners: [root],
            targetsSigners: [targets],
            onlineSigner: online,
            logOrigin: "registry.example/log",
            logKey: log.publicKey,
            namespaces: [
                RegistryCreation.NamespaceGrant(
                    namespace: Self.model.namespace,
                    keys: [publisher.publicKey],
                    owner: OwnerName("Vision team")
                )
            ],
            now: now
        )
        try await Registry.create(creation, in: store)
        registry = try Registry(store: store, blobs: blobs, onlineSigner: online)
        token = Token(
            scope: .publish(Self.model.namespace),
            label: "ci",
            expires: now.adding(seconds: 30 * 86_400)
        )
    }

    /// The same folder, as another process would open it.
    func reopened(now: UnixTime = start) throws -> Registry {
        let store = try SQLiteRegistryStore.open(path: scratch.path("registry.sqlite"), now: now)
        return try Registry(store: store, blobs: blobs, onlineSigner: online)
    }

    /// Everything that a refused commit must leave alone.
    func state() throws -> RegistryState {
        let versions = try store.read { view throws(RegistryError) in try view.versions() }
        return RegistryState(
            versions: versions,
            timestamp: try store.timestamp(),
            log: try store.logRows(from: 0, limit: 1_000),
            counts: try store.counts()
        )
    }

    /// Puts a blob into the store, as an upload does.
    func upload(_ bytes: [UInt8], now: UnixTime = start) async throws -> Digest {
        let digest = SHA256.digest(of: bytes)
        guard
            let reception = try await registry.receive(digest, length: UInt64(bytes.count), now: now)
        else { return digest }
        try await reception.write(bytes)
        try await reception.finish(now: now)
        return digest
    }

    func commit(_ posting: Posting, now: UnixTime = start) async throws -> CommitResponse {
        try await registry.commit(posting.request, by: .token(token), now: now)
    }
}

/// What can be seen of a registry from outside.
struct RegistryState: Equatable {
    let versions: [String: Int64]
    let timestamp: TimestampFile?
    let log: [LogRow]
    let counts: RegistryCounts
}

/// A name known to be one.
func name(_ text: String) -> ModelName {
    guard let name = ModelName(text) else { preconditionFailure("no model name: \(text)") }
    return name
}

func version(_ text: String) -> ModelVersion {
    guard let version = ModelVersion(text) else { preconditionFailure("no version: \(text)") }
    return version
}

func channel(_ text: String) -> ChannelName {
    guard let channel = ChannelName(text) else { preconditionFailure("no channel: \(text)") }
    return channel
}
