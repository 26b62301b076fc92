import Durable
import Names
import Transfer
import Trust

/// What the three commands do.
struct Client {
    private let invocation: Invocation
    private let now: UnixTime
    private let store: FolderMetadataStore
    private let fetcher: CurlFetcher

    /// The root that `init` was given: every update starts from it and never from what the network brought.
    private static let pinnedRoot = "root_history/pinned.root.json"

    init(_ invocation: Invocation, now: UnixTime) {
        self.invocation = invocation
        self.now = now
        let directory = invocation.metadataDirectory
        store = FolderMetadataStore(directory: directory, maximumLength: invocation.targetsLimit)
        var configuration = TransferConfiguration()
        configuration.allowsPlainLoopback = true
        configuration.certificateAuthority = invocation.certificateAuthority
        fetcher = CurlFetcher(configuration: configuration)
    }

    func run(_ command: Invocation.Command) async throws {
        // One process at a time changes the folder; the others wait.
        let lock = try DirectoryLock("\(invocation.metadataDirectory)/.lock", waiting: 60)
        defer { withExtendedLifetime(lock) {} }
        switch command {
        case .initialise(let trustedRoot): try initialise(trustedRoot)
        case .refresh: _ = try await refreshed()
        case .download: try await download()
        }
    }

    private func initialise(_ trustedRoot: String) throws {
        let bytes = try Durable.readFile(trustedRoot, maximum: Limits.root)
        _ = try Untrusted<RootDocument>(bytes).verifiedByItself()
        if let pinned = try store.load(Self.pinnedRoot) {
            guard pinned == bytes else {
                throw Refusal.pinnedToAnother(directory: invocation.metadataDirectory)
            }
            return
        }
        try store.save(RoleName.root.fileName, bytes)
        try store.save(Self.pinnedRoot, bytes)
    }

    private func refreshed() async throws -> MetadataUpdater {
        guard let anchor = try store.load(Self.pinnedRoot) else {
            throw Refusal.notInitialised(directory: invocation.metadataDirectory)
        }
        var updater = MetadataUpdater(
            anchor: anchor,
            store: store,
            fetcher: fetcher,
            mirrors: Mirrors([
                RepositoryLocation(
                    metadataBase: invocation.metadataURL ?? "",
                    targetBase: invocation.targetBaseURL ?? ""
                )
            ]),
            now: now,
            policy: .plainTUF,
            targetsLimit: invocation.targetsLimit,
            keepsRoots: false
        )
        try await updater.refresh()
        return updater
    }

    private func download() async throws {
        var updater = try await refreshed()
        for name in invocation.targetNames {
            let path = TargetPath(name)
            guard let file = try await updater.target(path) else { throw Refusal.noSuchTarget(name) }
            guard let url = updater.location(of: path, file) else { throw Refusal.leadsOutside(name) }
            try await fetcher.download(
                file,
                from: url,
                to: "\(invocation.targetDirectory ?? ".")/\(path.fileName)"
            )
        }
    }
}
