import Arguments
import Blocking
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
    private let asks: Authority
    private let configuration: ClientConfiguration?
    private let arguments: ParsedArguments
    private let context: Context

    /// In whose place a command asks the registry.
    enum Authority {
        case publisher, administrator
    }

    init(_ arguments: ParsedArguments, _ context: Context, asking asks: Authority = .publisher) throws {
        self.asks = asks
        self.arguments = arguments
        self.context = context
        configuration = try Self.configuration(arguments, context)
        let given = arguments.all("registry")
        registries = given.isEmpty ? configuration?.registries ?? [] : given
        allowsPlainLoopback = arguments.has("allow-plain-loopback")
    }

    /// The client configuration; `nil` when there is none, or the file named is a device's.
    static func configuration(
        _ arguments: ParsedArguments,
        _ context: Context
    ) throws -> ClientConfiguration? {
        let file = arguments["config"] ?? context.configurationDirectory + "/client.json"
        let bytes = try Durable.readFileIfPresent(file, maximum: .kibibytes(64))
        guard bytes != nil || arguments["config"] == nil else {
            throw Failure(code: .place, "\(file) is not there; ‘sealift init’ writes a client configuration")
        }
        guard let bytes, !AgentFile.claims(bytes) else { return nil }
        do throws(PublishingError) {
            return try ClientConfiguration(bytes, folder: Durable.parent(of: context.absolute(file)))
        } catch {
            throw Failure(code: .configuration, "\(file): \(error)")
        }
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

    /// What the file says, whatever the options say.
    var configuredRoot: String? { configuration?.root }
    var configuredCA: String? { configuration?.ca }

    var caFile: String? { arguments["ca"] ?? configuration?.ca }

    /// The token to show: the one given, else the administrators' if it is theirs to ask, else the publisher's.
    var tokenFile: String? {
        if let given = arguments["token-file"] { return given }
        let administrator = configuration?.administratorTokenFile
        return asks == .administrator ? administrator ?? configuration?.tokenFile : configuration?.tokenFile
    }

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
    func updater() throws -> MetadataUpdater { try updater(now: context.now, policy: .sealift) }

    private func updater(now: UnixTime, policy: TrustPolicy) throws -> MetadataUpdater {
        let anchor = try Durable.readFile(try rootFile(), maximum: Limits.root)
        let name = SHA256.digest(of: anchor).hex.prefix(16)
        return MetadataUpdater(
            anchor: anchor,
            store: FolderMetadataStore(directory: "\(stateFolder)/trust/\(name)"),
            fetcher: try fetcher(),
            repository: try location(),
            now: now,
            policy: policy
        )
    }

    /// What a publisher builds on.
    func verifiedRegistry() throws -> VerifiedRegistry {
        VerifiedRegistry(
            updater: try updater(),
            renewing: try updater(now: UnixTime(rawValue: 0), policy: .plainTUF),
            fetcher: try fetcher(),
            location: try location()
        )
    }

    func registryClient() throws -> RegistryClient { RegistryClient(try fetcher(), at: try location()) }

    /// The keys that can sign: those named by `option` and `--signer-command`, else those of the folder of keys.
    func keyRing(_ option: String = "key") async throws -> KeyRing {
        let named = arguments.all(option) + arguments.all("signer-command").map { "command:" + $0 }
        let folder = configuration?.keys
        guard !named.isEmpty || folder != nil else {
            throw UsageError.refused("no key to sign with; give --\(option) FILE or command:PROGRAM")
        }
        let passphrase = try Passphrase(arguments)
        return try await BlockingPool.shared.run { () throws(PublishingError) -> KeyRing in
            try KeyRing(named, folder: folder) { file throws(PublishingError) in
                try passphrase.read(for: file)
            }
        }
    }

    private var stateFolder: String {
        if let file = arguments["config"] { return Durable.parent(of: context.absolute(file)) }
        return context.configurationDirectory
    }
}
