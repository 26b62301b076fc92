import Arguments
import Durable
import Glibc
import Names
import Publishing
import RegistryAPI
import Signing
import SyncAgent
import Transfer
import Trust

/// What a client command knows of its registry: configuration file first, then environment and options over it.
struct ClientSession {
    let registries: [String]
    let allowsPlainLoopback: Bool
    private let configuration: ClientConfiguration?
    private let arguments: ParsedArguments
    private let context: Context

    init(_ arguments: ParsedArguments, _ context: Context) throws {
        self.arguments = arguments
        self.context = context
        let file = arguments["config"] ?? context.configurationDirectory + "/client.json"
        let bytes = try Durable.readFileIfPresent(file, maximum: .kibibytes(64))
        guard bytes != nil || arguments["config"] == nil else {
            throw Failure(.usage, "\(file) is not there; ‘sealift init’ writes a client configuration")
        }
        configuration = try bytes.map { bytes throws(PublishingError) in
            try ClientConfiguration(bytes, folder: Durable.parent(of: context.absolute(file)))
        }
        let given = arguments.all("registry")
        registries = given.isEmpty ? configuration?.registries ?? [] : given
        allowsPlainLoopback = arguments.has("allow-plain-loopback")
    }

    /// The pinned trust root's file.
    func rootFile() throws(UsageError) -> String {
        guard let file = arguments["root"] ?? configuration?.root else {
            throw .refused(
                "no trust root; give --root FILE, the root.json that the registry's operator hands out"
            )
        }
        return file
    }

    var caFile: String? { arguments["ca"] ?? configuration?.ca }
    var tokenFile: String? { arguments["token-file"] ?? configuration?.tokenFile }

    /// The registry that commands talk to; mirrors only serve reads.
    func location() throws -> RepositoryLocation {
        guard let first = registries.first else {
            throw UsageError.refused("no registry; give --registry URL, or run ‘sealift init’ first")
        }
        try RegistryURL.check(first, allowsPlainLoopback: allowsPlainLoopback)
        return RepositoryLocation(base: first)
    }

    func fetcher() throws -> CurlFetcher {
        var transfer = TransferConfiguration()
        transfer.certificateAuthority = caFile
        transfer.allowsPlainLoopback = allowsPlainLoopback
        if let tokenFile, let origin = registries.first {
            let bytes = try Durable.readFile(tokenFile, maximum: .kibibytes(4), privacy: .ownerOnly)
            let token = String(decoding: bytes.prefix { $0 > 0x20 && $0 < 0x7F }, as: UTF8.self)
            transfer.credential = Credential(origin: origin, token: token)
        }
        return CurlFetcher(configuration: transfer)
    }

    /// Follows the registry's chain from the pinned root; remembers what it has seen, for rollback.
    func updater() throws -> MetadataUpdater {
        let anchor = try Durable.readFile(try rootFile(), maximum: Limits.root)
        let name = SHA256.digest(of: anchor).hex.prefix(16)
        return MetadataUpdater(
            anchor: anchor,
            store: FolderMetadataStore(directory: "\(stateFolder)/trust/\(name)"),
            fetcher: try fetcher(),
            repository: try location(),
            now: context.now,
            policy: .sealift
        )
    }

    /// What a publisher builds on.
    func verifiedRegistry() throws -> VerifiedRegistry {
        VerifiedRegistry(updater: try updater(), fetcher: try fetcher(), location: try location())
    }

    func registryClient() throws -> RegistryClient { RegistryClient(try fetcher(), at: try location()) }

    /// The publisher's key for a namespace.
    func signer(for namespace: Namespace) throws -> SoftwareKey {
        let file: String
        if let named = arguments["key"] {
            file = named
        } else if let keys = configuration?.keys {
            file = "\(keys)/\(namespace).pem"
        } else {
            throw UsageError.refused("no key for \(namespace); give --key FILE")
        }
        let passphrase = try Passphrase(arguments)
        return try KeyFile.read(file) { () throws(PublishingError) -> [UInt8]? in
            try passphrase.read(for: file)
        }
    }

    private var stateFolder: String {
        if let file = arguments["config"] { return Durable.parent(of: context.absolute(file)) }
        return context.configurationDirectory
    }
}
