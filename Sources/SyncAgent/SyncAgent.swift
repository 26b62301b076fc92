import Blocking
import Durable
package import Names
import Transfer

/// Keeps a device's models genuine, current, compatible and whole.
///
/// One agent serves one device directory. Any number of agents and processes
/// may use the same directory at once: readers need no lock, and of several
/// syncs the later ones wait for the first and then find its work done.
public struct SyncAgent: Sendable {
    /// What is synced.
    public let configuration: SyncConfiguration
    private let peers: Peers
    private let clock: @Sendable () -> UnixTime
    private let events: @Sendable (SyncEvent) -> Void

    /// Why the registry is asked without the token that it may need.
    private var tokenFault: SyncError?

    /// Makes an agent.
    ///
    /// - Parameters:
    ///   - configuration: What to sync; checked here.
    ///   - events: Called while a sync runs, from whatever thread has something to tell.
    /// A token file that is not there, or that others can read, is not used: the
    /// registry is asked without it, so that a recall is learned wherever that
    /// needs none, and no model takes another version.
    ///
    /// - Throws: `SyncError` of kind `usage`.
    public init(
        configuration: SyncConfiguration,
        events: @escaping @Sendable (SyncEvent) -> Void = { _ in }
    ) throws(SyncError) {
        try configuration.check()
        var configuration = configuration
        var transfer = configuration.transfer()
        var tokenFault: SyncError?
        do throws(SyncError) { transfer.credential = try configuration.credential() } catch {
            tokenFault = error
            for index in configuration.models.indices { configuration.models[index].fileFault = error }
        }
        transfer.permission = DownloadPolicy(configuration, clock: { MachineClock.now })
        let fetcher = CurlFetcher(configuration: transfer)
        let peers = Peers(
            fetcher: fetcher,
            blobs: BlobDownloader(fetcher: fetcher),
            exchange: fetcher,
            standings: fetcher.standings,
            permission: transfer.permission
        )
        try self.init(configuration: configuration, peers: peers, clock: { MachineClock.now }, events: events)
        self.tokenFault = tokenFault
    }

    /// Makes an agent with ways and a clock of its own, for tests.
    package init(
        configuration: SyncConfiguration,
        peers: Peers,
        clock: @escaping @Sendable () -> UnixTime,
        events: @escaping @Sendable (SyncEvent) -> Void = { _ in }
    ) throws(SyncError) {
        try configuration.check()
        self.configuration = configuration
        self.peers = peers
        self.clock = clock
        self.events = events
    }

    /// Brings the device to the newest usable version of each model.
    ///
    /// What concerns one model alone is in the report (``ModelDecision/failure``),
    /// and the others move on; what stops all of them is thrown. Either way
    /// every model that did not move keeps the version it had, except one whose
    /// version was recalled or denied: that is left at once.
    ///
    /// - Parameter mode: `.dryRun` takes every decision and changes nothing.
    /// - Returns: What was decided and done.
    /// - Throws: `SyncError`; what was active stays active.
    public func sync(_ mode: SyncMode = .activate) async throws(SyncError) -> SyncReport {
        try await sync(mode) { _ in }
    }

    /// The same, telling somebody else too.
    func sync(
        _ mode: SyncMode,
        telling listener: @escaping @Sendable (SyncEvent) -> Void
    ) async throws(SyncError) -> SyncReport {
        let times = PhaseTimes()
        let run = SyncRun(
            configuration: configuration,
            mode: mode,
            peers: peers,
            time: clock,
            events: { [events] event in
                if case .phase(let phase) = event { times.begin(phase) }
                events(event)
                listener(event)
            }
        )
        guard mode == .activate else { return try await run.run() }
        let receipts = Receipts(configuration: configuration, exchange: peers.exchange)
        do throws(SyncError) {
            var report = try await run.run()
            report.warnings += await receipts.settle(report, nil, times.milliseconds, at: run.clock)
            return report
        } catch {
            _ = await receipts.settle(nil, error, times.milliseconds, at: run.clock)
            guard let tokenFault, error.kind != .misbehaviour else { throw error }
            throw SyncError(
                code: tokenFault.errorCode,
                "\(tokenFault.message); and without it: \(error.message)"
            )
        }
    }
}

/// Whether a sync may change the device.
public enum SyncMode: Sendable {
    case activate, dryRun
}

extension SyncConfiguration {
    fileprivate func transfer() -> TransferConfiguration {
        var transfer = TransferConfiguration()
        transfer.retry.attempts = max(1, retries)
        transfer.stallSeconds = Double(max(1, stallSeconds))
        transfer.rateCap = rate.map { RateCap(bytesPerSecond: ByteCount(rawValue: $0.bytesPerSecond)) }
        transfer.certificateAuthority = caFile
        transfer.allowsPlainLoopback = allowsPlainLoopback
        return transfer
    }

    fileprivate func credential() throws(SyncError) -> Credential? {
        guard let tokenFile, let origin = registries.first else { return nil }
        do throws(DurableError) {
            let limit = ByteCount(rawValue: 4_096)
            let bytes = try Durable.readFile(tokenFile, maximum: limit, privacy: .ownerOnly)
            let token = String(decoding: bytes.prefix { $0 > 0x20 }, as: UTF8.self)
            return Credential(origin: origin, token: token)
        } catch {
            throw SyncError(error.isAbsent ? .usage : .refused, "the token file: \(error)")
        }
    }
}
