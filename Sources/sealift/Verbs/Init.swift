import Arguments
import Blobs
import CanonicalJSON
import Durable
import Names
import Publishing
import Registry
import RegistryAPI
import RegistryStoreSQLite
import Signing
import TLS

/// Creates a registry, its keys, and the configuration that lets the next commands do without options.
struct Init: Command {
    static let spec = CommandSpec(
        name: "init",
        summary: "Create a registry, its keys, and the configuration of its first client",
        positions: [.required("DIR")],
        options: [
            .value("profile", "NAME", "solo (the default), team or regulated: thresholds and lifetimes"),
            .value("namespace", "NS", "a namespace to create, with a key and a token to publish in it"),
            .value("owner", "NAME", "who owns the namespace, for people"),
            .value(
                "host",
                "NAME",
                "a host name or address that clients will use, besides localhost",
                repeatable: true
            ),
            .value(
                "listen",
                "ADDRESS:PORT",
                "where ‘serve’ will listen; clients are told its port, 8443 unless given"
            ),
            .value("keys", "KEYDIR", "where private keys go; never inside DIR"),
        ] + SharedOption.secrets + [SharedOption.json],
        example: "sealift init registry --profile solo --namespace vision",
        discussion:
            "Keys go to KEYDIR, ~/.config/sealift/keys unless given, and the client's configuration to "
            + "client.json beside it. Keep KEYDIR away from the machine that serves: whoever has it can release."
    )

    static func run(_ arguments: ParsedArguments, _ context: Context) async throws -> ExitCode {
        let plan = try NewRegistry(arguments, context)
        let layout = plan.layout
        let unfinished = UnfinishedInit(layout)
        if try unfinished.clear() { Output.note("an earlier ‘init’ was stopped; what it left was deleted") }
        guard try Durable.kind(of: layout.database) == nil else {
            throw Failure(
                .usage,
                "\(plan.layout.directory) is a registry already; ‘init’ never overwrites one"
            )
        }
        try plan.checkNothingIsInTheWay()
        if let other = try unfinished.other(in: plan.clientFolder) {
            throw UsageError.refused(
                "the ‘init’ of \(other), which uses \(plan.clientFolder) too, was stopped before its end; run it "
                    + "again, or give this registry a folder of its own: --keys OTHER/keys"
            )
        }
        try Durable.makeDirectory(layout.directory, mode: 0o755)
        try Durable.makeDirectory(plan.keys, mode: 0o700)
        try unfinished.begin(plan.paths, client: plan.clientFolder)
        for folder in [layout.keys, layout.tls] { try Durable.makeDirectory(folder, mode: 0o700) }

        var passphrase = try plan.passphrase.readIfGiven(for: "the new keys")
        defer { wipe(&passphrase) }
        let online = try KeyFile.create(layout.onlineKey, .ed25519, passphrase: nil)
        let log = try KeyFile.create(layout.logKey, .ed25519, passphrase: nil)
        let roots = try plan.makeKeys("root", plan.profile.rootKeys, passphrase)
        let targets = try plan.makeKeys("targets", plan.profile.targetsKeys, passphrase)
        var grants: [RegistryCreation.NamespaceGrant] = []
        if let namespace = plan.namespace {
            let key = try KeyFile.create("\(plan.keys)/\(namespace).pem", .ecdsaP256, passphrase: passphrase)
            grants = [.init(namespace: namespace, keys: [key.publicKey], owner: plan.owner)]
        }

        let store = try SQLiteRegistryStore.create(path: layout.database, now: context.now)
        _ = try FolderBlobStore(directory: layout.blobs)
        try await Registry.create(
            RegistryCreation(
                profile: plan.profile,
                rootSigners: roots,
                targetsSigners: targets,
                onlineSigner: online,
                logOrigin: "\(plan.hosts.first ?? "localhost")/log",
                logKey: log.publicKey,
                namespaces: grants,
                now: context.now
            ),
            in: store
        )
        if let listen = plan.listen { try Durable.writeAtomically(layout.listen, Array("\(listen)\n".utf8)) }
        try Certificates(layout).create(hosts: plan.hosts, now: context.now)
        try await plan.writeClient(of: store, context)
        try unfinished.end(client: plan.clientFolder)
        report(plan, arguments, tokensUntil: plan.tokenExpiry(context))
        return .done
    }

