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
        if configuration == nil, let file = try Self.deviceFile(arguments, context) {
            throw Failure(
                code: .configuration,
                "\(file) is an agent.json, for ‘sync’ on a device; this command takes a client.json, which "
                    + "‘sealift init’ writes: --config FILE"
            )
        }
        let given = arguments.all("registry")
        registries = given.isEmpty ? configuration?.registries ?? [] : given
        allowsPlainLoopback = arguments.has("allow-plain-loopback")
    }

    /// The client configuration; `nil` when there is none, or the file named is a device's.
    static func configuration(
        _ arguments: ParsedArguments,
        _ context: Context
    ) throws -> ClientConfiguration? {
        let file = file(arguments, context)
        let bytes = try Durable.readFileIfPresent(file, maximum: AgentFile.maximumLength)
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

    /// The configuration's path, when what lies there is a device's.
    private static func deviceFile(_ arguments: ParsedArguments, _ context: Context) throws -> String? {
        let file = file(arguments, context)
        let bytes = try Durable.readFileIfPresent(file, maximum: AgentFile.maximumLength)
        return bytes.map(AgentFile.claims) == true ? file : nil
    }

    private static func file(_ arguments: ParsedArguments, _ context: Context) -> String {
        arguments["config"] ?? context.configurationDirectory + "/client.json"
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

    /// The newest root that was seen from the pinned one, as stored.
    var newestRoot: [UInt8]? {
        guard let anchor = try? anchor() else { return nil }
        return (try? FolderMetadataStore(directory: trustFolder(anchor)).load("root.json")) ?? nil
    }

    private func trustFolder(_ anchor: [UInt8]) -> String {
        "\(stateFolder)/trust/\(SHA256.digest(of: anchor).hex.prefix(16))"
    }

    /// The registry that commands talk to; mirrors only serve reads.
    func location() throws -> RepositoryLocation {
        guard let first = registries.first else {
            throw UsageError.refused("no registry; give --registry URL, or run ‘sealift init’ first")
        }
        try RegistryURL.check(first, allowsPlainLoopback: allowsPlainLoopback)
        return RepositoryLocation(base: first)
    }

    /// What talks to the registry.
    ///
    /// For writing the token must be there; reading goes without one that is elsewhere.
    func fetcher(writing isWriting: Bool = false) throws -> CurlFetcher {
        var transfer = TransferConfiguration()
        transfer.certificateAuthority = caFile
        transfer.allowsPlainLoopback = allowsPlainLoopback
        if let tokenFile, let origin = registries.first,
            let bytes = try tokenBytes(tokenFile, writing: isWriting)
        {
            let token = String(decoding: bytes.prefix { $0 > 0x20 && $0 < 0x7F }, as: UTF8.self)
            guard !token.isEmpty else {
                throw Failure(code: .token, "\(tokenFile) is empty; ‘sealift token create’ writes a token")
            }
            transfer.credential = Credential(origin: origin, token: token)
        }
        return CurlFetcher(configuration: transfer)
    }

    /// What the token's file holds; a reader goes without one that the call does not name and that cannot be read.
    private func tokenBytes(_ file: String, writing isWriting: Bool) throws -> [UInt8]? {
        do {
            return try named(file, as: tokenMember) { () throws(DurableError) in
                try Durable.readFile(file, maximum: .kibibytes(4), privacy: .ownerOnly)
            }
        } catch {
            guard isWriting || arguments["token-file"] != nil else { return nil }
            throw error
        }
    }

    /// Where ``tokenFile`` was named.
    private var tokenMember: String? {
        guard arguments["token-file"] == nil else { return nil }
        return asks == .administrator && configuration?.administratorTokenFile != nil
            ? "administrator_token_file" : "token_file"
    }

    /// Reads a file that the configuration may name, and says so when it is not there.
    private func named<Value>(
        _ path: String,
        as member: String?,
        _ read: () throws(DurableError) -> Value
    ) throws -> Value {
        do { return try read() } catch {
            guard let member else { throw error }
            throw Failure(code: error.code, "\(error); \(configurationFile) names it, as ‘\(member)’")
        }
    }

    private var configurationFile: String { Self.file(arguments, context) }

    /// Follows the registry's chain from the pinned root; remembers what it has seen, for rollback.
    func updater() throws -> MetadataUpdater {
        try updater(now: context.now, policy: .sealift, fetcher: try fetcher())
    }

    /// The pinned root's bytes; what is plainly another file is told by its name.
    private func anchor() throws -> [UInt8] {
        let file = try rootFile()
        let bytes = try named(file, as: arguments["root"] == nil ? "root" : nil) { () throws(DurableError) in
            try Durable.readFile(file, maximum: Limits.root)
        }
        let what =
            bytes.isEmpty ? "is empty" : bytes.starts(with: Array("-----BEGIN".utf8)) ? "is a PEM file" : nil
        if let what {
            throw Failure(
                code: .configuration,
                "\(file) \(what); the trust root is the root.json that the registry's operator hands out"
            )
        }
        return bytes
    }

    private func updater(
        now: UnixTime,
        policy: TrustPolicy,
        fetcher: CurlFetcher
    ) throws -> MetadataUpdater {
        let anchor = try anchor()
        return MetadataUpdater(
            anchor: anchor,
            store: FolderMetadataStore(directory: trustFolder(anchor)),
            fetcher: fetcher,
            mirrors: try Mirrors([location()]),
            now: now,
            policy: policy
        )
    }

    /// What a publisher builds on.
    func verifiedRegistry(writing isWriting: Bool = false) throws -> VerifiedRegistry {
        let fetcher = try fetcher(writing: isWriting)
        return VerifiedRegistry(
            updater: try updater(now: context.now, policy: .sealift, fetcher: fetcher),
            renewing: try updater(now: UnixTime(rawValue: 0), policy: .plainTUF, fetcher: fetcher),
            fetcher: fetcher,
            location: try location()
        )
    }

    func registryClient(writing isWriting: Bool = true) throws -> RegistryClient {
        RegistryClient(try fetcher(writing: isWriting), at: try location(), tokenFile: tokenFile)
    }

    /// The keys that can sign: those named by `option` and `--signer-command`, else those of the folder of keys.
    func keyRing(_ option: String = "key") async throws -> KeyRing {
        let named = arguments.all(option) + arguments.all("signer-command").map { "command:" + $0 }
        let folder = configuration?.keys
        guard !named.isEmpty || folder != nil else {
            throw UsageError.refused("no key to sign with; give --\(option) FILE or command:PROGRAM")
        }
        if named.isEmpty, let folder, try Durable.kind(of: folder) == nil {
            throw UsageError.refused(
                "the folder of keys \(folder), which \(configurationFile) names as ‘keys’, is not there; give "
                    + "--\(option) FILE or command:PROGRAM"
            )
        }
        let passphrase = try Passphrase(arguments)
        return try await BlockingPool.shared.run { () throws(PublishingError) -> KeyRing in
            try KeyRing(named, folder: folder, option: option) { file throws(PublishingError) in
                try passphrase.read(for: file)
            }
        }
    }

    private var stateFolder: String {
        if let file = arguments["config"] { return Durable.parent(of: context.absolute(file)) }
        return context.configurationDirectory
    }
}
