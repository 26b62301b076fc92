import Arguments
import Blobs
import Blocking
import Durable
import Glibc
import HTTPServer
import Names
import Publishing
import Registry
import RegistryHTTP
import RegistryStoreSQLite
import TLS

/// The registry: serves devices and publishers until it is told to stop.
struct Serve: Command {
    static let spec = CommandSpec(
        name: "serve",
        summary: "Serve a registry to publishers and devices",
        positions: [.required("DIR")],
        options: [
            .value(
                "listen",
                "ADDRESS:PORT",
                "where to listen; unless given as ‘init’ was told, else 127.0.0.1:8443; port 0 picks one",
                environment: "SEALIFT_LISTEN"
            )
        ],
        example: "sealift serve registry --listen 0.0.0.0:8443",
        discussion:
            "SIGTERM lets requests in flight finish and ends; SIGHUP reads the certificate again. Put nginx or "
            + "a CDN in front for the open internet."
    )

    /// Between two looks at what has to be signed again.
    private static let renewalSeconds = 60.0

    static func run(_ arguments: ParsedArguments, _ context: Context) async throws -> ExitCode {
        raiseFileLimit()
        let layout = RegistryLayout(context.absolute(arguments.positions[0]))
        try layout.checkFinished()
        let (address, port) = try listenAddress(
            arguments["listen"] ?? layout.storedListen() ?? "127.0.0.1:8443"
        )
        let store = try SQLiteRegistryStore.open(path: layout.database, now: context.now)
        _ = try layout.onlineSigners()
        let blobs = try FolderBlobStore(directory: layout.blobs)
        try sweep(blobs)
        let registry = try Registry(
            store: store,
            blobs: blobs,
            onlineKeys: layout.onlineKeys
        )
        let certificates = Certificates(layout)
        try certificates.renewIfDue(now: context.now)
        do { _ = try await registry.refreshOnline(now: context.now) } catch {
            // The next root must still be able to come in.
            guard case .rootExpired = error else { throw error }
            Output.note("\(error)")
        }

        let tls = try certificates.tls()
        let server = try HTTPServer(
            configuration: HTTPServerConfiguration(address: address, port: port, tls: tls),
            service: RegistryService(
                registry: registry,
                now: { @Sendable in Context.clock() },
                log: { @Sendable line in Output.note(line) }
            )
        )
        let host = address.contains(":") ? "[\(address)]" : address
        Output.result("https://\(host):\(server.port)/")
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await server.run() }
            group.addTask { await renew(registry, blobs, certificates, server) }
            group.addTask { await obey(Signals.requests(), certificates, server) }
            _ = try await group.next()
            group.cancelAll()
        }
        Output.note("drained; the registry is closed")
        return .done
    }

    /// Signs again what is due, every minute, so that no device ever meets an expired timestamp here.
    private static func renew(
        _ registry: Registry,
        _ blobs: FolderBlobStore,
        _ certificates: Certificates,
        _ server: HTTPServer
    ) async {
        while !Task.isCancelled {
            guard (try? await Blocking.sleep(seconds: renewalSeconds)) != nil else { return }
            do {
                let now = Context.clock()
                _ = try await registry.refreshOnline(now: now)
                try await BlockingPool.shared.run { () throws(BlobError) in try sweep(blobs) }
                if try certificates.renewIfDue(now: now) { server.reload(tls: try certificates.tls()) }
            } catch { Output.note("could not sign again: \(Failure(describing: error).line)") }
        }
    }

    /// Deletes what uploads left behind that a crash cut off; none that runs is silent for a day.
    private static func sweep(_ blobs: FolderBlobStore) throws(BlobError) {
        let swept = try blobs.sweep(olderThan: Context.clock().adding(seconds: -86_400))
        if swept > 0 { Output.note("\(swept) unfinished uploads from before a crash were deleted") }
    }

    private static func obey(
        _ requests: AsyncStream<Signals.Request>,
        _ certificates: Certificates,
        _ server: HTTPServer
    ) async {
        for await request in requests {
            switch request {
            case .drain: server.drain()
            case .reload:
                do {
                    server.reload(tls: try certificates.tls())
                    Output.note("the certificate was read again")
                } catch { Output.note("the old certificate stays: \(Failure(describing: error).line)") }
            }
        }
    }

    /// One descriptor a connection: takes all that the system grants this process.
    private static func raiseFileLimit() {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        limit.rlim_cur = limit.rlim_max
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }

    /// Reads `ADDRESS:PORT`.
    static func listenAddress(_ text: String) throws(UsageError) -> (address: String, port: Int) {
        let expected = "ADDRESS:PORT such as 127.0.0.1:8443 or [::1]:8443"
        guard let colon = text.lastIndex(of: ":"), let port = Int(text[text.index(after: colon)...]),
            (0...65_535).contains(port)
        else { throw .badValue(text, of: "--listen", expected: expected) }
        var address = text[..<colon]
        if address.hasPrefix("[") && address.hasSuffix("]") { address = address.dropFirst().dropLast() }
        guard !address.isEmpty else { throw .badValue(text, of: "--listen", expected: expected) }
        return (String(address == "localhost" ? "127.0.0.1" : address), port)
    }
}