    private static func report(_ plan: NewRegistry, _ arguments: ParsedArguments, tokensUntil end: UnixTime) {
        if arguments.has("json") {
            let report = JSONReport([
                "directory": .text(plan.layout.directory), "keys": .text(plan.keys),
                "client": .text(plan.clientFile), "root": .text(plan.rootFile), "ca": .text(plan.caFile),
                "tokens_until": .text("\(end)"),
            ])
            Output.result(bytes: report.bytes)
            return
        }
        Output.result("registry   \(plan.layout.directory)")
        Output.result("keys       \(plan.keys) (keep them away from the machine that serves)")
        Output.result("client     \(plan.clientFile)")
        Output.result(
            "tokens     valid until \(end); then: sealift token create \(plan.layout.directory) FILE"
        )
        Output.result("for devices")
        Output.result("           \(plan.rootFile), the trust root: sync --root")
        Output.result("           \(plan.caFile), who vouches for the server: sync --ca")
        // The default address is reached from this machine alone.
        let listen =
            plan.listen == nil && plan.hosts.contains { $0 != "localhost" } ? " --listen 0.0.0.0:8443" : ""
        Output.note("next: sealift serve \(plan.layout.directory)\(listen)")
        if let namespace = plan.namespace {
            Output.note(
                "then: sealift publish MODEL.onnx --model \(namespace)/NAME --version 1.0.0 --channel stable"
            )
        }
        if plan.profile != .solo {
            Output.note(
                "all root keys are in one place now; move them to their holders before you rely on them"
            )
        }
    }
}

/// What a call of `init` decided.
private struct NewRegistry {
    let layout: RegistryLayout
    let profile: RegistryProfile
    let namespace: Namespace?
    let owner: OwnerName?
    let hosts: [String]
    let listen: String?

    /// What clients put behind the host.
    let port: Int
    let keys: String
    let passphrase: Passphrase

    init(_ arguments: ParsedArguments, _ context: Context) throws(UsageError) {
        layout = RegistryLayout(context.absolute(arguments.positions[0]))
        let profile = arguments["profile"] ?? "solo"
        guard let profile = RegistryProfile(rawValue: profile) else {
            throw .badValue(profile, of: "--profile", expected: "solo, team or regulated")
        }
        self.profile = profile
        namespace = try arguments["namespace"].map { text throws(UsageError) in
            try Words.namespace(text, of: "--namespace")
        }
        owner = try Words.owner(arguments)
        hosts = arguments.all("host")
        // Looked at before anything is written: what is half made could not be made again.
        for host in hosts where !DevelopmentCA.canName(host) || host.hasPrefix("*") {
            throw .badValue(host, of: "--host", expected: "a DNS name or a numeric address")
        }
        listen = arguments["listen"]
        port = try listen.map { text throws(UsageError) in try Serve.listenAddress(text).port } ?? 8_443
        guard port > 0 else {
            throw .badValue(listen ?? "", of: "--listen", expected: "a port that clients can be told, not 0")
        }
        keys = context.absolute(arguments["keys"] ?? context.configurationDirectory + "/keys")
        passphrase = try Passphrase(arguments)
        guard !"\(keys)/".hasPrefix("\(layout.directory)/") else {
            throw .refused(
                "--keys \(keys) is inside the registry; keys must not lie where the registry is served"
            )
        }
    }

    /// Thirty days, in seconds.
    private static let tokenLifetime: Int64 = 30 * 86_400

    func tokenExpiry(_ context: Context) -> UnixTime { context.now.adding(seconds: Self.tokenLifetime) }

    var clientFolder: String { Durable.parent(of: keys) }
    var clientFile: String { clientFolder + "/client.json" }
    var rootFile: String { clientFolder + "/root.json" }
    var caFile: String { clientFolder + "/ca.pem" }
    var tokenFile: String { keys + "/token" }
    var administratorTokenFile: String { keys + "/administrator-token" }

    /// Everything that is written, so that it can be cleared away when this call is stopped.
    var paths: [String] {
        let halves = (signingKeyFiles + [layout.onlineKey, layout.logKey]).flatMap { [$0, $0 + ".pub"] }
        let database = ["", "-wal", "-shm"].map { layout.database + $0 }
        let certificates = [
            layout.caKey, layout.caCertificate, layout.hosts, layout.serverKey, layout.serverCertificate,
            layout.listen,
        ]
        return halves + database + certificates + [layout.blobs] + clientFiles
    }

    private var clientFiles: [String] { [tokenFile, administratorTokenFile, clientFile, rootFile, caFile] }

    private var signingKeyFiles: [String] {
        let named = namespace.map { ["\($0).pem"] } ?? []
        return (keyNames("root", profile.rootKeys) + keyNames("targets", profile.targetsKeys) + named)
            .map { "\(keys)/\($0)" }
    }

    /// Refuses before anything is written what would stop half-way, and what would replace another registry's files.
    func checkNothingIsInTheWay() throws {
        let blobs = try Durable.kind(of: layout.blobs) == nil ? [] : [layout.blobs]
        for file in signingKeyFiles + [layout.onlineKey, layout.logKey] + clientFiles + blobs
        where try Durable.kind(of: file) != nil {
            throw UsageError.refused(
                "\(file) is there already, of another registry perhaps, and is never overwritten; "
                    + "give this registry a folder of its own: --keys OTHER/keys"
            )
        }
    }

    private func keyNames(_ role: String, _ count: Int) -> [String] {
        count == 1 ? ["\(role).pem"] : (1...count).map { "\(role)-\($0).pem" }
    }

    /// `root.pem`, or `root-1.pem` and so on when the profile asks for several.
    func makeKeys(_ role: String, _ count: Int, _ passphrase: [UInt8]?) throws -> [SoftwareKey] {
        try keyNames(role, count).map { name in
            try KeyFile.create("\(keys)/\(name)", .ecdsaP256, passphrase: passphrase)
        }
    }

    /// Copies root and CA to the client's folder, makes its token, and writes the configuration that names them.
    func writeClient(of store: SQLiteRegistryStore, _ context: Context) async throws {
        guard let root = try store.newest("root") else {
            throw Failure(.internalError, "the new registry has no root; nothing was published")
        }
        try Durable.writeAtomically(rootFile, root.bytes)
        let ca = try Durable.readFile(layout.caCertificate, maximum: .kibibytes(64))
        try Durable.writeAtomically(caFile, ca)
        let host = hosts.first ?? "localhost"
        let authority = host.contains(":") ? "[\(host)]" : host
        var client = ClientConfiguration(registries: ["https://\(authority):\(port)/"])
        client.root = rootFile
        client.ca = caFile
        client.keys = keys
        if let namespace {
            try await writeToken(.publish(namespace), to: tokenFile, in: store, context)
            client.tokenFile = tokenFile
        }
        try await writeToken(.administer, to: administratorTokenFile, in: store, context)
        client.administratorTokenFile = administratorTokenFile
        try Durable.writeAtomically(clientFile, client.relative(to: clientFolder).bytes)
    }

    private func writeToken(
        _ scope: Token.Scope,
        to file: String,
        in store: SQLiteRegistryStore,
        _ context: Context
    ) async throws {
        let token = Token(
            scope: scope,
            label: "init",
            expires: tokenExpiry(context)
        )
        let secret = try await Registry.issueToken(token, in: store, now: context.now)
        try Durable.writeAtomically(file, Array("\(secret)\n".utf8), mode: 0o600)
    }
}
